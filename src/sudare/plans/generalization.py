"""Plans of generalization: which block a tuple is in, and to which levels the blocks climb."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sudare.engines.relational import BYTES_PER_TUPLE
from sudare.engines.rewriting import ALL, AnyRewriting, Labels, Rewriting
from sudare.errors import InputError, ParameterError
from sudare.plans.numbers_beside import refuse_means_in_pieces, with_numbers
from sudare.plans.plan import Plan, TablePlan, method_from_json
from sudare.plans.trees import extended, trees_from_table, trees_to_table
from sudare.privacy.promises import Promise, promise_from_json, promise_to_json
from sudare.privacy.requirement import BlockRequirement
from sudare.tables.attribute import Role
from sudare.tables.counts import Counts, is_first, places_of
from sudare.tables.dealing import side_by_side
from sudare.tables.excerpt import without
from sudare.tables.hierarchy import Hierarchy
from sudare.tables.notebook import Listing
from sudare.tables.published import ranks
from sudare.tables.table import Table
from sudare.tables.text import listed
from sudare.utility.outcome import Outcome

Trees = Mapping[str, Hierarchy]
Ints = NDArray[np.int64]


class Places(ABC):
    """The tuples of a table, and where a plan puts them: all at once, or in pieces where there are too many."""

    table: Table
    """With the plan's hierarchies."""

    @abstractmethod
    def pieces(self) -> Iterator[Located]:
        """Return all tuples, some at a time; those that agree in the quasi attributes together."""

    @property
    @abstractmethod
    def rewriting(self) -> AnyRewriting:
        """What becomes of the rows that the plan covers."""

    def covered_rows(self, table: Table) -> Table:
        """Return a table without the rows that the plan does not cover, as if they had never been there."""
        left_out = [(piece.counts.names, piece.counts.codes[~piece.covered]) for piece in self.pieces()]
        names, tuples = left_out[0][0], np.concatenate([codes for _, codes in left_out])
        return without(table, names, tuples) if len(tuples) else table

    def at_once(self, what: str, bytes_per_tuple: int = BYTES_PER_TUPLE) -> Located:
        """Return all tuples at once; refuse it, where they take too much memory, saying what needs them."""
        raise ParameterError(
            f"{what} tuple by tuple, and the tuples of {self.table.source.name} are too many to be held at once. Read it with more "
            "memory, or do without."
        )


