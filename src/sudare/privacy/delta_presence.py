"""delta-presence: of nobody in a population can it be told well whether they are in the table, nor whether they are not."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sudare.errors import InputError, ParameterError
from sudare.privacy._kernels import TOLERANCE
from sudare.privacy.blocks import Blocks
from sudare.privacy.requirement import Measure, number, worst_block
from sudare.tables.typed import typed


@typed
@dataclass(frozen=True)
class DeltaPresence:
    """Everybody of a population is in the table with a chance from d_min to d_max, as far as the table tells (Nergiz, Atzori and Clifton 2007).

    Where the labels of different blocks cover different people, the chance of each whom a block covers is how many records the
    block has, of the people whom it covers; and 0 of those whom no block covers, which is too little if d_min is more. Where labels
    overlap, people are put together whom the same blocks cover, for nothing tells these apart: of them no more are in the table than these
    blocks have records together, and no fewer than those of the blocks that cover nobody else.

    The population is a table of people as they are: a register of everybody, of whom those in the table are some. It is no part of what is
    promised in a certificate: whoever recounts brings their own. What is measured is the largest chance; or, where only d_min
    is missed, the least.

    >>> import polars as pl
    >>> DeltaPresence(0.5, population=pl.DataFrame({"age": [20, 30]}))
    DeltaPresence(d_max=0.5, d_min=0.0)
    """

    d_max: float
    d_min: float = 0.0
    population: Any = field(
        default=None, kw_only=True, compare=False, repr=False, metadata={"promised": False}
    )
    """People as they are: a frame, a file or a table, with the quasi attributes."""
    name: ClassVar[str] = "presence"
    attribute: ClassVar[None] = None
    needs_sensitive: ClassVar[bool] = False

    def __post_init__(self) -> None:
        for end in ("d_max", "d_min"):
            number(getattr(self, end), end, "DeltaPresence", "a number from 0 to 1", low=0, high=1)
        if not 0 < self.d_max >= self.d_min:
            raise ParameterError(
                f"The 'd_max' parameter of DeltaPresence must be above 0, and no less than d_min. Got {self.d_max:g} and "
                f"{self.d_min:g} instead."
            )

    def measure(self, blocks: Blocks) -> Measure:
        """Return the largest chance of anybody to be in the table; or the least, where that alone is wrong."""
        least, most = self._presence(blocks)
        failing = self.failing(blocks)
        only_least = failing.any() and not (most > self.d_max + TOLERANCE).any()
        worst = worst_block(least) if only_least else worst_block(most, largest=True)
        return Measure(self.name, float((least if only_least else most)[worst]), not failing.any(), worst)

    def failing(self, blocks: Blocks) -> NDArray[np.bool_]:
        """A block fails if somebody whom its labels cover is in the table with too large or too small a chance."""
        least, most = self._presence(blocks)
        return np.asarray((most > self.d_max + TOLERANCE) | (least < self.d_min - TOLERANCE))

    def check(self, blocks: Blocks) -> None:
        """Refuse blocks of which nobody counted whom their labels cover."""
        self._presence(blocks)

    def _presence(self, blocks: Blocks) -> NDArray[np.float64]:
        if blocks.presence is None:
            raise InputError(
                f"{self} needs the people of a population whom the labels of each block cover; they were not counted."
            )
        return blocks.presence

    def refuse_if_impossible(self, whole: Blocks, *, suppressing: bool = False) -> None:
        """Whether it is possible depends on the population."""
        if self.population is None:
            raise InputError(
                f"{self} is counted among the people of a population, and none was given. Give one: DeltaPresence({self.d_max:g}, "
                "population=...), or --population FILE."
            )

    def __str__(self) -> str:
        return f"({self.d_min:g}, {self.d_max:g})-presence"
