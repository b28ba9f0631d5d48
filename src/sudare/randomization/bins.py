"""Bins: intervals of numbers or dates, or groups of values, that are randomized as categories."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sudare.errors import InputError
from sudare.randomization.domains import Categories, listed_values
from sudare.randomization.grids import Grid
from sudare.tables.attribute import Attribute
from sudare.tables.checking import values_as
from sudare.tables.hierarchy import Hierarchy
from sudare.tables.recipes import DigitsRecipe, SuppressRecipe
from sudare.tables.table import Table
from sudare.tables.text import text_of
from sudare.tables.toml import toml_key
from sudare.tables.types import stored_type, tells_its_values

BINS = 10


def binned(name: str, attribute: Attribute, *, missing: bool) -> Categories:
    """Return the first level of an attribute's hierarchy, as the schema has it, or equal bins between its bounds: ten, or as many as it says.

    >>> binned("age", Attribute(role="quasi", bounds=(0, 100)), missing=False).labels()[-1]
    '[90, 100]'
    >>> binned("age", Attribute(role="quasi", bounds=(0, 100), bins=4), missing=False).labels()[-1]
    '[75, 100]'
    """
    hierarchy = whole_hierarchy(name, attribute)
    if hierarchy is None or hierarchy.height == 1:
        return _between_bounds(name, attribute, missing=missing)
    return _first_level(name, attribute, hierarchy, missing=missing)


def whole_hierarchy(name: str, attribute: Attribute) -> Hierarchy | None:
    """Return the whole hierarchy of an attribute, over all values that it can have."""
    recipe = attribute.hierarchy
    if recipe is None or isinstance(recipe, Hierarchy | SuppressRecipe | DigitsRecipe):
        return recipe if isinstance(recipe, Hierarchy) else None
    if tells_its_values(attribute):
        return recipe.build(pl.Series([], dtype=pl.String))
    values = listed_values(name, attribute)
    if values is None:
        raise InputError(
            f"'{name}': its bins are the first level of its hierarchy, which is made from values, and the schema lists none. "
            f"Add to [attributes.{toml_key(name)}] a domain, or bounds of whole numbers or days, that are public; or give it "
            "bounds and no hierarchy, for ten equal bins."
        )
    return recipe.build(values)


def _first_level(name: str, attribute: Attribute, hierarchy: Hierarchy, *, missing: bool) -> Categories:
    labels = [label for label in hierarchy.labels[1] if label is not None]
    dtype = stored_type(attribute) if attribute.domain is None else None
    values = pl.Series(name, labels, dtype=pl.String)
    return Categories(name, values, missing, HierarchyBinning(hierarchy, dtype))


def _between_bounds(name: str, attribute: Attribute, *, missing: bool) -> Categories:
    grid = Grid.of(name, attribute)
    number = attribute.bins or BINS
    edges = np.unique(np.rint(np.linspace(0, grid.steps, number + 1)).astype(np.int64))  # on grid points
    last = len(edges) - 2
    texts = [text_of(value) for value in grid.decode(edges).to_list()]
    labels = [f"[{a}, {b}{']' if i == last else ')'}" for i, (a, b) in enumerate(pairwise(texts))]
    values = pl.Series(name, labels, dtype=pl.String)
    return Categories(name, values, missing, IntervalBinning(grid, edges))


@dataclass(frozen=True, eq=False)
class HierarchyBinning:
    """A value lies in the bin that is its parent in a hierarchy."""

    hierarchy: Hierarchy
    dtype: pl.DataType | None
    """The type of the hierarchy's values, where a dictionary may have another one."""

    def places(self, table: Table, name: str) -> NDArray[np.int64]:
        """Return the first-level node above each value of a dictionary."""
        values = table[name].values if self.dtype is None else values_as(table, name, self.dtype)
        leaves = self.hierarchy.find(values)
        if (leaves < 0).any():
            raise InputError(
                f"{table.source.name}, column '{name}': a value is not in its hierarchy. Add it there."
            )
        parents = self.hierarchy.labels[1]
        bin_of = {label: i for i, label in enumerate(one for one in parents if one is not None)}
        bins = np.array([-1 if label is None else bin_of[label] for label in parents])
        return np.asarray(bins[self.hierarchy.codes[1][leaves]])


@dataclass(frozen=True, eq=False)
class IntervalBinning:
    """A number or date lies in the bin whose edges, in steps of a grid, are around it."""

    grid: Grid
    edges: NDArray[np.int64]

    def places(self, table: Table, name: str) -> NDArray[np.int64]:
        """Return the interval in which each value of a dictionary lies."""
        points = self.grid.steps_to(table, name)
        return np.clip(np.searchsorted(self.edges, points, side="right") - 1, 0, len(self.edges) - 2)
