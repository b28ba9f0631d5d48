"""The household attack: looking households up with all their members, and persons with all their rows.

Rows say that they belong together by the number of their household, where it is published; by what its members share, such as an
income; or by standing next to each other, in the order of a number that every row has. A group of such rows may have a household if
its members can be given rows of their own whose labels cover their values. Where one group may, all that it says is known of the
household, though every block has k rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from sudare.attacks import _kernels
from sudare.attacks._kernels import Groups, Known
from sudare.attacks.knowing import certificate_of
from sudare.attacks.lookup import Lookup, records_by_value
from sudare.attacks.published import Output, Published, people_of, rows_of
from sudare.errors import InputError, ParameterError
from sudare.privacy.k_anonymity import KAnonymity
from sudare.privacy.promises import promise_from_json
from sudare.privacy.requirement import whole_number
from sudare.tables.attribute import Attribute, Role
from sudare.tables.exact import texts
from sudare.tables.runs import PublishedRows
from sudare.tables.schema import Schema
from sudare.tables.table import Table

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
MAX_FITS = 2**25  # pairs of a household and a group that are looked at at a time
MAX_NEIGHBOURS = 12  # members of a household whose rows are looked for next to each other


# -- what the attack finds -------------------------------------------------------------------------


@dataclass(frozen=True)
class Tied:
    """What is found where rows that belong together are known by something."""

    groups: int
    """How many groups of rows there are."""
    candidates: dict[int, int]
    """How many households have how many groups that may have them. Which have none are not in the output."""
    least: int
    """The fewest groups of any household that has some; 0 where none has."""
    below: int
    """Households with fewer than k groups, but some."""
    learned: int
    """Households with one group, which has them: what its rows share is learned."""
    alone: int
    """Those of them whose rows are found, for no more rows of the group could be any member's."""
    share: float
    """The share of all households whose rows are found."""
    named: float
    """The share of households whose group is expected to be guessed rightly."""

    def summary(self) -> dict[str, Any]:
        """Return the numbers as plain data."""
        return asdict(self) | {"candidates": {str(groups): own for groups, own in self.candidates.items()}}


@dataclass(frozen=True)
class Households:
    """What a household attack finds, by what ties rows together, and which sensitive values it makes certain."""

    unit: str
    """What was looked up: households or persons."""
    known: int
    """How many of them."""
    k: int
    linked: bool
    """Whether the output says itself which rows belong together."""
    by_ties: dict[str, Tied]
    certain: dict[str, int]
    """Households of which some sensitive value is certain, by attribute."""

    @property
    def worst(self) -> Tied | None:
        """The way that finds most households; None where nothing could tie rows together."""
        return max(self.by_ties.values(), key=lambda tied: (tied.alone, tied.learned), default=None)

    @property
    def alone(self) -> int:
        """How many households' rows are found in the worst way."""
        return 0 if self.worst is None else self.worst.alone

    def summary(self) -> dict[str, Any]:
        """Return the numbers as plain data; nobody is named."""
        by_ties = {ties: tied.summary() for ties, tied in self.by_ties.items()}
        return {
            "unit": self.unit,
            "known": self.known,
            "k": self.k,
            "linked": self.linked,
            "by_ties": by_ties,
            "certain": self.certain,
        }

    def __str__(self) -> str:
        lines = [f"Looked up with all their rows: {self.known:,} {self.unit}s."]
        lines += [self._sentence(ties, tied) for ties, tied in self.by_ties.items()]
        if not self.by_ties:
            lines.append("No column is published that could tie rows together.")
        for name, certain in self.certain.items():
            lines.append(f"{name}: of {certain:,} ({certain / self.known:.1%}) some value is certain.")
        return "\n".join(lines)

    def _sentence(self, ties: str, tied: Tied) -> str:
        found = (
            f"all rows of {tied.alone:,} ({tied.share:.1%}) are found"
            if tied.alone
            else "nobody's rows are found"
        )
        text = f"Tied by {ties}, {tied.groups:,} groups: {found}."
        if self.linked:
            text += f" {tied.below:,} have fewer than {self.k:,} groups that may be theirs; the fewest are {tied.least:,}."
        elif tied.learned:
            text += f" To {tied.learned:,} one group is left."
        if nowhere := tied.candidates.get(0):
            text += f" {nowhere:,} are in no group."
        return f"{text} Who names a group for every {self.unit} is right for {tied.named:.2%}."


# -- the attack ------------------------------------------------------------------------------------


