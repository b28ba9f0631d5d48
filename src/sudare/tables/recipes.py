"""Recipes: how a schema file says what an attribute's hierarchy is, before the data is there."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Annotated, Any, Literal

import polars as pl
from pydantic import BaseModel, ConfigDict, Field

from sudare.tables.hierarchy import Hierarchy


class _Recipe(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class FileRecipe(_Recipe):
    """A file: ARX's CSV format, or a nested tree in JSON or TOML. Relative to the schema file."""

    kind: Literal["file"]
    path: Path

    def build(self, values: pl.Series) -> Hierarchy:  # noqa: D102
        return Hierarchy.from_file(self.path)


class TreeRecipe(_Recipe):
    """A nested tree: names over names over lists of values."""

    kind: Literal["tree"]
    tree: dict[str, Any]

    def build(self, values: pl.Series) -> Hierarchy:  # noqa: D102
        return Hierarchy.from_tree(self.tree)


class GroupsRecipe(_Recipe):
    """A mapping from each value to its group."""

    kind: Literal["groups"]
    groups: dict[str, str]

    def build(self, values: pl.Series) -> Hierarchy:  # noqa: D102
        return Hierarchy.groups(self.groups)


class IntervalsRecipe(_Recipe):
    """Intervals of numbers: by width, by quantiles of the distinct values, or at given cuts."""

    kind: Literal["intervals"]
    width: float | None = None
    quantiles: int | None = None
    cuts: list[float] | None = None
    fanout: int = 2
    origin: float = 0

    def build(self, values: pl.Series) -> Hierarchy:  # noqa: D102
        return Hierarchy.intervals(values, **self.model_dump(exclude={"kind"}))


class TopBottomRecipe(_Recipe):
    """The ends of numbers coded as one group each; intervals of a width between them."""

    kind: Literal["top_bottom"]
    low: float | None = None
    high: float | None = None
    width: float | None = None
    fanout: int = 2

    def build(self, values: pl.Series) -> Hierarchy:  # noqa: D102
        return Hierarchy.top_bottom(values, **self.model_dump(exclude={"kind"}))


class DigitsRecipe(_Recipe):
    """Round numbers to fewer and fewer significant digits, so that what is published stays a number."""

    kind: Literal["digits"]
    digits: int = 3
    root: float | None = None

    def build(self, values: pl.Series) -> Hierarchy:  # noqa: D102
        return Hierarchy.digits(values, **self.model_dump(exclude={"kind"}))


class MaskRecipe(_Recipe):
    """Mask strings from the right."""

    kind: Literal["mask"]
    pad: str | None = None

    def build(self, values: pl.Series) -> Hierarchy:  # noqa: D102
        return Hierarchy.mask(values, pad=self.pad)


class DatesRecipe(_Recipe):
    """Truncate dates to day, month, quarter, year, decade, or to day, week, year, decade."""

    kind: Literal["dates"]
    levels: list[str] = ["month", "quarter", "year", "decade"]

    def build(self, values: pl.Series) -> Hierarchy:  # noqa: D102
        return Hierarchy.dates(values, levels=self.levels)


class AgesRecipe(_Recipe):
    """Ages on a day instead of dates of birth."""

    kind: Literal["ages"]
    on: dt.date
    width: float = 5
    fanout: int = 2

    def build(self, values: pl.Series) -> Hierarchy:  # noqa: D102
        return Hierarchy.ages(values, **self.model_dump(exclude={"kind"}))


class SuppressRecipe(_Recipe):
    """Publish a value as it is, or not at all."""

    kind: Literal["suppress"]

    def build(self, values: pl.Series) -> Hierarchy:  # noqa: D102
        return Hierarchy.suppress(values)


Recipe = Annotated[
    FileRecipe
    | TreeRecipe
    | GroupsRecipe
    | IntervalsRecipe
    | TopBottomRecipe
    | DigitsRecipe
    | MaskRecipe
    | DatesRecipe
    | AgesRecipe
    | SuppressRecipe,
    Field(discriminator="kind"),
]
RECIPE_KEYS = sorted({key for recipe in _Recipe.__subclasses__() for key in recipe.model_fields})
