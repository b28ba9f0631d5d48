"""A plan of several views: which blocks a tuple is published in, in every view, and what each block is published as."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sudare.engines.rewriting import Labels, Rewriting
from sudare.errors import InputError
from sudare.plans.generalization import Ints, covered_rows, refuse_repeated, smallest_types, whole_numbers
from sudare.plans.plan import TablePlan, method_from_json
from sudare.plans.trees import matched
from sudare.privacy.multi_view import MultiViewDiversity
from sudare.privacy.promises import promise_from_json, promise_to_json
from sudare.tables.attribute import Role
from sudare.tables.counts import Counts, places_of
from sudare.tables.notebook import Listing
from sudare.tables.table import Table
from sudare.tables.text import listed, shown

NAME = re.compile(r"[\w-]+")
RESERVED = ("plan", "certificate", "report", "law", "holder")
"""A view is written to files of its name, and these are other files of a release."""


@dataclass(frozen=True, eq=False)
class View:
    """Some attributes, and what is published of them for each block."""

    name: str
    attributes: list[str]
    labels: list[list[str | None]]
    """One list per attribute, one label per block."""
    covered: NDArray[np.float64]
    """Which share of all values each label leaves open, from 0 to 1; blocks x attributes."""


@dataclass(frozen=True, eq=False)
class LocatedViews:
    """The tuples of a table, and the blocks that a plan puts them in."""

    table: Table
    counts: Counts
    block_of: Ints
    """One row per tuple, one column per view; -1 where the plan has none."""
    views: Sequence[View]
    sensitive: str

    def pieces(self) -> Iterator[LocatedViews]:
        """Return itself: views are looked up in at once."""
        yield self

    @property
    def covered(self) -> NDArray[np.bool_]:
        """Which tuples the plan covers."""
        return np.asarray((self.block_of >= 0).all(axis=1))

    @cached_property
    def rewritings(self) -> dict[str, Rewriting]:
        """What becomes of the rows that the plan covers, in every view."""
        covered = self.covered
        keys, tuples = self.counts.names, self.counts.codes[covered]
        rewritings = {}
        for at, view in enumerate(self.views):
            blocks = self.block_of[covered, at]
            published: dict[str, Labels | None] = {}
            for a, (name, labels) in enumerate(zip(view.attributes, view.labels, strict=True)):
                distinct = pl.Series(labels, dtype=pl.String).unique(maintain_order=True)
                place = {label: i for i, label in enumerate(distinct.to_list())}
                of_block = np.array([place[label] for label in labels], dtype=np.int64)
                # An attribute of which all blocks have one value each stays what it is, in its own type.
                alone = not view.covered[:, a].any() and _one_each(blocks, tuples[:, keys.index(name)])
                published[name] = None if alone else Labels(distinct, of_block[blocks])
            rewritings[view.name] = Rewriting(keys, tuples, {**published, self.sensitive: None})
        return rewritings

    def covered_rows(self, table: Table) -> Table:
        """Return a table without the rows that the plan does not cover, as if they had never been there."""
        return covered_rows(table, self.counts, self.covered)

    def frame(self, rewriting: Rewriting) -> pl.DataFrame:
        """Return what is published for every tuple that the plan covers, one row each."""
        codes = self.counts.codes[self.covered]
        return pl.DataFrame(
            [
                (
                    labels.values.gather(labels.of_tuple)
                    if labels
                    else self.table[name].decode(codes[:, self.counts.names.index(name)])
                ).alias(name)
                for name, labels in rewriting.published.items()
            ]
        )


def _one_each(blocks: Ints, codes: NDArray[np.int32]) -> bool:
    """Tell whether every block has one value: a plan's word is not taken for it."""
    pairs = np.unique(np.column_stack([blocks, codes]), axis=0)
    return len(pairs) == len(np.unique(blocks))