def households(
    output: Output,
    schema: Schema,
    *,
    known: Any,
    unit: str | None = None,
    ties: Sequence[str] | None = None,
    k: int | None = None,
) -> Households:
    """Look households up with all their members; `known` are these people, with their quasi values and their household.

    Their column `unit` says who belongs together; it is the household or person of the schema, if not given. `ties` are columns of
    the output in which rows that belong together agree. Without them these are the number that a linked release has, or else every
    column that is passed on, by itself, and all of them that most known households agree in, together; rows are also taken to
    belong together that stand next to each other by a number or text of which each row has its own. Where the known people have
    these columns too, that is for scoring: only what is true of a household is learned. Fewer groups than `k` are too
    few; it is what the certificate beside the output promises, or else 2.

    A sensitive value is certain of a household if all groups that may be it have the value. Where rows are not tied together, it is
    certain if so many rows have it, among those that may be of some alike members, that the rest are fewer than these members.

    >>> import sudare as sd
    >>> out = pl.DataFrame({"hid": [1, 1, 2, 2, 3], "age": ["[30, 39]", "[0, 9]", "[30, 39]", "[30, 39]", "*"]})
    >>> people = pl.DataFrame({"hid": [7, 7, 8, 8, 9], "age": [31, 4, 38, 35, 8]})
    >>> schema = sd.Schema.from_roles(household="hid", quasi=["age"], linked={"hid": True})
    >>> found = households(out, schema, known=people).worst
    >>> found.candidates, found.alone
    ({1: 3}, 3)
    """
    unit = schema.unit if unit is None else unit
    if unit is None:
        raise ParameterError(
            "The households attack needs to know who belongs together: a household or person in the schema, or the option "
            "'unit', a column of the known people."
        )
    k = _promised(output) if k is None else whole_number(k, "k", "the households attack", 1)
    rows, people = rows_of(output), people_of(known, _with_unit(schema, unit))
    if absent := [name for name in ties or () if name not in rows.columns]:
        raise InputError(f"The output has no column '{absent[0]}', which is said to tie rows together.")
    looked_up = _LookedUp.of(rows, schema, people, unit)
    linked = ties is None and unit in rows.columns
    if linked or ties:
        grouped = [_Grouped.agreeing(looked_up.published, ties or [unit], exact=linked)]
    else:
        grouped = list(_guessed(looked_up))
    sensitive = [name for name in schema.names(Role.sensitive) if name in rows.columns]
    return Households(
        unit=str(Role.person if unit in schema and schema[unit].role == Role.person else Role.household),
        known=len(looked_up.sizes),
        k=k,
        linked=linked,
        by_ties={one.name: looked_up.tied(one, k) for one in grouped},
        certain={
            name: looked_up.certain_by_groups(grouped[0], name)
            if linked
            else looked_up.certain_by_counting(name)
            for name in sensitive
        },
    )


def _promised(output: Output) -> int:
    """Return the k that the certificate beside the output promises."""
    certificate = certificate_of(output)
    promises = [] if certificate is None else [promise_from_json(one) for one in certificate.promises]
    return max((one.k for one in promises if isinstance(one, KAnonymity)), default=2)


def _with_unit(schema: Schema, unit: str) -> Schema:
    """Let known people have their household, though no release has it."""
    household = {unit: Attribute(role=Role.household)}
    return schema.model_copy(update={"attributes": household | schema.attributes})


