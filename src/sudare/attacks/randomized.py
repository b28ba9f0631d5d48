"""The attack on a randomized table: what an outsider reaches at most, by the law that its values were drawn by.

A row of such a table is not anybody's record, so that looking people up in it, as the other attacks do, reads noise as
truth. What it tells about a person is a property of the law, which is published with it; all numbers here come from that.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sudare.attacks.published import Output, rows_of
from sudare.errors import InputError, ParameterError
from sudare.plans.law import LawForm, TableLaw
from sudare.plans.law_files import law_in
from sudare.plans.polytopes import corners, width
from sudare.tables.file_rows import FileRows
from sudare.tables.folders import CERTIFICATE, LAW, handed_over
from sudare.tables.notebook import ShownFigures
from sudare.tables.text_files import read_json

Floats = NDArray[np.float64]

MAX_LISTED = 2**12  # values of flipped bits that are looked at one by one


@dataclass(frozen=True)
class Sureness:
    """What a published value tells about the original one at most, where all were equally likely beforehand."""

    values: int
    before: float
    """The probability of any value beforehand."""
    after: float
    """The probability of the likeliest original value, given the most telling published one: 1/l of Pl-diversity."""

    @property
    def pl(self) -> float:
        """The l of Pl-diversity: nobody who knows all the rest believes a value with more than 1/l."""
        return 1 / self.after


@dataclass(frozen=True, repr=False)
class ByLaw(ShownFigures):
    """What an outsider reaches at most, whatever they know."""

    records: int
    k: float
    """Who knows the whole original finds a person's row with a probability of 1/k at most."""
    epsilon: float
    """No guess about a person's values becomes more than e^epsilon times likelier, or less likely."""
    by_attribute: dict[str, Sureness]
    """What one row tells."""
    rows: int = 1
    """Up to so many rows are of one person or household; k and epsilon are of all of them together."""

    def summary(self) -> dict[str, Any]:
        """Return the numbers as plain data."""
        return asdict(self)

    def __str__(self) -> str:
        lines = ["Every published value was drawn by a law, and no row is a record as it was."]
        if self.rows > 1:
            lines.append(
                f"Up to {self.rows:,} rows are of one person or household: the next two lines speak of all of them together, those of "
                "single attributes of one row."
            )
        lines += [
            f"Who knows the whole original finds a person's row with probability {1 / self.k:.2%} at most.",
            f"A guess about a person's values becomes at most {_times(self.epsilon)} times likelier, or less likely "
            f"(epsilon = {self.epsilon:.4g}).",
        ]
        for name, sure in self.by_attribute.items():
            lines.append(
                f"{name}: of {sure.values:,} equally likely values, the most telling published one makes one "
                f"{sure.after:.1%} sure, instead of {sure.before:.1%} (Pl-diversity with l = {sure.pl:.3g})."
            )
        return "\n".join(lines)


def _times(epsilon: float) -> str:
    times = math.exp(min(epsilon, 700))
    if 1_000 <= times < 1e9:
        return f"{times:,.0f}"
    return f"{times:,.3g}" if epsilon < 700 else "infinitely many"


def by_law(output: Output, *, law: Mapping[str, Any] | None = None) -> ByLaw:
    """Find out what the law of a randomized table leaves to outsiders; it lies beside the output, or is given.

    >>> import polars as pl, sudare as sd
    >>> schema = sd.Schema.from_roles(sensitive=["ill"], domains={"ill": ["yes", "no"]}, missing="refuse")
    >>> table = sd.read(pl.DataFrame({"ill": ["yes", "no", "no"]}), schema)
    >>> release = sd.randomize(table, sd.DifferentialPrivacy(1.0, per="record"))
    >>> attacked = by_law(release.frame(), law=release.plan.to_json())
    >>> round(attacked.k, 3), round(attacked.epsilon, 4), round(attacked.by_attribute["ill"].after, 3)
    (1.271, 1.0, 0.731)
    """
    table = table_law(output, law)
    tells = {name: _tells(own) for name, own in table.attributes.items()}
    estimates = math.fsum(table.estimates.values())
    records = rows_of(output).height
    return ByLaw(
        records=records,
        k=max(1.0, (1 + (records - 1) * math.exp(-spread_of(table))) / table.rows),
        epsilon=(math.fsum(one.epsilon for one in tells.values()) + estimates) * table.rows,
        by_attribute={
            name: Sureness(one.size, 1 / one.size, max(one.after, 1 / one.size))
            for name, one in tells.items()
        },
        rows=table.rows,
    )


