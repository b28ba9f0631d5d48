"""The household attack: looking a household up with all its members, among rows that belong together.

Rows say that they belong together by the number of their household, where it is published, or by what all members share: the income
of a household, its kind of dwelling. A group of such rows may be a household if its members can be given rows of their own whose
labels cover their values. Where one group is left, all rows of the household are found at once, though every block has k rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sudare.attacks import _kernels
from sudare.attacks._kernels import Groups, Known
from sudare.attacks.lookup import Lookup
from sudare.attacks.published import Output, Published, people_of, rows_of
from sudare.errors import InputError, ParameterError
from sudare.privacy.requirement import whole_number
from sudare.tables.attribute import Attribute, Role
from sudare.tables.exact import texts
from sudare.tables.schema import Schema
from sudare.tables.table import Table
from sudare.tables.text import listed

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Tied:
    """What is found where rows with the same values of some columns are taken to belong together."""

    groups: int
    """How many groups of rows there are."""
    candidates: dict[int, int]
    """How many known households have how many groups that may be theirs. Which have none are not in the output."""
    least: int
    """The fewest groups that may be anybody's who has any; 0 where nobody has."""
    below: int
    """Households with fewer than k of them, but some."""
    alone: int
    """Households that are found: one group may be theirs, and it has no other rows."""
    share: float
    """Their share of all known households."""
    named: float
    """The share of households that are expected to be guessed rightly, by one of their groups each."""

    def summary(self) -> dict[str, Any]:
        """Return the numbers as plain data."""
        return asdict(self) | {
            "candidates": {str(groups): households for groups, households in self.candidates.items()}
        }


@dataclass(frozen=True)
class Households:
    """What a household attack finds, by the columns that tie rows together."""

    known: int
    """How many households were looked up."""
    k: int
    linked: bool
    """Whether the output says itself which rows belong together."""
    by_ties: dict[tuple[str, ...], Tied]

    @property
    def worst(self) -> Tied | None:
        """The way that finds most households; None where nothing ties rows together."""
        return max(self.by_ties.values(), key=lambda tied: (tied.alone, tied.below), default=None)

    @property
    def alone(self) -> int:
        """How many households are found in the worst way."""
        return 0 if self.worst is None else self.worst.alone

    def summary(self) -> dict[str, Any]:
        """Return the numbers as plain data; nobody is named."""
        by_ties = {", ".join(ties): tied.summary() for ties, tied in self.by_ties.items()}
        return {"known": self.known, "k": self.k, "linked": self.linked, "by_ties": by_ties}

    def __str__(self) -> str:
        head = f"Households looked up with all their members: {self.known:,}."
        if not self.by_ties:
            return f"{head} No column is published that could tie rows of a household together."
        return "\n".join([head, *(self._sentence(ties, tied) for ties, tied in self.by_ties.items())])

    def _sentence(self, ties: tuple[str, ...], tied: Tied) -> str:
        found = f"{tied.alone:,} of them ({tied.share:.1%}) are found" if tied.alone else "none of them is found"
        text = f"By {listed(ties)}, in {tied.groups:,} groups of rows: {found}."
        if self.linked:
            text += f" {tied.below:,} have fewer than {self.k:,} groups that may be theirs, at least {tied.least:,}."
        if nowhere := tied.candidates.get(0):
            text += f" {nowhere:,} are nowhere."
        return f"{text} Who tries to name every one names {tied.named:.2%} rightly."


def households(
    output: Output,
    schema: Schema,
    *,
    known: Any,
    unit: str | None = None,
    ties: Sequence[str] | None = None,
    k: int = 2,
) -> Households:
    """Look households up with all their members; `known` are these people, with their quasi values and their household.

    Their column `unit` says who belongs together: of the schema's household or person, if it is not given. `ties` are columns of
    the output that say so there. Without them these are the number that a linked release has, or else every other column
    that is passed on by itself, and all of those together that the known people do not contradict. Known people who have these
    columns too are found only where the values are theirs. At most `k` - 1 groups that may be a household's are too few.

    >>> import sudare as sd
    >>> out = pl.DataFrame({"hid": [1, 1, 2, 2, 3], "age": ["[30, 39]", "[0, 9]", "[30, 39]", "[30, 39]", "*"]})
    >>> people = pl.DataFrame({"hid": [7, 7, 8, 8, 9], "age": [31, 4, 38, 35, 8]})
    >>> schema = sd.Schema.from_roles(household="hid", quasi=["age"], linked={"hid": True})
    >>> found = households(out, schema, known=people).worst
    >>> found.candidates, found.alone
    ({1: 3}, 3)
    """
    whole_number(k, "k", "the households attack", 1)
    unit = schema.unit if unit is None else unit
    if unit is None:
        raise ParameterError(
            "The households attack needs to know who belongs together: a household or person in the schema, or the option "
            "'unit', a column of the known people."
        )
    columns = rows_of(output).columns
    people = people_of(known, _with_unit(schema, unit))
    people[unit]  # refused if there is none
    linked = ties is None and unit in columns
    ways = [(unit,)] if linked else _ways(columns, schema, people, unit) if ties is None else [tuple(ties)]
    if absent := [name for way in ways for name in way if name not in columns]:
        raise InputError(f"The output has no column '{absent[0]}' that could tie rows together.")
    by_ties = {way: _tied(output, schema, people, unit, way, linked=linked, k=k) for way in ways}
    return Households(len(np.unique(people.counts([unit]).codes)), k, linked, by_ties)