# -- which rows belong together --------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Grouped:
    """Groups of rows, as arrays for the kernel, the smallest first; groups with rows of the same blocks stand once."""

    name: str
    ties: tuple[str, ...]
    arrays: Groups
    sizes: Ints
    """How many rows each group has."""
    values: pl.DataFrame
    """What the first of alike groups has in the columns that tie it; and, of the first of these, all that alike ones have."""
    exact: bool
    """Whether a group is one household; others may be several."""
    in_order: bool
    """Whether its rows stand next to each other; otherwise they agree."""

    @classmethod
    def agreeing(cls, published: Published, ties: Sequence[str], *, exact: bool = False) -> _Grouped:
        """Group rows that have the same values."""
        own = [f"s{published.sensitive.index(name)}" for name in ties]
        rows = published.tuples().group_by(*own, "block").agg(pl.sum("weight")).sort("block")
        groups = rows.group_by(own, maintain_order=True).agg("block", "weight")
        alike = groups.group_by("block", "weight", maintain_order=True).agg(
            pl.first(*own), alike=pl.len(), tied=pl.col(own[0])
        )
        alike = alike.with_columns(size=pl.col("weight").list.sum()).sort("size", maintain_order=True)
        arrays = Groups(
            np.cumsum([0, *alike["block"].list.len()], dtype=np.int64),
            alike["block"].explode().to_numpy().astype(np.int64),
            alike["weight"].explode().to_numpy().astype(np.int64),
            alike["alike"].to_numpy().astype(np.int64),
        )
        sizes = alike["size"].to_numpy().astype(np.int64)
        return cls(
            ", ".join(ties), tuple(ties), arrays, sizes, alike.select(*own, "tied"), exact, in_order=False
        )

    @classmethod
    def neighbours(cls, published: Published, name: str, sizes: Sequence[int]) -> _Grouped:
        """Take any rows as a group that stand next to each other by a column of which each row has its own value."""
        own = f"s{published.sensitive.index(name)}"
        rows = published.tuples().select("block", own)
        numbers = rows[own].cast(pl.Float64, strict=False)
        rows = rows.with_columns(place=rows[own] if numbers.null_count() else numbers).sort("place")
        blocks = rows["block"].to_numpy().astype(np.int64)
        windows = {
            size: np.sort(sliding_window_view(blocks, size), axis=1)
            for size in sorted(sizes)
            if size <= len(rows)
        }
        unique = [np.unique(own, axis=0, return_index=True, return_counts=True) for own in windows.values()]
        every = np.repeat(list(windows), [len(own) for own, _, _ in unique])
        members = np.concatenate([own.ravel() for own, _, _ in unique])
        arrays = Groups(
            np.append(0, np.cumsum(every)).astype(np.int64),
            members,
            np.ones(len(members), dtype=np.int64),
            np.concatenate([alike for _, _, alike in unique]).astype(np.int64),
        )
        firsts = rows[np.concatenate([first for _, first, _ in unique])].select(own)
        return cls(
            f"the order of {name}",
            (name,),
            arrays,
            every.astype(np.int64),
            firsts,
            exact=True,
            in_order=True,
        )


def _guessed(looked_up: _LookedUp) -> Iterator[_Grouped]:
    """Tie rows by every column that is passed on, by all that may be of a household, and by neighbours."""
    published, people, unit = looked_up.published, looked_up.people, looked_up.unit
    different = {name: published.tuples()[f"s{i}"].n_unique() for i, name in enumerate(published.sensitive)}
    passed_on = [name for name in published.sensitive if different[name] < published.records]
    shared = tuple(name for name in passed_on if name not in people.columns or _is_shared(people, unit, name))
    for ties in dict.fromkeys([*((name,) for name in passed_on), *([shared] if shared else [])]):
        yield _Grouped.agreeing(published, ties)
    few = [size for size in np.unique(looked_up.sizes).tolist() if size <= MAX_NEIGHBOURS]
    for name in published.sensitive if few else ():
        if name not in passed_on:  # each row has its own
            yield _Grouped.neighbours(published, name, few)


def _is_shared(people: Table, unit: str, name: str) -> bool:
    """Say whether most households of several people have one value."""
    _, values = np.unique(people.counts([unit, name]).column(unit), return_counts=True)
    several = people.counts([unit]).weights > 1
    return bool((values[several] == 1).mean() > 0.5) if several.any() else True


