"""The verb `assess`: can this table be published under that requirement, at what least cost, and whose fault is it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sudare.errors import InputError, ParameterError
from sudare.generalization.problem import with_hierarchies
from sudare.privacy.k_anonymity import KAnonymity
from sudare.privacy.l_diversity import KINDS, LDiversity
from sudare.privacy.requirement import one_of, sensitive_attribute
from sudare.privacy.uniqueness import nearly_unique_values
from sudare.similarity.pairs import Device, accelerator
from sudare.suitability.bounds import Bound
from sudare.suitability.choices import Advice, advise, dearest, sentences
from sudare.suitability.facts import Facts
from sudare.tables.attribute import Role
from sudare.tables.given import flag_given
from sudare.tables.notebook import Listing, Shown, written
from sudare.tables.policy import Diversity
from sudare.tables.table import Table, table_given
from sudare.tables.text import text_of
from sudare.tables.typed import typed

MAX_RECORDS_SHOWN = 10  # those that cost most


@typed
@dataclass(frozen=True, eq=False, repr=False)
class Assessment(Shown):
    """What can be promised of a table, and what it costs at least. Every dict is by l or by k.

    The lower bounds are of DIS, the distortion: 0 leaves everything as it is, 1 suppresses everything.
    """

    source: str
    records: int
    attribute: str
    diversity: Diversity
    requirements: dict[float, str]
    """What is asked for, in words."""
    bound_l: dict[float, float | None]
    """The paper's first indicator for l-diversity; None where there are fewer values than it needs."""
    bound_k: dict[int, float | None]
    """The same for k-anonymity; None where there are fewer than k records."""
    best_l: dict[float, Bound]
    """The best bound, and the argument it rests on, where l-diversity is feasible."""
    best_k: dict[int, Bound]
    max_blocks: dict[float, int]
    """MaxNB: at most so many blocks have the values each that it needs. This and the next two are of the records that
    are not harmless, and under proximity of groups of close values instead of values."""
    min_block_distinct: dict[float, int | None]
    """BS_s: under distinct l-diversity some block has at least so many records."""
    min_block_entropy: dict[float, int | None]
    """BS_e: the same under entropy l-diversity; None where that is not feasible."""
    feasible: dict[float, bool]
    reached_k: dict[float, float | None]
    """The distortion that k-anonymization of the records that are not harmless reaches with k = BS_e (under distinct and
    recursive diversity, BS_s)."""
    ratio: dict[float, float | None]
    """bound_l / reached_k: above 2, l-diversity costs far more than blocks of that size would: low suitability.
    None where l-diversity is not feasible or costs nothing; infinite where only blocks of that size cost nothing."""
    choices: dict[float, list[Advice]]
    """What the holder can do about each l, the recommended advice first."""
    values: dict[str, int]
    """How many records have each sensitive value, the most frequent first."""
    without: dict[str, float]
    """The bound for the largest feasible l if an attribute were not quasi, as the mean over the others."""
    costs: NDArray[np.float64]
    """What a record costs at least, for the largest feasible l, by distinct tuple of values."""
    weights: NDArray[np.int64]
    """How many records have each tuple."""
    worst: pl.DataFrame = field(repr=False)
    """The records that cost most, with their quasi values."""
    warnings: list[str] = field(default_factory=list)
    """What speaks against the question itself, such as sensitive values that are nearly all different."""

    @property
    def advice(self) -> list[str]:
        """Plain sentences, with the numbers that they rest on and the words that `publish` accepts."""
        return [text for offered in self.choices.values() for text in sentences(offered)]

    @property
    def largest(self) -> float | None:
        """The largest l that was asked for and is feasible."""
        return max((l for l, feasible in self.feasible.items() if feasible), default=None)

    def to_json(self) -> dict[str, Any]:
        """Return plain data, without the rows."""
        keys = (
            "source", "records", "attribute", "diversity", "requirements", "bound_l", "bound_k", "max_blocks",
            "min_block_distinct", "min_block_entropy", "feasible", "reached_k", "ratio", "values", "without", "warnings",
        )  # fmt: skip
        best = {
            name: {key: {"value": bound.value, "by": bound.by} for key, bound in bounds.items()}
            for name, bounds in (("best_l", self.best_l), ("best_k", self.best_k))
        }
        ratio = {l: None if ratio == math.inf else ratio for l, ratio in self.ratio.items()}
        return {key: getattr(self, key) for key in keys} | best | {"ratio": ratio, "advice": self.advice}

    def __str__(self) -> str:
        return "\n".join(self.advice)

    def _line(self) -> str:
        costs = [
            f"{self.requirements[l]} costs at least {written(bound.value)}"
            for l, bound in self.best_l.items()
        ]
        return f"{self.source}: {self.records:,} records; {'; '.join(costs) or 'nothing of it can be had'}"

    def _listings(self) -> Iterable[Listing]:
        """Return the figures; advice names values, and waits until it is asked for."""
        rows = []
        for l, asked in self.requirements.items():
            least, ratio = self.best_l.get(l), self.ratio[l]
            costs = ("cannot be had", "") if least is None else (least.value, least.by)
            rows.append((asked, *costs, self.max_blocks[l], "" if ratio is None else ratio))
        head = ("requirement", "least cost", "by", "blocks at most", "ratio")
        yield Listing(f"'{self.attribute}' has {len(self.values):,} different values", head, rows)
        by_k = [(f"{k}-anonymity", bound.value, bound.by) for k, bound in self.best_k.items()]
        yield Listing("print(...) says what to do", ("requirement", "least cost", "by"), by_k)


