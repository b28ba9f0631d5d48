"""The law of a randomized table as it is handed over: by which probabilities the values of every attribute were changed.

It comes from outside. What is read here has exactly these keys, and numbers of which probabilities can be made; whoever
verifies or reconstructs need not look again. What it promises is not believed here but counted by `verify`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from sudare.errors import InputError
from sudare.plans.polytopes import MAX_CHOICES, Axis, choices
from sudare.tables.faults import checked
from sudare.tables.text import shown
from sudare.tables.text_files import read_json

LAWS = {"attributes": "The law of"}
MAX_COLUMNS = 10_000
MAX_VALUES = 10**6
"""Values of an attribute, or combinations of the values of several."""
MAX_MATRIX = 1_024
"""Rows and columns of a matrix that is written out."""
MAX_STEPS = 2**40
"""Of the grid of a number."""
MAX_AXES, MAX_FACES = 8, 64
"""Of an area."""
MAX_POINTS = 2**62
"""Of the box around it."""
MAX_NUMBER = 1e300
MAX_LOGARITHM = 690.0
"""Of a number that can be written."""
MAX_RATIO = 1e12
"""Of the weight of a value to what it has for others: beyond, it is kept for certain."""
MAX_DIGITS = 40
"""Of the two numbers of a fraction."""
MAX_SCALE = 2**60
MAX_ROWS = 1_000_000

SCALE = re.compile(rf"[0-9]{{1,{MAX_DIGITS}}}(/[1-9][0-9]{{0,{MAX_DIGITS - 1}}})?")


def _as_scale(text: str) -> str:
    if not SCALE.fullmatch(text) or not 0 < Fraction(text) <= MAX_SCALE:
        raise ValueError("must be noise of a scale above 0, a fraction such as '5/2'")
    return text


Text = Annotated[str, Field(max_length=100_000)]
Texts = Annotated[tuple[Text, ...], Field(strict=False, min_length=1, max_length=MAX_VALUES)]
Amount = Annotated[float, Field(ge=0, le=MAX_NUMBER)]
Number = Annotated[float, Field(ge=-MAX_NUMBER, le=MAX_NUMBER)]
Probability = Annotated[float, Field(ge=0, le=1)]
FaceForm = Annotated[tuple[Number, ...], Field(strict=False, max_length=MAX_AXES + 1)]
Row = Annotated[tuple[Probability, ...], Field(strict=False, max_length=MAX_MATRIX)]


class _Form(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False)


class Values(_Form):
    """The values of a column as they are published, and which of them stands for a missing one."""

    values: Texts
    missing: Text | None = None

    @model_validator(mode="after")
    def _told_apart(self) -> Self:
        if len(set(self.values)) < len(self.values) or self.missing not in (None, *self.values):
            raise ValueError("has a value twice, or lacks the one that stands for a missing one")
        return self


class GridForm(NamedTuple):
    """The points of a number, or of its logarithm: from `low` on, so many steps."""

    low: float
    step: float
    steps: int
    logarithm: bool = False

    @property
    def high(self) -> float:
        """Where it ends."""
        return self.low + self.step * self.steps

    def holds(self, numbers: NDArray[np.float64]) -> bool:
        """Say whether numbers lie between its ends, up to rounding."""
        low, high = self._ends
        room = 1e-9 * max(abs(low), abs(high), 1.0)
        return bool(((low - room <= numbers) & (numbers <= high + room)).all())

    @property
    def _ends(self) -> tuple[float, float]:
        return (math.exp(self.low), math.exp(self.high)) if self.logarithm else (self.low, self.high)

    def __str__(self) -> str:
        return "[{:g}, {:g}]".format(*self._ends)

    def along(self, numbers: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return where numbers lie on the axis of the grid; what has no logarithm lies before its beginning."""
        if not self.logarithm:
            return numbers
        return np.log(np.maximum(numbers, np.exp(self.low - self.step)))


class AxisForm(_Form):
    """One axis of an area: its grid, and the noise along it."""

    low: Number
    step: float = Field(gt=0, le=MAX_NUMBER)
    steps: int = Field(ge=1, le=MAX_STEPS)
    scale: Annotated[str, AfterValidator(_as_scale)]

    @property
    def grid(self) -> GridForm:
        """Its points."""
        return GridForm(self.low, self.step, self.steps)


