"""Bins: intervals of numbers or dates, or groups of values, that are randomized as categories."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sudare.errors import InputError
from sudare.randomization.domains import Categories, Grid, listed_values
from sudare.tables.checking import values_as
from sudare.tables.column import Column
from sudare.tables.hierarchy import Hierarchy
from sudare.tables.recipes import FileRecipe, GroupsRecipe, SuppressRecipe, TreeRecipe
from sudare.tables.schema import Attribute
from sudare.tables.table import Source
from sudare.tables.text import text_of
from sudare.tables.toml import toml_key
from sudare.tables.types import stored_type

BINS = 10


def binned(name: str, attribute: Attribute, *, missing: bool) -> Categories:
    """Return the first level of an attribute's hierarchy, as the schema has it, or ten bins between its bounds.

    >>> binned("age", Attribute(role="quasi", bounds=(0, 100)), missing=False).labels()[-1]
    '[90, 100]'
    """
    hierarchy = _hierarchy(name, attribute)
    if hierarchy is None or hierarchy.height == 1:
        return _between_bounds(name, attribute, missing=missing)
    return _first_level(name, attribute, hierarchy, missing=missing)


def tells_its_values(attribute: Attribute) -> bool:
    """Say whether a hierarchy alone says what values there are: it is ready-made, or in a file."""
    return isinstance(attribute.hierarchy, Hierarchy | FileRecipe | TreeRecipe | GroupsRecipe)


def _hierarchy(name: str, attribute: Attribute) -> Hierarchy | None:
    """Return the whole hierarchy of an attribute, over all values that it can have."""
    recipe = attribute.hierarchy
    if recipe is None or isinstance(recipe, Hierarchy | SuppressRecipe):
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
    names = [label for label in hierarchy.labels[1] if label is not None]
    node = {label: i for i, label in enumerate(names)}
    above = np.array([-1 if label is None else node[label] for label in hierarchy.labels[1]])
    dtype = stored_type(attribute) if attribute.domain is None else None

    def place(column: Column, source: Source) -> NDArray[np.int64]:
        leaves = hierarchy.find(column.values if dtype is None else values_as(column, dtype, source))
        if (leaves < 0).any():
            raise InputError(f"{source.name}, column '{name}': a value is not in its hierarchy.")
        return np.asarray(above[hierarchy.codes[1][leaves]])

    return Categories(name, pl.Series(name, names, dtype=pl.String), missing, place)


def _between_bounds(name: str, attribute: Attribute, *, missing: bool) -> Categories:
    grid = Grid.of(name, attribute)
    edges = np.unique(np.rint(np.linspace(0, grid.steps, BINS + 1)).astype(np.int64))  # on grid points
    last = len(edges) - 2
    texts = [text_of(value) for value in grid.decode(edges).to_list()]
    names = [f"[{a}, {b}{']' if i == last else ')'}" for i, (a, b) in enumerate(pairwise(texts))]

    def place(column: Column, source: Source) -> NDArray[np.int64]:
        return np.clip(np.searchsorted(edges, grid.points(column, source), side="right") - 1, 0, last)

    return Categories(name, pl.Series(name, names, dtype=pl.String), missing, place)
