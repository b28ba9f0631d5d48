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
from sudare.randomization.bits import BitChannel
from sudare.randomization.channel import Channel, MatrixChannel
from sudare.randomization.laplace import LaplaceChannel
from sudare.randomization.laws import reflecting
from sudare.randomization.pram import Pram
from sudare.tables.numbers import numbers_of
from sudare.tables.text import shown, text_of

MOST_STEPS = 128  # of a grid on which numbers are estimated


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
    def of(cls, data: pl.DataFrame, name: str, law: dict[str, Any]) -> PublishedLaw:
        """Read what is published under a law, as `Law.to_json` wrote it."""
        if "steps" in law:
            return cls._on_grid(data[name], law)
        columns = columns_of(name, law)
        attributes = tuple(
            PublishedAttribute(column, own["values"], missing=own.get("missing"))
            for column, own in columns.items()
        )
        codes = [_codes(data[one.name], one) for one in attributes]
        shape = [len(one.values) for one in attributes]
        return cls(attributes, np.ravel_multi_index(tuple(codes), tuple(shape)), _channel(law))

    @classmethod
    def _on_grid(cls, column: pl.Series, law: dict[str, Any]) -> PublishedLaw:
        """Read numbers. Noise on a finer grid than can be estimated is looked at on a coarser one."""
        width = law["step"] * law["steps"]
        if "scale" in law and law["steps"] > MOST_STEPS:
            scale = Fraction(law["scale"]) * MOST_STEPS / law["steps"]
            law = law | {"steps": MOST_STEPS, "step": width / MOST_STEPS, "scale": str(scale)}
        codes = np.rint((numbers_of(column) - law["low"]) / law["step"]).astype(np.int64)
        values = (law["low"] + law["step"] * np.arange(law["steps"] + 1)).tolist()
        attribute = PublishedAttribute(column.name, values, True, column.dtype)
        return cls((attribute,), np.clip(codes, 0, law["steps"]), _channel(law))

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


def columns_of(name: str, law: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the columns that a law speaks of, with what it says of their values: those it joins, or its own."""
    return dict(law["columns"]) if "columns" in law else {name: law}


def _codes(column: pl.Series, attribute: PublishedAttribute) -> NDArray[np.int64]:
    """Return the code of every published value."""
    place = {label: code for code, label in enumerate(attribute.values)}
    found = column.alias("value").value_counts(name="records")["value"].to_list()
    texts = {value: attribute.missing if value is None else text_of(value) for value in found}
    for value, text in texts.items():
        if text not in place:
            what = "a missing value" if value is None else shown(text)
            raise InputError(f"Column '{column.name}' holds {what}, which its law does not know.")
    codes = [place[text] for text in texts.values() if text is not None]
    return column.replace_strict(list(texts), codes, return_dtype=pl.Int64).to_numpy()


def _channel(law: dict[str, Any]) -> Channel:
    if "retention" in law:
        return Pram(1 - np.array(law["retention"]))
    if "scale" in law:
        noise = LaplaceChannel(law["steps"], Fraction(law["scale"]))
        return reflecting(noise) if law["after"] == "reflect" else noise
    if "flips" in law:
        return BitChannel(law["steps"] + 1, law["flips"])
    return MatrixChannel(law["matrix"])