class LawForm(_Form):
    """By which law the values of one attribute were changed, or the combinations of several.

    Its domain is a list of values, the columns whose values it combines, or a grid of `steps` from `low` on, of numbers or of
    their logarithms. Values are kept with a probability each, or changed by a matrix with a column per input, or become any value with
    a probability in proportion to its weight, the own one's times a ratio; on a grid, noise of a scale is added, or bits are flipped. Or it is an area over several axes, each with a grid and noise.
    """

    how: Literal["retain", "noise", "factor", "area", "bins", "bits", "matrix", "optimal"]
    epsilon: Amount
    spread: Amount
    values: Texts | None = None
    missing: Text | None = None
    columns: dict[str, Values] | None = Field(default=None, min_length=1, max_length=MAX_COLUMNS)
    low: Number | None = None
    step: float | None = Field(default=None, gt=0, le=MAX_NUMBER)
    steps: int | None = Field(default=None, ge=1, le=MAX_STEPS)
    logarithm: Literal[True] | None = None
    retention: Annotated[tuple[Probability, ...], Field(strict=False, max_length=MAX_VALUES)] | None = None
    matrix: Annotated[tuple[Row, ...], Field(strict=False, max_length=MAX_MATRIX)] | None = None
    weights: Annotated[tuple[Probability, ...], Field(strict=False, max_length=MAX_VALUES)] | None = None
    ratio: float | None = Field(default=None, ge=1, le=MAX_RATIO)
    scale: Annotated[str, AfterValidator(_as_scale)] | None = None
    after: Literal["clip", "reflect"] | None = None
    flips: float | None = Field(default=None, gt=0, lt=1)
    axes: dict[str, AxisForm] | None = Field(default=None, min_length=2, max_length=MAX_AXES)
    faces: Annotated[tuple[FaceForm, ...], Field(strict=False, max_length=MAX_FACES)] | None = None
    """Of an area: no record lies where a_1 x_1 + ... + a_n x_n is above b."""

    @classmethod
    def of(cls, name: str, data: object) -> LawForm:
        """Read one law from plain data.

        >>> LawForm.of("ill", {"how": "retain", "epsilon": 1.1, "spread": 2.2, "values": ["no", "yes"], "retention": [0.75, 0.75]}).size
        2
        """
        return checked(cls, data, f"The law of {shown(name)}", named=LAWS)

    @model_validator(mode="after")
    def _of_one_kind(self) -> Self:
        if self.axes is not None or self.faces is not None:
            self._check_area()
            return self
        on_grid = self.steps is not None
        of_list, of_grid = (self.retention, self.matrix, self.weights), (self.scale, self.flips)
        channels, others = (of_grid, of_list) if on_grid else (of_list, of_grid)
        if (
            sum(given is not None for given in (self.values, self.columns, self.steps)) != 1
            or {self.low is None, self.step is None} != {not on_grid}
            or sum(given is not None for given in channels) != 1
            or any(given is not None for given in others)
            or (self.after is None) != (self.scale is None)
            or (self.ratio is None) != (self.weights is None)
            or (self.logarithm is not None and self.scale is None)
            or (self.missing is not None and self.values is None)
        ):
            raise ValueError("is of no known kind")
        if self.values is not None:
            Values(values=self.values, missing=self.missing)
        self._check_size()
        return self

    def _check_area(self) -> None:
        others = (
            "values",
            "missing",
            "columns",
            "low",
            "step",
            "steps",
            "logarithm",
            "retention",
            "matrix",
            "weights",
            "ratio",
            "scale",
            "after",
            "flips",
        )
        if (
            self.axes is None
            or self.faces is None
            or self.how != "area"
            or any(getattr(self, other) is not None for other in others)
        ):
            raise ValueError("is of no known kind")
        if self.size > MAX_POINTS or any(not axis.grid.high <= MAX_NUMBER for axis in self.axes.values()):
            raise ValueError("has a grid that does not end")
        if any(len(face) != len(self.axes) + 1 or not any(face[:-1]) for face in self.faces):
            raise ValueError(
                "has a face without a number for each axis and one more, or with nothing but zeros"
            )
        if choices(len(self.faces), len(self.axes)) > MAX_CHOICES:
            raise ValueError("has an area with too many faces")

    def _check_size(self) -> None:
        if self.size > (MAX_VALUES if self.steps is None else MAX_STEPS + 1):
            raise ValueError(f"has {self.size:,} values or combinations; {MAX_VALUES:,} are the most")
        if self.retention is not None and len(self.retention) != self.size:
            raise ValueError("must have a probability to be kept for each of its values")
        if self.weights is not None and (len(self.weights) != self.size or not any(self.weights)):
            raise ValueError("must have a weight for each of its values, and not all of them 0")
        if self.matrix is not None and [len(row) for row in self.matrix] != [self.size] * self.size:
            raise ValueError("must have a matrix with a row and a column for each of its values")
        if self.matrix is not None and (abs(np.sum(self.matrix, axis=0) - 1) > 1e-9).any():
            raise ValueError("has a matrix with a column that is no distribution")
        if self.grid is not None:
            most = MAX_LOGARITHM if self.logarithm else MAX_NUMBER
            if not -most <= self.grid.low <= self.grid.high <= most:
                raise ValueError("has a grid that does not end")

    @property
    def size(self) -> int:
        """How many values it knows: grid points, values, or combinations of the values of several columns."""
        if self.axes is not None:
            return math.prod(axis.steps + 1 for axis in self.axes.values())
        if self.columns is not None:
            return math.prod(len(column.values) for column in self.columns.values())
        return len(self.values) if self.values is not None else (self.steps or 0) + 1

    @property
    def grid(self) -> GridForm | None:
        """The grid of a number; None if its domain is listed."""
        if self.low is None or self.step is None or self.steps is None:
            return None
        return GridForm(self.low, self.step, self.steps, bool(self.logarithm))

    def grid_of(self, column: str) -> GridForm | None:
        """Return the grid of one column that it speaks of."""
        return self.grid if self.axes is None else self.axes[column].grid

    def area_axes(self) -> list[Axis]:
        """Return the grids of an area."""
        return [Axis(axis.low, axis.step, axis.steps) for axis in (self.axes or {}).values()]

    def domain_to_json(self) -> dict[str, Any]:
        """Return the values, the combined columns, the grid or the area, as they stand in the file."""
        if self.axes is not None:
            grids = {
                name: axis.model_dump(mode="json", exclude={"scale"}) for name, axis in self.axes.items()
            }
            return {"axes": grids, "faces": [list(face) for face in self.faces or ()]}
        keys = {"values", "missing", "columns", "low", "step", "steps", "logarithm"}
        return self.model_dump(mode="json", include=keys, exclude_none=True)

    def values_by_column(self, name: str) -> dict[str, Values | None]:
        """Return the columns that it speaks of, under its own name if it joins none, with their values; None on a grid."""
        if self.columns is not None:
            return dict(self.columns)
        if self.axes is not None:
            return dict.fromkeys(self.axes)
        if self.values is None:
            return {name: None}
        return {name: Values(values=self.values, missing=self.missing)}


