"""A randomized table as its receiver has it: the published rows, and the law of every attribute."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sudare.errors import InputError
from sudare.randomization.channel import Channel, MatrixChannel
from sudare.randomization.domains import numbers_of
from sudare.randomization.laplace import LaplaceChannel
from sudare.randomization.laws import BitChannel, reflecting
from sudare.randomization.pram import Pram
from sudare.tables.text import shown, text_of

MOST_STEPS = 128  # of a grid on which numbers are estimated


@dataclass(frozen=True, eq=False)
class PublishedAttribute:
    """One attribute: the code of every published row, what codes stand for, and the channel they came through."""

    name: str
    codes: NDArray[np.int64]
    channel: Channel
    values: list[Any]
    """What each input code stands for: a text, or a number (a day or second since 1970)."""
    numeric: bool
    dtype: pl.DataType = field(default_factory=pl.String)
    _dense: dict[str, NDArray[np.float64]] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, column: pl.Series, law: dict[str, Any]) -> PublishedAttribute:
        """Read a column and its law, as `Law.to_json` wrote it."""
        if "values" not in law:
            return cls._on_grid(column, law)
        channel = _channel(law)
        place = {label: code for code, label in enumerate(law["values"])}
        found = column.alias("value").value_counts(name="records")["value"].to_list()
        texts = {
            value: law.get("missing", "(missing)") if value is None else text_of(value) for value in found
        }
        if unknown := [text for text in texts.values() if text not in place]:
            raise InputError(
                f"Column '{column.name}' holds {shown(unknown[0])}, which its law does not know."
            )
        codes = column.replace_strict(
            list(texts), [place[text] for text in texts.values()], return_dtype=pl.Int64
        )
        return cls(column.name, codes.to_numpy(), channel, law["values"], False)

    @classmethod
    def _on_grid(cls, column: pl.Series, law: dict[str, Any]) -> PublishedAttribute:
        """Read numbers. Noise on a finer grid than can be estimated is looked at on a coarser one."""
        width = law["step"] * law["steps"]
        if "scale" in law and law["steps"] > MOST_STEPS:
            scale = Fraction(law["scale"]) * MOST_STEPS / law["steps"]
            law = law | {"steps": MOST_STEPS, "step": width / MOST_STEPS, "scale": str(scale)}
        codes = np.rint((numbers_of(column) - law["low"]) / law["step"]).astype(np.int64)
        values = (law["low"] + law["step"] * np.arange(law["steps"] + 1)).tolist()
        return cls(column.name, np.clip(codes, 0, law["steps"]), _channel(law), values, True, column.dtype)

    @property
    def step(self) -> float:
        """How far two neighbouring points of a grid are apart."""
        return float(self.values[1] - self.values[0]) if self.numeric else 0.0

    @property
    def missing(self) -> str:
        """The label of missing values."""
        return "(missing value)" if "(missing value)" in self.values else "(missing)"

    def dense(self, law: str) -> NDArray[np.float64]:
        """Return the whole matrix of what a channel does: "expected", "likelihoods", "inverse" or "inverse_squares"."""
        if law not in self._dense:
            size = self.channel.inputs if law == "expected" else self.channel.outputs
            apply = getattr(self.channel, law)
            self._dense[law] = np.stack([apply(one) for one in np.eye(size)], axis=1)
        return self._dense[law]

    def histogram(self) -> NDArray[np.float64]:
        """Count the published rows by code."""
        return np.bincount(self.codes, minlength=self.channel.outputs).astype(np.float64)


def _channel(law: dict[str, Any]) -> Channel:
    if "retention" in law:
        return Pram(1 - np.array(law["retention"]))
    if "scale" in law:
        noise = LaplaceChannel(law["steps"], Fraction(law["scale"]))
        return reflecting(noise) if law["after"] == "reflect" else noise
    if "flips" in law:
        return BitChannel(law["steps"] + 1, law["flips"])
    return MatrixChannel(law["matrix"])