@dataclass(frozen=True, eq=False)
class Located(Places):
    """Tuples of a table, and where a plan puts them."""

    table: Table
    counts: Counts
    """A tuple whose records are dealt to several blocks stands once for each of them."""
    block_of: Ints
    """The block of each tuple; -1 where the plan has none."""
    levels: NDArray[np.int16]
    """To which level each block climbs: blocks x quasi attributes, in the table's order."""

    def pieces(self) -> Iterator[Located]:
        """Return itself."""
        yield self

    def at_once(self, what: str, bytes_per_tuple: int = BYTES_PER_TUPLE) -> Located:
        """Return itself."""
        return self

    @property
    def covered(self) -> NDArray[np.bool_]:
        """Which tuples the plan covers."""
        return np.asarray(self.block_of >= 0)

    @cached_property
    def dealt(self) -> bool:
        """Whether the records of some tuple are dealt to several blocks."""
        return not is_first(self.counts.codes).all()

    @cached_property
    def climbing(self) -> NDArray[np.bool_]:
        """Of which quasi attributes some value climbs."""
        used = np.zeros(len(self.levels), dtype=bool)
        used[self.block_of[self.covered]] = True
        return np.asarray(self.levels[used].any(axis=0))

    @cached_property
    def rewriting(self) -> Rewriting:
        """What becomes of the rows that the plan covers."""
        return self.rewritten(self.climbing)

    def rewritten(self, climbing: NDArray[np.bool_], *, all_labels: bool = False) -> Rewriting:
        """Say what becomes of the rows that the plan covers.

        An attribute of which nothing climbs, here or in any other piece, stays what it is, in its own type. Where there are
        other pieces, all labels of a tree are listed, so that they have the same numbers in all.
        """
        covered = self.covered
        tuples = self.counts.codes[covered]
        levels = self.levels[self.block_of[covered]]
        quasi = self.table.names(Role.quasi)
        published: dict[str, Labels | None] = {}
        for name in self.table.publishable:
            at = quasi.index(name) if name in quasi else None
            if at is None or not climbing[at]:
                published[name] = None
                continue
            codes = tuples[:, self.counts.names.index(name)]
            published[name] = _labels(self.table[name].hierarchy, codes, levels[:, at], all_labels)
        until = _untils(tuples, self.counts.weights[covered]) if self.dealt else None
        rewriting = Rewriting(self.counts.names, tuples, published, until)
        if not self.table.schema.beside():
            return rewriting
        if all_labels:
            refuse_means_in_pieces(self.table)
        return with_numbers(rewriting, self.table, self.counts.weights[covered])

    def outcome(self) -> Outcome:
        """Return what becomes of these records."""
        levels = self.levels[np.where(self.covered, self.block_of, 0)]
        return Outcome(self.table, self.counts, levels, self.covered)

    def with_column(self, name: str) -> Located:
        """Count by one more column; a tuple then stands once for each of its values."""
        if name in self.counts.names:
            return self
        if self.dealt:
            passed = [one for one in self.table.publishable if one not in self.counts.names]
            finer = self.by_rows(passed[: passed.index(name) + 1])
            return replace(finer, counts=_without(finer.counts, passed[: passed.index(name)]))
        counts = self.table.counts([*self.counts.names, name])
        return replace(
            self, counts=counts, block_of=self.block_of[places_of(counts.codes[:, :-1], self.counts)]
        )

    def by_rows(self, names: Sequence[str]) -> Located:
        """Count by the first of the columns that are passed on, in whose order engines deal the rows of a tuple."""
        counts = self.table.counts([*self.counts.names, *names])
        of_tuple = np.cumsum(is_first(counts.codes[:, : len(self.counts.names)]))
        ranked = [_ranks(self.table, name)[counts.column(name)] for name in names]
        counts = counts.at(np.lexsort((*reversed(ranked), of_tuple)))
        # Both are in the order of their tuples: what is dealt to blocks, and what has different values.
        of_own, of_counts, records = side_by_side(self.counts.weights, counts.weights)
        split = Counts(counts.names, counts.codes[of_counts], records, counts.sizes)
        return replace(self, counts=split, block_of=self.block_of[of_own])

    def only(self, tuples: Counts, block_of: Ints) -> Located:
        """Return some of the tuples, in other blocks, and a table of their rows alone."""
        others = places_of(self.counts.codes, tuples.at(np.flatnonzero(is_first(tuples.codes)))) < 0
        rows = self.table.rows.without(self.counts.names, self.counts.codes[others])
        return replace(self, table=replace(self.table, rows=rows), counts=tuples, block_of=block_of)

    def block_sizes(self) -> Ints:
        """Return how many records each block has, of those that have any."""
        inside = self.covered
        sizes = np.bincount(self.block_of[inside], self.counts.weights[inside]).astype(np.int64)
        return sizes[sizes > 0]


def _without(counts: Counts, names: Sequence[str]) -> Counts:
    """Return counts without some of their columns; tuples that are alike then stay apart."""
    kept = [at for at, name in enumerate(counts.names) if name not in names]
    return Counts(
        tuple(counts.names[at] for at in kept),
        np.ascontiguousarray(counts.codes[:, kept]),
        counts.weights,
        tuple(counts.sizes[at] for at in kept),
    )


def _ranks(table: Table, name: str) -> Ints:
    """Return the place of each code of a column in the order in which its values are published."""
    dictionary = table[name]
    return ranks(dictionary.decode(np.arange(dictionary.size)))[1]


def _untils(tuples: NDArray[np.int32], weights: Ints) -> Ints:
    """Return up to which of a tuple's records each of its places gets some; the last gets all that are left."""
    first, ends = is_first(tuples), np.cumsum(weights)
    before = (ends - weights)[np.flatnonzero(first)]
    until: Ints = ends - before[np.cumsum(first) - 1]
    until[np.append(first[1:], True)] = ALL
    return until


def covered_rows(table: Table, counts: Counts, covered: NDArray[np.bool_]) -> Table:
    """Return the table itself if all its tuples are covered, and else what is left without the others."""
    return table if covered.all() else without(table, counts.names, counts.codes[~covered])


def _labels(
    tree: Hierarchy | None, codes: NDArray[np.int32], levels: NDArray[np.int16], all_labels: bool
) -> Labels:
    assert tree is not None  # with_trees gave every quasi attribute one
    first = np.append(0, np.cumsum([len(names) for names in tree.labels]))
    texts = [label for names in tree.labels for label in names]
    every = first[levels] + tree.codes[levels, codes]
    used = np.full(first[-1], all_labels)
    used[every] = True
    # Two nodes may have one label, as a value that is a group by itself: they are published alike.
    place: dict[str | None, int] = {}
    of_node = np.empty(first[-1], dtype=np.int64)
    for node in np.flatnonzero(used).tolist():
        of_node[node] = place.setdefault(texts[node], len(place))
    return Labels(pl.Series(list(place), dtype=pl.String), of_node[every])


