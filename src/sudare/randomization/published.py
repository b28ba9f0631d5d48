"""A randomized table as its receiver has it: how often which values are published, and the law of every attribute."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray

from sudare.errors import InputError, ParameterError
from sudare.plans.law import GridForm, LawForm
from sudare.randomization.areas import Area, AreaChannel, estimable
from sudare.randomization.bits import BitChannel
from sudare.randomization.channel import Channel, Floats
from sudare.randomization.grids import Grid
from sudare.randomization.laplace import LaplaceChannel
from sudare.randomization.laws import channel_of, reflecting
from sudare.tables.numbers import numbers_of
from sudare.tables.runs import PublishedRows, Runs
from sudare.tables.text import shown, text_of

MAX_STEPS = 128  # of a grid on which numbers are estimated
MAX_FLIPPED = 2**9  # points whose bits are estimated one by one: the inverse of their whole matrix takes long
MAX_POINTS = (
    256  # of the box around an area, on which it is estimated: so few that its whole matrix is at hand
)
MAX_SCALE = Fraction(
    2**50
)  # of noise, in steps: it leaves nothing, and what is wider could not be computed with
MAX_COMBINATIONS = 2**24  # of the values of all attributes that are estimated together


@dataclass(frozen=True, eq=False)
class CodedAttribute:
    """One attribute: its name, and what its codes stand for."""

    name: str
    values: list[Any]
    """Texts, or numbers (a day or second since 1970)."""
    numeric: bool = False
    dtype: pl.DataType = field(default_factory=pl.String)
    missing: str | None = None
    """The text that stands for a missing value, as the law has it; None if no value can be missing."""
    logarithm: bool = False
    """Whether the logarithms of its numbers are equally far apart, and not these themselves."""

    @cached_property
    def axis(self) -> Floats:
        """The points of a grid, where they are equally far apart."""
        return self.along(self.values)

    def along(self, numbers: ArrayLike) -> Floats:
        """Return where numbers lie on that axis."""
        given = np.asarray(numbers, dtype=np.float64)
        return np.log(np.maximum(given, 1e-300)) if self.logarithm else given

    @property
    def step(self) -> float:
        """How far two neighbouring points of a grid are apart, on the axis."""
        return float(self.axis[-1] - self.axis[0]) / (len(self.values) - 1) if self.numeric else 0.0


@dataclass(frozen=True, eq=False)
class PublishedLaw:
    """What one law changed: its attributes, and the channel that their values came through.

    The code of several attributes is that of their combination; the last of them changes fastest.
    """

    attributes: tuple[CodedAttribute, ...]
    channel: Channel

    @classmethod
    def of(cls, name: str, form: LawForm, dtypes: Mapping[str, pl.DataType]) -> PublishedLaw:
        """Read a law; noise on a finer grid than can be estimated is looked at on a coarser one."""
        if form.axes is not None:
            return cls._of_area(name, form, dtypes)
        if form.grid is None:
            attributes = [
                CodedAttribute(column, list(own.values), missing=own.missing)
                for column, own in form.values_by_column(name).items()
                if own is not None
            ]
            return cls(tuple(attributes), channel_of(form))
        grid, channel = form.grid, channel_of(form)
        if isinstance(channel, LaplaceChannel):
            grid, channel = _estimable(form, grid, channel)
        elif isinstance(channel, BitChannel) and channel.size > MAX_FLIPPED:
            grid, channel = _highest_bits(grid, channel)
        axis = grid.low + grid.step * np.arange(grid.steps + 1)
        values = (np.exp(axis) if grid.logarithm else axis).tolist()
        attribute = CodedAttribute(name, values, True, dtypes[name], logarithm=grid.logarithm)
        return cls((attribute,), channel)

    @classmethod
    def _of_area(cls, name: str, form: LawForm, dtypes: Mapping[str, pl.DataType]) -> PublishedLaw:
        axes = form.axes or {}
        grids = tuple(Grid(column, dtypes[column], *axis.grid[:3]) for column, axis in axes.items())
        scales = tuple(Fraction(axis.scale) for axis in axes.values())
        whole = Area(name, grids, form.faces or ())
        _ = whole.corners  # refused if there are none
        area, channel = estimable(AreaChannel(whole, scales), MAX_POINTS)
        attributes = (
            CodedAttribute(grid.name, grid.numbers(np.arange(len(grid))).tolist(), True, grid.dtype)
            for grid in area.parts
        )
        return cls(tuple(attributes), channel)

    def codes(self, tuples: pl.DataFrame) -> NDArray[np.int64]:
        """Return the code of each of some published tuples."""
        columns = [_codes(tuples[one.name], one) for one in self.attributes]
        return np.ravel_multi_index(tuple(columns), tuple(len(one.values) for one in self.attributes))

    def squares(self, counts: Floats, names: Collection[str]) -> Floats:
        """Return sum_a (c G)[a]^2 w_a, where c is 1 for each combination of the named attributes, whatever the others."""
        if all(one.name in names for one in self.attributes):
            return self.channel.inverse_squares(counts)
        shape = [len(one.values) for one in self.attributes]
        kept = [axis for axis, one in enumerate(self.attributes) if one.name in names]
        places = np.indices(shape)[kept].reshape(len(kept), -1)
        cells = np.ravel_multi_index(tuple(places), tuple(shape[axis] for axis in kept))
        weights = (self.channel.inverse_weights(cells == cell) for cell in range(int(cells.max()) + 1))
        return np.stack([counts @ weight**2 for weight in weights], axis=-1)


@dataclass(frozen=True, eq=False)
class PublishedCounts:
    """How often what came out of some laws is published: one axis per law, with its codes."""

    laws: tuple[PublishedLaw, ...]
    counts: Floats

    def __post_init__(self) -> None:
        if self.counts.shape != tuple(law.channel.outputs for law in self.laws):
            raise ParameterError(
                "Counts of what is published must have a cell for each output of their laws."
            )

    @classmethod
    def of(cls, data: pl.DataFrame | PublishedRows, forms: Mapping[str, LawForm]) -> PublishedCounts:
        """Count what is published under some laws.

        >>> form = {"how": "retain", "epsilon": 1.1, "spread": 2.2, "values": ["no", "yes"], "retention": [0.75, 0.75]}
        >>> data = pl.DataFrame({"ill": ["yes", "no", "yes"]})
        >>> PublishedCounts.of(data, {"ill": LawForm.of("ill", form)}).counts.tolist()
        [1.0, 2.0]
        """
        columns = [column for name, form in forms.items() for column in form.values_by_column(name)]
        if absent := [column for column in columns if column not in data.columns]:
            raise InputError(
                f"A law is published for the column '{absent[0]}', which the output does not have."
            )
        runs = (Runs.of(data) if isinstance(data, pl.DataFrame) else data).counted(columns)
        if runs.rows.is_empty():
            raise InputError("There are no records to estimate from.")
        for name, form in forms.items():
            for column in form.values_by_column(name):
                _check(runs.rows[column], form.grid_of(column))
        laws = tuple(PublishedLaw.of(name, form, runs.rows.schema) for name, form in forms.items())
        shape = tuple(law.channel.outputs for law in laws)
        if math.prod(shape) > MAX_COMBINATIONS:
            raise ParameterError(
                f"{' x '.join(f'{size:,}' for size in shape)} combinations are too many to estimate at once. "
                "Ask for fewer attributes."
            )
        weight = f"records by {max(columns, key=len)}"
        rows = runs.rows.select(columns).with_columns(runs.lengths.alias(weight))
        tuples = rows.group_by(columns).agg(pl.sum(weight))
        cells = np.ravel_multi_index(tuple(law.codes(tuples) for law in laws), shape)
        counts = np.bincount(cells, tuples[:, -1].to_numpy().astype(np.float64), minlength=math.prod(shape))
        return cls(laws, np.asarray(counts.reshape(shape), dtype=np.float64))


def _estimable(form: LawForm, grid: GridForm, noise: LaplaceChannel) -> tuple[GridForm, Channel]:
    """Return a grid that is not too fine to estimate on, and what noise does there."""
    scale = noise.scale
    if grid.steps > MAX_STEPS:
        scale = scale * MAX_STEPS / grid.steps
        grid = grid._replace(step=(grid.high - grid.low) / MAX_STEPS, steps=MAX_STEPS)
    channel = LaplaceChannel(grid.steps, min(scale, MAX_SCALE))
    return grid, reflecting(channel) if form.after == "reflect" else channel


def _highest_bits(grid: GridForm, flips: BitChannel) -> tuple[GridForm, BitChannel]:
    """Return the middles of runs of points whose highest bits are equal, and what is done to these bits."""
    channel, together = flips.coarser(MAX_STEPS)
    middle = grid.low + (together - 1) / 2 * grid.step
    return grid._replace(low=middle, step=together * grid.step, steps=channel.size - 1), channel


def _check(column: pl.Series, grid: GridForm | None) -> None:
    """Refuse a column of a type that no law can produce, or with numbers beyond the ends of its grid."""
    if column.dtype.is_nested() or column.dtype in (pl.Binary, pl.Object):
        raise InputError(f"Column '{column.name}' holds {column.dtype}, which its law does not know.")
    if grid is not None and not grid.holds(_numbers(column)):
        raise InputError(f"Column '{column.name}' holds a value outside {grid}, which its law does not know.")


def _numbers(column: pl.Series) -> NDArray[np.float64]:
    """Return the numbers, days or seconds of a column."""
    known = column.dtype.is_numeric() or column.dtype in (pl.Date, pl.Datetime)
    numbers = numbers_of(column) if known else np.array([np.nan])
    if not np.isfinite(numbers).all():
        raise InputError(
            f"Column '{column.name}' must hold numbers or dates, as its law says, and none missing."
        )
    return numbers


def _codes(column: pl.Series, attribute: CodedAttribute) -> NDArray[np.int64]:
    """Return the code of every value: its place in the list, or the nearest grid point."""
    if attribute.numeric:
        steps = (attribute.along(_numbers(column)) - attribute.axis[0]) / attribute.step
        return np.asarray(np.rint(np.clip(steps, 0, len(attribute.values) - 1)).astype(np.int64))
    place = {label: code for code, label in enumerate(attribute.values)}
    texts = {
        value: attribute.missing if value is None else text_of(value) for value in column.unique().to_list()
    }
    for value, text in texts.items():
        if text not in place:
            what = "a missing value" if value is None else shown(text)
            raise InputError(f"Column '{column.name}' holds {what}, which its law does not know.")
    codes = [place[text] for text in texts.values() if text is not None]
    return column.replace_strict(list(texts), codes, return_dtype=pl.Int64).to_numpy()