def spread_of(table: TableLaw) -> float:
    """Return how far the laws of a table tell two records apart, there and back; an estimate of epsilon e adds 2 e."""
    laws = math.fsum(_tells(own).spread for own in table.attributes.values())
    return laws + 2 * math.fsum(table.estimates.values())


# -- Is it randomized? -----------------------------------------------------------------------------------


def table_law(output: Output, law: Mapping[str, Any] | None) -> TableLaw:
    """Return the law of a randomized table: the one that is given, or else the one that lies beside it.

    It must speak of every column. What it says nothing about was not drawn by any law.
    """
    table = TableLaw.of(law) if law is not None else law_of(output)
    if table is None:
        raise InputError(
            "The law of a randomized table is missing. Name the release's folder, or give law=..."
        )
    columns, published = table.columns(), rows_of(output).columns
    if absent := [name for name in columns if name not in published]:
        raise InputError(f"A law is published for the column '{absent[0]}', which the output does not have.")
    if extra := [name for name in published if name not in columns]:
        raise InputError(f"The output has the column '{extra[0]}', for which no law is published.")
    return table


def law_of(output: Any) -> TableLaw | None:
    """Return the law beside a published file or in a folder; None where the output is not randomized."""
    if isinstance(output, FileRows):
        output = output.paths[0]
    if not isinstance(output, str | Path):
        return None
    path = handed_over(output)
    folder = path if path.is_dir() else path.parent
    if (folder / LAW).exists():
        return law_in(folder)
    if (folder / CERTIFICATE).exists() and _method(folder / CERTIFICATE) == "randomize":
        raise InputError(
            f"{folder}: this table is randomized, but its {LAW} is missing. Ask for the whole folder."
        )
    return None


def refuse_noise_as_truth(output: Any, kind: str) -> None:
    """Refuse to attack a randomized table as if its rows were people's records."""
    if law_of(output) is not None:
        raise ParameterError(
            f"{output} is randomized: its rows are drawn by a law, and the {kind} attack would take noise for truth. What "
            'an outsider can reach is told by kind="law", and who knows the original is played against by kind="pk_game".'
        )


def _method(certificate: Path) -> object:
    told = read_json(certificate, "the certificate")
    return told.get("method") if isinstance(told, dict) else None


# -- What one law tells ------------------------------------------------------------------------------------


class _Tells(NamedTuple):
    """The largest log ratio of probabilities of one output; the largest sum of two, there and back; the surest guess."""

    size: int
    epsilon: float
    spread: float
    after: float


def _tells(law: LawForm) -> _Tells:
    """Look at all outputs of a law."""
    if law.axes is not None:
        return _area(law)
    if law.scale is not None:
        return _noise(law.size, Fraction(law.scale))
    if law.flips is not None:
        return _flips(law.size, law.flips)
    if law.retention is not None:
        return _retention(np.array(law.retention))
    if law.weights is not None:
        return _weights(np.array(law.weights), law.ratio or 1.0)
    return _matrix(np.array(law.matrix))


def _noise(size: int, scale: Fraction) -> _Tells:
    """Noise on a grid: every step away from the published value is e^(-1/scale) times as likely.

    The ends tell most: they leave values on one side only, and what fell beyond them is put there, or folded inside.
    """
    width = float((size - 1) / scale)
    after = math.expm1(-float(1 / scale)) / math.expm1(-float(size / scale))
    return _Tells(size, width, 2 * width, after)


def _area(law: LawForm) -> _Tells:
    """Noise along several axes, on points of an area: the farthest two of them are told apart best.

    Of all points of the area, as many as its part of the box has, no one becomes more than e^width times likelier.
    """
    from scipy.spatial import ConvexHull, QhullError  # it takes long to load

    axes = list((law.axes or {}).values())
    found = corners(law.faces or (), law.area_axes())
    if not found:
        raise InputError("A law is over an area in which there is no point.")
    widest = float(width(found, [Fraction(axis.scale) for axis in axes]))
    try:
        points = ConvexHull(np.array(found, dtype=np.float64)).volume
    except QhullError:  # it is flat
        points = 1.0
    size = max(1, round(points))
    return _Tells(size, widest, 2 * widest, min(1.0, math.exp(min(widest, 700.0)) / size))