@dataclass(frozen=True, eq=False, repr=False)
class ViewsPlan(TablePlan):
    """Which blocks each known tuple is in. What is not listed has none."""

    kind: ClassVar[str] = "views"
    table_names: ClassVar[tuple[str, ...]] = ("tuples",)

    method: str
    requirements: Sequence[MultiViewDiversity]
    sensitive: str
    views: Sequence[View]
    keys: Mapping[str, Sequence[str | None]]
    """The columns that tuples are looked up by, with their values; None is a missing one."""
    tuples: NDArray[np.int32]
    block_of: Ints
    """One row per tuple, one column per view."""

    def _line(self) -> str:
        names = ", ".join(view.name for view in self.views)
        return f"{', '.join(map(str, self.requirements))} by {self.method}; views {names}"

    def _listings(self) -> Iterable[Listing]:
        yield Listing(
            "", ("view", "attributes"), [(view.name, ", ".join(view.attributes)) for view in self.views]
        )

    def locate(self, table: Table) -> LocatedViews:
        """Say where the tuples of a table belong. Values are looked up by what they are, not by where they stand."""
        if self.sensitive not in table.names(Role.sensitive):
            raise InputError(
                f"{table.source.name}: the plan is for the sensitive attribute '{self.sensitive}', which the schema does not call so."
            )
        quasi = table.names(Role.quasi)
        if others := [name for view in self.views for name in view.attributes if name not in quasi]:
            raise InputError(
                f"{table.source.name}: the plan publishes {listed(others)} in its views, which the schema does not call quasi. Apply "
                "it to tables of one schema."
            )
        counts = table.counts(list(self.keys))
        leaves = np.empty_like(counts.codes)
        for at, (name, names) in enumerate(self.keys.items()):
            leaves[:, at] = matched(names, table, name)[counts.codes[:, at]]
        known = Counts(counts.names, self.tuples, np.ones(len(self.tuples), dtype=np.int64), counts.sizes)
        places = places_of(leaves, known)
        block_of = np.where((places >= 0)[:, None], self.block_of[places], -1)
        return LocatedViews(table, counts, block_of, self.views, self.sensitive)

    def to_json(self) -> dict[str, Any]:
        """Return the views with what is published for their blocks, as plain data."""
        return {
            "method": self.method,
            "promises": [promise_to_json(promise) for promise in self.requirements],
            "sensitive": self.sensitive,
            "views": {
                view.name: {
                    "attributes": view.attributes,
                    "labels": view.labels,
                    "covered": view.covered.tolist(),
                }
                for view in self.views
            },
            "keys": {name: list(values) for name, values in self.keys.items()},
        }

    def tables(self) -> dict[str, pl.DataFrame]:
        """Return the tuples with their blocks."""
        names = [
            *(f"key {a}" for a in range(self.tuples.shape[1])),
            *(f"view {v}" for v in range(len(self.views))),
        ]
        frame = pl.DataFrame(np.column_stack([self.tuples, self.block_of]), schema=names)
        return {"tuples": smallest_types(frame)}

    @classmethod
    def read(cls, data: Mapping[str, Any], tables: Mapping[str, pl.DataFrame]) -> Self:
        """Make a plan from what was written."""
        if set(data) != {"method", "promises", "sensitive", "views", "keys"} or not data["views"]:
            raise ValueError("its keys are not those of a plan of views")
        promise, *others = [promise_from_json(one) for one in data["promises"]]
        if others or not isinstance(promise, MultiViewDiversity):
            raise ValueError("several views promise one multi-view diversity")
        if promise.attribute not in (None, data["sensitive"]):
            raise ValueError("its promise is about another attribute than its sensitive one")
        views = [_view(name, own) for name, own in data["views"].items()]
        keys = {name: _texts(values) for name, values in data["keys"].items()}
        used = {name for view in views for name in view.attributes} | {data["sensitive"]}
        if not used <= set(keys) or any(len(set(values)) < len(values) for values in keys.values()):
            raise ValueError("its keys must be all attributes of the views, with different values")
        names = [*(f"key {a}" for a in range(len(keys))), *(f"view {v}" for v in range(len(views)))]
        sizes = [*map(len, keys.values()), *(len(view.labels[0]) for view in views)]
        numbers = whole_numbers(tables["tuples"], names, sizes)
        tuples = np.ascontiguousarray(numbers[:, : len(keys)], dtype=np.int32)
        refuse_repeated(tables["tuples"], names[: len(keys)])
        method = method_from_json(data["method"])
        return cls(method, [promise], data["sensitive"], views, keys, tuples, numbers[:, len(keys) :])


def _view(name: str, data: Mapping[str, Any]) -> View:
    if not NAME.fullmatch(name) or name in RESERVED:
        raise ValueError(f"a view is written to files of its name: {shown(name)} cannot be one")
    attributes, labels = data["attributes"], [_texts(values) for values in data["labels"]]
    covered = np.array(data["covered"], dtype=np.float64)
    if set(data) != {"attributes", "labels", "covered"} or not all(
        isinstance(one, str) for one in attributes
    ):
        raise ValueError("a view has attributes, labels and what these cover")
    if not attributes or len(labels) != len(attributes) or len(set(attributes)) < len(attributes):
        raise ValueError("a view has labels for each of its attributes")
    if len({len(own) for own in labels}) > 1 or covered.shape != (len(labels[0]), len(attributes)):
        raise ValueError("the attributes of a view have a label for each block")
    if not ((covered >= 0) & (covered <= 1)).all():
        raise ValueError("a label covers a share of the values")
    return View(name, list(attributes), labels, covered)


def _texts(values: object) -> list[str | None]:
    if (
        not isinstance(values, list)
        or not all(isinstance(value, str | None) for value in values)
        or not values
    ):
        raise ValueError("values and labels must be texts")
    return values
