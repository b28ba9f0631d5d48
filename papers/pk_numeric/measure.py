"""The error of each mechanism at equal k, on two numeric columns of Adult."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import sudare as sd
from papers.optimal_pram.measure import plain_em
from sudare.noise.keystream import Keystream
from sudare.randomization.bins import BINS
from sudare.randomization.draw import input_codes
from sudare.randomization.estimate import most_likely
from sudare.randomization.laws import How, Law
from sudare.randomization.learn import learn_plan
from sudare.randomization.published import CodedAttribute, PublishedLaw

Floats = NDArray[np.float64]
RECORDS = 32_561  # in adult.data
ROUNDS = 1000  # of plain EM


class Numeric(NamedTuple):
    """A column, and bounds that are known without looking at it (from adult.names and the survey's coding)."""

    name: str
    low: int
    high: int


COLUMNS = (Numeric("age", 17, 90), Numeric("hours-per-week", 1, 99))
MECHANISMS: dict[str, How] = {
    "retain-replace, every value": "retain",
    "retain-replace, ten bins": "bins",
    "bits": "bits",
    "Laplace noise": "noise",
}
CONVENTIONAL, TEN, BITS, NOISE = MECHANISMS


@cache
def column(numeric: Numeric) -> NDArray[np.int64]:
    """Return the original numbers."""
    return sd.datasets.load("adult")[numeric.name].head(RECORDS).to_numpy().astype(np.int64)


@cache
def _table(numeric: Numeric, how: How) -> sd.Table:
    frame = sd.datasets.load("adult").select(numeric.name).head(RECORDS)
    values = list(range(numeric.low, numeric.high + 1))
    schema = (
        sd.Schema.from_roles(quasi=[numeric.name], domains={numeric.name: values}, missing="refuse")
        if how == "retain"
        else sd.Schema.from_roles(
            quasi=[numeric.name], bounds={numeric.name: (numeric.low, numeric.high)}, missing="refuse"
        )
    )
    return sd.read(frame, schema)


@dataclass(frozen=True)
class Row:
    """A mechanism at a k: errors, one per seed."""

    column: str
    mechanism: str
    k: float
    pk: float
    """What its law has."""
    kept: Floats
    """The share of records that did not change."""
    moved: Floats
    """How far a record moved on average; a bin counts as its middle."""
    raw: Floats
    """The share of records that the published histogram of ten bins puts into a wrong one."""
    ml: Floats
    unbiased: Floats
    fine: Floats
    """As ml, for the histogram of single values; not known from bins."""
    raw_mean: Floats
    """By how much the mean is off."""
    ml_mean: Floats
    stuck: Floats
    """1 where the library's estimate is less likely than that of plain EM, by more than a factor of e."""


def row(numeric: Numeric, mechanism: str, k: float, seeds: int) -> Row:
    """Randomize a column so many times, and compare with the truth."""
    how = MECHANISMS[mechanism]
    table = _table(numeric, how)
    plan = learn_plan(table, sd.PkAnonymity(k), Keystream.unsafe(0), how={numeric.name: how})
    rows = {numeric.name: table.rows.column(numeric.name).codes}
    law, original = plan[numeric.name], input_codes(plan, plan.places(table), rows)[numeric.name]
    errors = [_errors(numeric, law, original, Keystream.unsafe(seed)) for seed in range(seeds)]
    return Row(numeric.name, mechanism, k, plan.k, *np.array(errors).T)


def _errors(numeric: Numeric, law: Law, original: NDArray[Any], source: Keystream) -> list[float]:
    true, values = column(numeric), _values(numeric, law)
    codes = law.sample(original, source)
    published = np.bincount(codes, minlength=law.channel.outputs).astype(np.float64)
    ml, stuck = likeliest(_published(law), published)
    unbiased = law.channel.inverse(published)
    fine = len(values) > BINS
    v = np.bincount(true - numeric.low, minlength=numeric.high - numeric.low + 1).astype(np.float64)
    place = bins(numeric) if fine else np.arange(BINS)
    v_ten = _ten(v, bins(numeric))
    return [
        float((codes == original).mean()),
        float(np.abs(values[codes] - true).mean()),
        *(misplaced(_ten(counts, place), v_ten) for counts in (published, ml, unbiased)),
        misplaced(ml, v) if fine else np.nan,
        abs(float(published @ values) / RECORDS - float(true.mean())),
        abs(float(ml @ values) / RECORDS - float(true.mean())),
        float(stuck),
    ]


def likeliest(law: PublishedLaw, published: Floats) -> tuple[Floats, bool]:
    """Return the library's most likely counts or, where it got stuck before the maximum, those of plain EM."""
    ours, plain = most_likely([law], published), plain_em(law.channel, published, ROUNDS)

    def likelihood(v: Floats) -> float:
        seen = published > 0
        return float(published[seen] @ np.log(law.channel.expected(v)[seen]))

    stuck = likelihood(plain) > likelihood(ours) + 1
    return (plain if stuck else ours), stuck


def _published(law: Law) -> PublishedLaw:
    attribute = CodedAttribute(law.name, list(range(law.channel.inputs)), numeric=True)
    return PublishedLaw((attribute,), law.channel)


def _values(numeric: Numeric, law: Law) -> Floats:
    """Return the number that each code stands for; a bin stands for its middle."""
    if law.how != "bins":
        return np.arange(numeric.low, numeric.high + 1, dtype=np.float64)
    edges = numeric.low + np.rint(np.linspace(0, numeric.high - numeric.low, BINS + 1))
    return np.asarray((edges[1:] + edges[:-1]) / 2)


def bins(numeric: Numeric) -> NDArray[np.int64]:
    """Return in which of ten bins of equal width each whole number lies."""
    edges = numeric.low + np.rint(np.linspace(0, numeric.high - numeric.low, BINS + 1))
    values = np.arange(numeric.low, numeric.high + 1)
    return np.clip(np.searchsorted(edges, values, side="right") - 1, 0, BINS - 1)


def _ten(counts: Floats, place: NDArray[np.int64]) -> Floats:
    return np.bincount(place, weights=counts, minlength=BINS)


def misplaced(counts: Floats, true: Floats) -> float:
    """Return the share of records that are counted in a wrong cell (total variation)."""
    return float(np.abs(counts - true).sum() / 2 / true.sum())