def _flips(size: int, flip: float) -> _Tells:
    """Bits that are flipped one by one; what comes out beyond the grid is put at its end.

    Of very many values, the surest guess is bounded: with 2^m of them on the grid, an output has m bits that say nothing of
    each other. If there are more values, those beyond 2^m may be surer, but have all these against them.
    """
    bits = max(1, (size - 1).bit_length())
    epsilon = bits * abs(math.log((1 - flip) / flip))
    if size > MAX_LISTED:
        odds, full = min(flip, 1 - flip) / max(flip, 1 - flip), size.bit_length() - 1
        others = (1 + odds) ** full
        after = 1 / others if size == 2**full else max(1 / others, 1 / (1 + odds * others))
        return _Tells(size, epsilon, 2 * epsilon, after)
    values, end, after = np.arange(size), np.zeros(size), 0.0
    for output in range(2**bits):
        likely = (flip / (1 - flip)) ** np.bitwise_count(values ^ output)
        if output >= size - 1:
            end += likely
        else:
            after = max(after, float(likely.max() / likely.sum()))
    return _Tells(size, epsilon, 2 * epsilon, max(after, float(end.max() / end.sum())))


def _retention(keep: Floats) -> _Tells:
    """Value u is kept with keep[u], and else becomes any other with o[u] each.

    With r = log(keep / o), the outputs u, v and any other have the log ratios log(o[u] / o[v]) plus r[u], -r[v] and 0 for
    the inputs u and v; so the spread is the range of these three (of the first two, if there are no others).
    """
    d = len(keep)
    if d == 1:
        return _Tells(1, 0.0, 0.0, 1.0)
    o = (1 - keep) / (d - 1)
    order = np.argsort(o)
    least, most = (
        np.where(np.arange(d) == order[i], o[order[j]], o[order[i]]) for i, j in ((0, 1), (-1, -2))
    )
    high, low = np.maximum(keep, most), np.minimum(keep, least)  # of every output, over all inputs
    after = float((high / (keep + o.sum() - o)).max())
    if (low == 0).any():
        return _Tells(d, math.inf, math.inf, after)
    r = np.sort(np.log(keep / o))
    twice = max(r[-1] + r[-2], -(r[0] + r[1]))
    spread = twice if d == 2 else max(twice, abs(r).max())
    return _Tells(d, float(np.log(high / low).max()), float(spread), after)


def _weights(weights: Floats, ratio: float) -> _Tells:
    """Output i has the probability m_i / c_u for the value u, and x times that for its own.

    The values u and v are told apart by their own outputs, as far as there are such.
    """
    d, alive = len(weights), weights > 0
    likely = 1 / (weights.sum() + (ratio - 1) * weights)
    if alive.sum() < 2:  # one output, whatever goes in
        return _Tells(d, 0.0, 0.0, 1 / d)
    order = np.argsort(likely)
    least, most = (
        np.where(np.arange(d) == order[i], likely[order[j]], likely[order[i]]) for i, j in ((0, 1), (-1, -2))
    )
    high, low = np.maximum(ratio * likely, most), np.minimum(ratio * likely, least)
    after = high / (likely.sum() + (ratio - 1) * likely)
    return _Tells(d, float(np.log(high / low)[alive].max()), 2 * math.log(ratio), float(after[alive].max()))


def _matrix(matrix: Floats) -> _Tells:
    after = float((matrix.max(axis=1) / np.maximum(matrix.sum(axis=1), np.finfo(np.float64).tiny)).max())
    if len(matrix) == 1:
        return _Tells(1, 0.0, 0.0, 1.0)
    possible = matrix[matrix.sum(axis=1) > 0]
    if (possible == 0).any():
        return _Tells(len(matrix), math.inf, math.inf, after)
    logs = np.log(possible)
    spread = max(float(np.ptp(logs[:, [u]] - logs, axis=0).max()) for u in range(len(matrix)))
    return _Tells(len(matrix), float(np.ptp(logs, axis=1).max()), spread, after)