def _with_unit(schema: Schema, unit: str) -> Schema:
    """Let known people have their household, though no release has it."""
    household = {unit: Attribute(role=Role.household)}
    return schema.model_copy(update={"attributes": household | schema.attributes})


def _ways(columns: Sequence[str], schema: Schema, people: Table, unit: str) -> list[tuple[str, ...]]:
    """Return the columns that an outsider takes to be shared by a household: each alone, and all that may be."""
    passed_on = [name for name in columns if name in schema and name not in schema.names(Role.quasi)]
    shared = tuple(name for name in passed_on if name not in people.columns or _is_shared(people, unit, name))
    return list(dict.fromkeys([*((name,) for name in passed_on), *([shared] if shared else [])]))


def _is_shared(people: Table, unit: str, name: str) -> bool:
    """Say whether most households of several people have one value."""
    pairs = people.counts([unit, name])
    _, values = np.unique(pairs.column(unit), return_counts=True)
    several = people.counts([unit]).weights > 1
    return bool((values[several] == 1).mean() > 0.5) if several.any() else True


def _tied(
    output: Output,
    schema: Schema,
    people: Table,
    unit: str,
    ties: tuple[str, ...],
    *,
    linked: bool,
    k: int,
) -> Tied:
    quasi = schema.names(Role.quasi)
    published = Published.open(output, Schema.from_roles(quasi=quasi, sensitive=ties))
    groups = _Grouped.of(published)
    counts = people.counts([unit, *quasi])
    codes = counts.column(unit)
    starts = np.append(np.flatnonzero(np.diff(codes, prepend=-1)), len(codes)).astype(np.int64)
    weights = counts.weights.astype(np.int64)
    lookup = Lookup.of("output", published, people, counts)
    bits = _kernels.mark_blocks(lookup.label_of, lookup.starts, lookup.covered, 0, len(published), lookup.values)
    sizes = np.add.reduceat(weights, starts[:-1])
    first = np.searchsorted(groups.sizes, sizes)
    # The rows of a group that says what it is are all of its household; other groups may be several households.
    stop = np.searchsorted(groups.sizes, sizes, side="right") if linked else np.full_like(first, len(groups.sizes))
    found = _kernels.count_fitting(Known(starts, lookup.people, weights), bits, groups.arrays, first, stop)
    left, alone = found[:, 0], (found[:, 0] == 1) & (found[:, 2] == 1)
    if not linked:
        alone &= _theirs(people, unit, ties, groups, found[:, 1])
    number_with = np.bincount(left)
    return Tied(
        groups=int(groups.arrays.alike.sum()),
        candidates={int(n): int(number_with[n]) for n in np.flatnonzero(number_with)},
        least=int(left[left > 0].min()) if left.any() else 0,
        below=int(((left > 0) & (left < k)).sum()),
        alone=int(alone.sum()),
        share=float(alone.mean()),
        named=float((1 / left[left > 0]).sum() / len(left)),
    )


@dataclass(frozen=True, eq=False)
class _Grouped:
    """Rows that belong together, as arrays for the kernel, in the order of their number; groups of the same blocks stand once."""

    arrays: Groups
    sizes: Ints
    """How many rows each group has."""
    values: pl.DataFrame
    """The values of the first of alike groups in the columns that tie it together."""

    @classmethod
    def of(cls, published: Published) -> _Grouped:
        ties = [f"s{i}" for i in range(len(published.sensitive))]
        rows = published.tuples().sort("block")
        groups = rows.group_by(ties, maintain_order=True).agg("block", "weight")
        alike = groups.group_by("block", "weight", maintain_order=True).agg(pl.first(ties), alike=pl.len())
        alike = alike.with_columns(size=pl.col("weight").list.sum()).sort("size", maintain_order=True)
        arrays = Groups(
            np.cumsum([0, *alike["block"].list.len()], dtype=np.int64),
            alike["block"].explode().to_numpy().astype(np.int64),
            alike["weight"].explode().to_numpy().astype(np.int64),
            alike["alike"].to_numpy().astype(np.int64),
        )
        return cls(arrays, alike["size"].to_numpy().astype(np.int64), alike.select(ties))


def _theirs(people: Table, unit: str, ties: Sequence[str], groups: _Grouped, found: Ints) -> NDArray[np.bool_]:
    """Say of which households the known values are those of the group that was found; what is not known is believed."""
    theirs = np.ones(len(found), dtype=bool)
    for i, name in enumerate(ties):
        if name in people.columns:
            pairs = people.counts([unit, name])
            codes, values = pairs.column(unit), pairs.column(name)
            starts = np.flatnonzero(np.diff(codes, prepend=-1))
            one = np.diff(starts, append=len(codes)) == 1
            own = texts(people[name].decode(values[starts]))
            theirs &= one & own.eq_missing(groups.values[f"s{i}"].gather(found)).to_numpy()
    return theirs
