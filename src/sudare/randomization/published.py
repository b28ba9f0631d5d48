"""A randomized table as its receiver has it: the published rows, and the law of every attribute."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sudare.errors import InputError
from sudare.plans.law import Grid, LawForm
from sudare.randomization.bits import BitChannel
from sudare.randomization.channel import Channel, MatrixChannel
from sudare.randomization.laplace import LaplaceChannel
from sudare.randomization.laws import reflecting
from sudare.randomization.pram import Pram
from sudare.tables.numbers import numbers_of
from sudare.tables.text import shown, text_of

MOST_STEPS = 128  # of a grid on which numbers are estimated
WIDEST = Fraction(
    2**50
)  # scale of noise, in steps: it leaves nothing, and what is wider could not be computed with


@dataclass(frozen=True, eq=False)
class PublishedAttribute:
    """One attribute: its name, and what its codes stand for."""

    name: str
    values: list[Any]
    """Texts, or numbers (a day or second since 1970)."""
    numeric: bool = False
    dtype: pl.DataType = field(default_factory=pl.String)
    missing: str | None = None
    """The text that stands for a missing value, as the law has it; None if no value can be missing."""

    @property
    def step(self) -> float:
        """How far two neighbouring points of a grid are apart."""
        return float(self.values[1] - self.values[0]) if self.numeric else 0.0


@dataclass(frozen=True, eq=False)
class PublishedLaw:
    """What one law changed: the attributes, the code of every published row, and the channel that it came through.

    The code of several attributes is that of their combination; the last of them changes fastest.
    """

    attributes: tuple[PublishedAttribute, ...]
    codes: NDArray[np.int64]
    channel: Channel

    @classmethod
    def of(cls, data: pl.DataFrame, name: str, law: LawForm) -> PublishedLaw:
        """Read what is published under a law."""
        columns = law.values_by_column(name)
        if absent := [column for column in columns if column not in data.columns]:
            raise InputError(
                f"A law is published for the column '{absent[0]}', which the output does not have."
            )
        if law.grid is not None:
            return cls._on_grid(data[name], law, law.grid)
        attributes = tuple(
            PublishedAttribute(column, list(own.values), missing=own.missing)
            for column, own in columns.items()
            if own is not None
        )
        codes = [_codes(data[one.name], one) for one in attributes]
        shape = [len(one.values) for one in attributes]
        return cls(attributes, np.ravel_multi_index(tuple(codes), tuple(shape)), _channel(law))

    @classmethod
    def _on_grid(cls, column: pl.Series, law: LawForm, grid: Grid) -> PublishedLaw:
        """Read numbers. Noise on a finer grid than can be estimated is looked at on a coarser one."""
        numbers = _numbers(column)
        if law.scale is not None and grid.steps > MOST_STEPS:
            scale = Fraction(law.scale) * MOST_STEPS / grid.steps
            grid = Grid(grid.low, (grid.high - grid.low) / MOST_STEPS, MOST_STEPS)
            channel = _noise(grid.steps, scale, law)
        else:
            channel = _channel(law)
        codes = np.rint(np.clip((numbers - grid.low) / grid.step, 0, grid.steps)).astype(np.int64)
        values = (grid.low + grid.step * np.arange(grid.steps + 1)).tolist()
        return cls((PublishedAttribute(column.name, values, True, column.dtype),), codes, channel)

    def histogram(self) -> NDArray[np.float64]:
        """Count the published rows by code."""
        return np.bincount(self.codes, minlength=self.channel.outputs).astype(np.float64)

    def squares(self, counts: NDArray[np.float64], names: Collection[str]) -> NDArray[np.float64]:
        """Return sum_a (c G)[a]^2 w_a, where c is 1 for each combination of the named attributes, whatever the others."""
        if all(one.name in names for one in self.attributes):
            return self.channel.inverse_squares(counts)
        shape = [len(one.values) for one in self.attributes]
        kept = [axis for axis, one in enumerate(self.attributes) if one.name in names]
        places = np.indices(shape)[kept].reshape(len(kept), -1)
        cells = np.ravel_multi_index(tuple(places), tuple(shape[axis] for axis in kept))
        weights = (self.channel.inverse_weights(cells == cell) for cell in range(int(cells.max()) + 1))
        return np.stack([counts @ weight**2 for weight in weights], axis=-1)


def _numbers(column: pl.Series) -> NDArray[np.float64]:
    """Return the numbers, days or seconds of a column."""
    known = column.dtype.is_numeric() or column.dtype in (pl.Date, pl.Datetime)
    numbers = numbers_of(column) if known else np.array([np.nan])
    if not np.isfinite(numbers).all():
        raise InputError(
            f"Column '{column.name}' must hold numbers or dates, as its law says, and none missing."
        )
    return numbers


def _codes(column: pl.Series, attribute: PublishedAttribute) -> NDArray[np.int64]:
    """Return the code of every published value."""
    place = {label: code for code, label in enumerate(attribute.values)}
    if column.dtype.is_nested() or column.dtype in (pl.Binary, pl.Object):
        raise InputError(f"Column '{column.name}' holds {column.dtype}, which its law does not know.")
    found = column.alias("value").value_counts(name="records")["value"].to_list()
    texts = {value: attribute.missing if value is None else text_of(value) for value in found}
    for value, text in texts.items():
        if text not in place:
            what = "a missing value" if value is None else shown(text)
            raise InputError(f"Column '{column.name}' holds {what}, which its law does not know.")
    codes = [place[text] for text in texts.values() if text is not None]
    return column.replace_strict(list(texts), codes, return_dtype=pl.Int64).to_numpy()


def _channel(law: LawForm) -> Channel:
    if law.retention is not None:
        return Pram(1 - np.array(law.retention))
    if law.matrix is not None:
        return MatrixChannel(law.matrix)
    if law.flips is not None:
        return BitChannel(law.size, law.flips)
    return _noise(law.size - 1, Fraction(law.scale or 0), law)


def _noise(steps: int, scale: Fraction, law: LawForm) -> Channel:
    noise = LaplaceChannel(steps, min(scale, WIDEST))
    return reflecting(noise) if law.after == "reflect" else noise