def assess(
    table: Table,
    l: float | Sequence[float] = (2, 4, 8),
    k: int | Sequence[int] = (2, 5, 10),
    *,
    diversity: Diversity = "distinct",
    c: float | None = None,
    harmless: Sequence[Any] = (),
    within: float | None = None,
    relative: bool = False,
    attribute: str | None = None,
    tight: bool = False,
    device: Device = "cpu",
) -> Assessment:
    """Say whether a table suits l-diversification, at what least cost, and what drives the cost.

    `diversity` is "distinct", or "entropy", which the suitability paper asks for; or "recursive" with its `c`; or
    "proximity" with its width, `within` and `relative`. `harmless` are values that may be known (see LDiversity). `tight` also tries bounds that take up to a minute on a table like Adult. `device="gpu"` compares all pairs of
    records on an NVIDIA GPU.

    >>> import sudare as sd
    >>> table = sd.read(sd.datasets.health_survey(300).select("age", "sex", "diagnosis"), sd.Schema.from_roles(
    ...     quasi=["age", "sex"], sensitive=["diagnosis"],
    ...     hierarchies={"age": sd.Hierarchy.intervals(range(18, 96), width=10)}))
    >>> assessment = sd.assess(table, l=2, k=5)
    >>> assessment.feasible[2], assessment.bound_l[2] <= sd.generalize(table, sd.LDiversity(2)).certificate.utility["distortion"]
    (True, True)
    """
    one_of(diversity, "diversity", "assess", KINDS)
    one_of(device, "device", "assess", ("cpu", "gpu"))
    if device == "gpu":
        accelerator()  # refused at once where there is none
    table_given(table, "assess")
    flag_given(tight, "tight", "assess")
    ls = [int(value) if isinstance(value, float) and value.is_integer() else value for value in _several(l)]
    ks = _several(k)
    asked = [
        LDiversity(value, diversity, c, attribute, harmless=harmless, within=within, relative=relative)
        for value in ls
    ]  # refuses wrong values
    for value in ks:
        KAnonymity(value)
    by_l = {one.l: one for one in sorted(asked, key=lambda one: one.l)}
    if not by_l:
        raise ParameterError("assess needs at least one l, such as l=[2, 4].")
    if not table.names(Role.quasi):
        raise InputError(
            f"{table.source.name}: the schema has no quasi attribute; there is nothing to generalize."
        )
    sensitive = sensitive_attribute(asked, table) or ""
    by_value = table.counts([*table.names(Role.quasi), sensitive])
    facts = Facts(with_hierarchies(table), by_value, device, tight)
    asked[0].refuse_unknown(facts.whole)
    return _assessment(facts, by_l, sorted(set(ks)), diversity)


def _several(given: Any) -> list[Any]:
    """Return one or several numbers as a list of Python's own."""
    several = given if isinstance(given, Sequence | np.ndarray) and not isinstance(given, str) else [given]
    return [value.item() if isinstance(value, np.generic) else value for value in several]


def _assessment(
    facts: Facts, asked: Mapping[float, LDiversity], ks: list[int], diversity: Diversity
) -> Assessment:
    possible = [l for l, one in asked.items() if facts.has_values(one)]
    enough = [k for k in ks if k <= facts.records]
    feasible = {l: facts.feasible(one) for l, one in asked.items()}
    nearest = dict(zip(possible, facts.nearest_l([asked[l] for l in possible]), strict=True))
    may = [l for l in asked if feasible[l]]
    largest = max(may, default=None)
    costs = nearest[largest].of_unit if largest is not None else np.zeros(len(facts.by_value))
    return Assessment(
        source=facts.table.source.name,
        records=facts.records,
        attribute=facts.attribute,
        diversity=diversity,
        requirements={l: str(replace(one, attribute=None)) for l, one in asked.items()},
        bound_l={l: nearest[l].value if l in nearest else None for l in asked},
        bound_k=dict.fromkeys(ks)
        | {k: bound.value for k, bound in zip(enough, facts.nearest_k(enough), strict=True)},
        best_l=dict(zip(may, facts.best_l([asked[l] for l in may]), strict=True)),
        best_k=dict(zip(enough, facts.best_k(enough), strict=True)),
        max_blocks={l: facts.max_blocks(one) for l, one in asked.items()},
        min_block_distinct={l: facts.min_block_distinct(one) for l, one in asked.items()},
        min_block_entropy={l: facts.min_block_entropy(one) for l, one in asked.items()},
        feasible=feasible,
        reached_k={l: facts.reached_for(one) for l, one in asked.items()},
        ratio={l: facts.ratio(one) if feasible[l] else None for l, one in asked.items()},
        choices={l: advise(facts, one) for l, one in asked.items()},
        values=_values(facts),
        without={} if largest is None else facts.without_attributes(asked[largest]),
        costs=costs,
        weights=facts.by_value.weights,
        worst=_worst(facts, costs),
        warnings=nearly_unique_values(facts.whole, list(asked.values())),
    )


def _values(facts: Facts) -> dict[str, int]:
    column = facts.table[facts.attribute]
    names = [text_of(value) for value in column.values.to_list()]
    names.append("(missing)" if "(missing)" not in names else "(missing value)")
    order = np.argsort(-facts.counts, kind="stable")
    return {names[code]: int(facts.counts[code]) for code in order if facts.counts[code]}


def _worst(facts: Facts, costs: NDArray[np.float64]) -> pl.DataFrame:
    records = dearest(costs, facts.by_value.weights, MAX_RECORDS_SHOWN)
    order = np.argsort(-costs, kind="stable")
    units = np.repeat(order, records[order])
    columns = [facts.table[name].decode(facts.by_value.column(name)[units]) for name in facts.quasi]
    title = "costs at least" if "costs at least" not in facts.quasi else "costs at least (bound)"
    return pl.DataFrame([*columns, pl.Series(title, costs[units])])
