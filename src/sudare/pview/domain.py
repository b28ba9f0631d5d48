"""The domain of a p-view: for every attribute a finite list of cells, declared and not read off the data."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sudare.errors import InputError
from sudare.pview.axis import Axis
from sudare.pview.saved_axes import axes_from_json, axis_to_json, refuse_large_domain
from sudare.tables.column import smallest
from sudare.tables.counts import Counts, count_index
from sudare.tables.notebook import Listing
from sudare.tables.schema import Schema
from sudare.tables.table import Table
from sudare.tables.text import listed

__all__ = ["Axis", "Domain"]


@dataclass(frozen=True, eq=False)
class Domain:
    """The axes of a p-view, one per attribute.

    >>> import sudare as sd
    >>> schema = sd.Schema.from_roles(
    ...     quasi=["age"], sensitive=["ill"], bounds={"age": (18, 27)}, domains={"ill": ["yes", "no"]}, missing="refuse")
    >>> domain = Domain.of(schema)
    >>> table = sd.read(pl.DataFrame({"age": [20, 25], "ill": ["yes", "no"]}), schema)
    >>> domain.sizes, domain.counts(table).codes.tolist()
    ((10, 2), [[2, 0], [7, 1]])
    """

    axes: tuple[Axis, ...]

    def __post_init__(self) -> None:
        refuse_large_domain(len(self.axes), sum(axis.size - axis.missing for axis in self.axes))

    @classmethod
    def of(cls, schema: Schema) -> Domain:
        """Take the domain of every attribute that is no identifier from the schema, and from nothing else."""
        names = [name for name in schema.attributes if schema[name].is_measured]
        if not names:
            raise InputError("The schema has no attribute to count by: all are identifiers.")
        missing = schema.missing == "own value"
        return cls(tuple(Axis.of(name, schema[name], missing=missing) for name in names))

    @property
    def names(self) -> list[str]:
        """The attributes in order."""
        return [axis.name for axis in self.axes]

    def listing(self) -> Listing:
        """Say what is counted by, for a notebook."""
        return Listing("", ("attribute", "cells"), list(zip(self.names, self.sizes, strict=True)))

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many cells each attribute has."""
        return tuple(axis.size for axis in self.axes)

    @property
    def cells(self) -> int:
        """How many combinations there are."""
        return math.prod(self.sizes)

    def place(self, name: str) -> int:
        """Return which axis an attribute is."""
        if name not in self.names:
            raise InputError(f"The p-view has no attribute '{name}'. There are {listed(self.names)}.")
        return self.names.index(name)

    def counts(self, table: Table, by_value: Counts | None = None) -> Counts:
        """Count the records of every cell that holds any: all of them, or those that were counted by their values before."""
        by_value = table.counts(self.names) if by_value is None else by_value
        cells = [axis.cells_of(table) for axis in self.axes]
        # Of the smallest types: of a thousand attributes there are as many distinct tuples as rows.
        columns = {
            axis.name: own.astype(smallest(axis.size))[by_value.codes[:, a]]
            for a, (axis, own) in enumerate(zip(self.axes, cells, strict=True))
        }
        weights = by_value.weights
        if all((np.diff(own[:size]) > 0).all() for own, size in zip(cells, by_value.sizes, strict=True)):
            # Each value has a cell of its own, in the same order: so have the tuples.
            codes = np.stack(list(columns.values()), axis=1).astype(np.int32)
            return Counts(tuple(self.names), codes, weights, self.sizes)
        del by_value
        by_cell, place = count_index(columns, self.sizes)
        added = np.bincount(place, weights, minlength=len(by_cell)).astype(np.int64)  # exact below 2^53
        return replace(by_cell, weights=added)

    def decode(self, codes: NDArray[Any], rng: np.random.Generator) -> pl.DataFrame:
        """Return rows for cells."""
        return pl.DataFrame([axis.decode(codes[:, a], rng) for a, axis in enumerate(self.axes)])

    def boxes(self, low: Any, high: Any) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Check the coded bounds of boxes, both ends included, one row per query."""
        wrong = InputError(
            f"Boxes must be whole numbers, a column for each of the {len(self.axes)} attributes and a row per query."
        )
        try:
            both = [np.atleast_2d(np.asarray(ends)) for ends in (low, high)]
        except (TypeError, ValueError, OverflowError):  # rows of different lengths, or no numbers
            raise wrong from None
        shape = (len(both[0]), len(self.axes))
        if any(ends.shape != shape or ends.dtype.kind not in "iu" for ends in both):
            raise wrong
        low, high = both
        if (low < 0).any() or (high >= np.array(self.sizes)).any():
            raise InputError(
                "A box reaches beyond the domain. Its ends are codes from 0 to the size minus 1."
            )
        if (low > high).any():
            raise InputError("A box has an end before its beginning.")
        return low.astype(np.int32), high.astype(np.int32)

    def to_json(self) -> list[dict[str, Any]]:
        """Return the domain as plain data."""
        return [axis_to_json(axis) for axis in self.axes]

    @classmethod
    def from_json(cls, axes: Sequence[object]) -> Domain:
        """Read what `to_json` wrote, and refuse everything else."""
        return cls(axes_from_json(axes))