class GeneralizationPlan(Plan):
    """What all plans of generalization have."""

    method: str
    """The method that learned it."""
    requirements: Sequence[BlockRequirement]
    trees: Trees
    """The hierarchy of each quasi attribute, over the values that the plan was learned from."""
    search: Mapping[str, Any] = MappingProxyType({})
    """What was done to find it, for the holder's record; it is not saved."""
    warnings: Sequence[str] = ()
    """What was not as it could have been when it was learned."""

    @abstractmethod
    def locate(self, table: Table) -> Places:
        """Say where the tuples of a table belong. Values are looked up by what they are, not by where they stand."""

    def _line(self) -> str:
        return f"{', '.join(map(str, self.requirements))} by {self.method}; {', '.join(self.trees)}"

    def _listings(self) -> Iterable[Listing]:
        rows = [(name, tree.codes.shape[1], tree.height) for name, tree in self.trees.items()]
        yield Listing("", ("attribute", "different values", "hierarchy's levels"), rows)

    def keys(self, table: Table) -> list[str]:
        """Return the columns of a table by which its tuples are looked up."""
        return table.names(Role.quasi)

    def record(self) -> dict[str, Any]:
        """Return what of the plan stands in the holder's record."""
        return {}

    def with_trees(self, table: Table) -> Table:
        """Return a table whose quasi attributes climb the plan's hierarchies."""
        quasi = table.names(Role.quasi)
        if set(quasi) != set(self.trees):
            raise InputError(
                f"{table.source.name}: the plan is for the quasi attributes {listed(list(self.trees))}, and the schema has "
                f"{listed(quasi)}. Apply it to tables of one schema."
            )
        trees = {name: extended(tree, table, name) for name, tree in self.trees.items()}
        return replace(table, hierarchies={**table.hierarchies, **trees})


class WholePlan(GeneralizationPlan, TablePlan):
    """A plan that is held, and looked up in, as a whole."""

    def locate(self, table: Table) -> Located:
        """Say where the tuples of a table belong."""
        known = self.with_trees(table)
        return self.located(known, known.counts(self.keys(known)))

    @abstractmethod
    def located(self, table: Table, counts: Counts) -> Located:
        """Say where some tuples of a table belong that has the plan's trees."""

    def to_json(self) -> dict[str, Any]:
        """Return what both kinds have, as plain data."""
        return {
            "method": self.method,
            "promises": [promise_to_json(promise) for promise in self.requirements],
            "attributes": list(self.trees),
        }

    def tables(self) -> dict[str, pl.DataFrame]:
        """Return the trees."""
        return {"trees": smallest_types(trees_to_table(self.trees.values()))}


def read_parts(
    data: Mapping[str, Any], tables: Mapping[str, pl.DataFrame]
) -> tuple[str, list[BlockRequirement], dict[str, Hierarchy]]:
    """Read what both kinds of plans have: the method, the requirements and the trees."""
    promises, names = data["promises"], data["attributes"]
    if not (isinstance(promises, list) and promises and isinstance(names, list) and names):
        raise ValueError("a plan has promises and attributes")
    if not all(isinstance(name, str) for name in names) or len(set(names)) < len(names):
        raise ValueError("its attributes must be different names")
    return (
        method_from_json(data["method"]),
        [_requirement(promise_from_json(one)) for one in promises],
        trees_from_table(names, tables["trees"]),
    )


def _requirement(promise: Promise) -> BlockRequirement:
    if not isinstance(promise, BlockRequirement):
        raise ValueError(f"{promise} is not asked of blocks")
    return promise


def whole_numbers(frame: pl.DataFrame, names: Sequence[str], sizes: Sequence[int]) -> NDArray[np.int64]:
    """Return a table of whole numbers, each from 0 to below its column's size; raises a ValueError if it is none."""
    if list(frame.columns) != list(names):
        raise ValueError(f"its tables must have the columns {listed(list(names))}")
    if not all(dtype.is_integer() for dtype in frame.dtypes) or any(frame.null_count().row(0)):
        raise ValueError("its tables must have whole numbers")
    if frame.height and any(
        int(column.min()) < 0 or int(column.max()) >= size  # type: ignore[arg-type]
        for column, size in zip(frame.iter_columns(), sizes, strict=True)
    ):
        raise ValueError("a number of its tables is beyond what it counts")
    return np.ascontiguousarray(frame.cast(pl.Int64).to_numpy())


def refuse_repeated(frame: pl.DataFrame, names: Sequence[str]) -> None:
    """Raise a ValueError if a table has no rows, or two that are alike in these columns."""
    if not 0 < frame.select(names).n_unique() == frame.height:
        raise ValueError("its tuples must be different from each other, and there must be some")


def smallest_types(frame: pl.DataFrame) -> pl.DataFrame:
    """Return whole numbers in the smallest types that hold them."""
    return frame.with_columns(
        column.shrink_dtype() for column in frame.iter_columns() if column.dtype.is_integer()
    )