class TableLaw(_Form):
    """The laws of a whole table, by the attribute or the group of attributes that each speaks of."""

    method: Literal["randomize"]
    records: int = Field(ge=0, le=2**63)
    rows: int = Field(default=1, ge=1, le=MAX_ROWS)
    """How many records of one person or household epsilon and k protect together."""
    epsilon: Amount
    pk: Amount
    split: Literal[
        "least-error", "equal", "tie", "paper-tie", "least error", "paper tie"
    ]  # the last two: of old
    estimates: dict[str, Amount]
    """The epsilon spent on private estimates of histograms."""
    caveats: list[str]
    attributes: dict[str, LawForm] = Field(min_length=1, max_length=MAX_COLUMNS)

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> TableLaw:
        """Read the laws of a table from plain data."""
        if not isinstance(data, Mapping) or data.get("method") != "randomize" or "attributes" not in data:
            raise InputError(
                "This is not the law of a randomized table. Only a randomized table can be reconstructed, or verified by its law."
            )
        table = checked(cls, dict(data), "The law of the table", named=LAWS)
        table.columns()  # refused if two laws speak of one
        return table

    @classmethod
    def open(cls, path: Path) -> TableLaw:
        """Read the laws of a table from the file that was handed over with it."""
        try:
            return cls.of(read_json(path, "the law of the randomized table"))
        except InputError as error:
            raise InputError(f"{path}: {str(error).removeprefix(f'{path}: ')}") from None

    def columns(self) -> dict[str, str]:
        """Return the name of the law that speaks of each column."""
        law_of: dict[str, str] = {}
        for name, law in self.attributes.items():
            for column in law.values_by_column(name):
                if column in law_of:
                    raise InputError(
                        f"Two laws speak of the column '{column}'. Which of them holds is not told."
                    )
                law_of[column] = name
        return law_of


class RandomizationPlanForm(_Form):
    """The head of a saved plan of a randomized table: the law as it is published, and what else drawing by it needs."""

    version: Literal[1]
    kind: Literal["randomization"]
    requirement: dict[str, Any] = Field(max_length=10)
    bins: tuple[Text, ...] = Field(strict=False, max_length=MAX_COLUMNS)
    """The attributes whose values are put into bins."""
    true_histograms: tuple[Text, ...] = Field(strict=False, max_length=MAX_COLUMNS)
    """The laws that were made from the true histogram."""
    from_another: bool
    in_parquet: dict[str, Literal["retention", "matrix", "weights"]] = Field(max_length=MAX_COLUMNS)
    """The laws whose probabilities stand in a file of their own."""
    law: dict[str, Any]
    """As `TableLaw` has it, but for these probabilities."""

    @classmethod
    def of(cls, data: object) -> RandomizationPlanForm:
        """Read the head of a plan from plain data."""
        if not isinstance(data, Mapping) or data.get("kind") != "randomization":
            raise InputError("This is not the plan of a randomized table.")
        return checked(cls, dict(data), "The plan", named=LAWS)