# -- looking them up -------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _LookedUp:
    """Known households, and the blocks that their members may be in."""

    published: Published
    """Its sensitive attributes are all columns that are not quasi."""
    people: Table
    unit: str
    lookup: Lookup
    known: Known
    sizes: Ints
    """How many members each household has."""
    bits: Any
    """Which blocks cover which value."""

    @classmethod
    def of(cls, rows: PublishedRows, schema: Schema, people: Table, unit: str) -> _LookedUp:
        quasi = schema.names(Role.quasi)
        others = [name for name in rows.columns if name not in quasi]
        published = Published.open(rows, Schema.from_roles(quasi=quasi, sensitive=others))
        counts = people.counts([unit, *quasi])
        lookup = Lookup.of("output", published, people, counts)
        starts, weights = _starts(counts.column(unit)), counts.weights.astype(np.int64)
        return cls(
            published=published,
            people=people,
            unit=unit,
            lookup=lookup,
            known=Known(starts, lookup.people, weights),
            sizes=np.add.reduceat(weights, starts[:-1]),
            bits=_kernels.mark_blocks(
                lookup.label_of, lookup.starts, lookup.covered, 0, len(published), lookup.values
            ),
        )

    def tied(self, grouped: _Grouped, k: int) -> Tied:
        """Look everybody up in some groups."""
        alike = grouped.arrays.alike
        parts = [
            (np.minimum(fits, 1) @ alike, fits.argmax(axis=1), fits.max(axis=1))
            for fits in self._fits(grouped)
        ]
        left, found, best = (np.concatenate(part) for part in zip(*parts, strict=True))
        learned = (left == 1) & self._theirs(grouped, found)
        alone = learned & (best == 2)
        with_so_many = np.bincount(left)
        return Tied(
            groups=int(alike.sum()),
            candidates={int(n): int(with_so_many[n]) for n in np.flatnonzero(with_so_many)},
            least=int(left[left > 0].min()) if left.any() else 0,
            below=int(((left > 0) & (left < k)).sum()),
            learned=int(learned.sum()),
            alone=int(alone.sum()),
            share=float(alone.mean()),
            named=float((1 / left[left > 0]).sum() / len(left)),
        )

    def _fits(self, grouped: _Grouped) -> Iterator[NDArray[np.uint8]]:
        """Return for some households after others which groups may have them, and which have just their rows."""
        groups = len(grouped.sizes)
        first = np.searchsorted(grouped.sizes, self.sizes)
        last = np.searchsorted(grouped.sizes, self.sizes, side="right")
        stop = last if grouped.exact else np.full_like(first, groups)
        step = max(1, MAX_FITS // groups)
        for at in range(0, len(self.sizes), step):
            some = self.known._replace(starts=self.known.starts[at : at + step + 1])
            fits = np.zeros((len(some.starts) - 1, groups), dtype=np.uint8)
            _kernels.fit(some, self.bits, grouped.arrays, first[at : at + step], stop[at : at + step], fits)
            yield fits

    def _theirs(self, grouped: _Grouped, found: Ints) -> Bools:
        """Say of which households the known values are those of the group that was found; what is not known is believed."""
        theirs = np.ones(len(found), dtype=bool)
        for name, of_groups in zip(grouped.ties, grouped.values.iter_columns(), strict=False):
            if name in self.people.columns and name != self.unit:
                pairs = self.people.counts([self.unit, name])
                starts = _starts(pairs.column(self.unit))
                own = texts(self.people[name].decode(pairs.column(name)[starts[:-1]]))
                theirs &= own.eq_missing(of_groups.gather(found)).to_numpy()
                if not grouped.in_order:
                    theirs &= np.diff(starts) == 1
        return theirs

    def certain_by_groups(self, grouped: _Grouped, sensitive: str) -> int:
        """Count the households of which some value is certain, for every group that may be theirs has it."""
        tie, value = (f"s{self.published.sensitive.index(name)}" for name in (grouped.ties[0], sensitive))
        group_of = grouped.values.select("tied").with_row_index("group").explode("tied")
        pairs = self.published.tuples().select(tie, value).unique()
        pairs = pairs.join(group_of, left_on=tie, right_on="tied", nulls_equal=True)
        codes = pairs[value].rank("dense").fill_null(0).to_numpy()
        having = np.zeros((len(grouped.sizes), int(codes.max()) + 1))
        np.add.at(having, (pairs["group"].to_numpy(), codes), 1)
        certain = 0
        for fits in self._fits(grouped):
            may = np.minimum(fits, 1).astype(np.float64)
            left = may @ grouped.arrays.alike
            certain += int(((may @ having == left[:, None]) & (left[:, None] > 0)).any(axis=1).sum())
        return certain

    def certain_by_counting(self, sensitive: str) -> int:
        """Count the households of which some value is certain, for the other rows are too few for all of some alike members."""
        values, (records,) = records_by_value([self.lookup], sensitive)
        step = max(1, MAX_FITS // len(values))
        needs, certain = self.known.weights, np.zeros(len(self.known.weights), dtype=bool)
        for at in range(0, len(needs), step):
            some = slice(at, at + step)
            counts = self.lookup.records_of(some, records)
            certain[some] = (counts.sum(axis=1) - counts.max(axis=1) < needs[some]) & (
                counts.sum(axis=1) >= needs[some]
            )
        return int(np.logical_or.reduceat(certain, self.known.starts[:-1]).sum())


def _starts(codes: NDArray[np.int32]) -> Ints:
    """Return where each household's tuples start, and where all end."""
    return np.append(np.flatnonzero(np.diff(codes, prepend=-1)), len(codes)).astype(np.int64)
