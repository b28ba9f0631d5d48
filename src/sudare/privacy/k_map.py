"""k-map: everybody who is published could be any of k people of a population, of whom not all need be in the table."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sudare.errors import InputError
from sudare.privacy.blocks import Blocks
from sudare.privacy.requirement import Measure, whole_number, worst_block
from sudare.tables.typed import typed


@typed
@dataclass(frozen=True)
class KMap:
    """The labels of every record cover at least k people of a population (Sweeney 2002).

    The population is a table of people as they are: a register, or whatever is known of everybody. It is no part of what is
    promised in a certificate: whoever recounts brings their own.

    >>> import polars as pl
    >>> KMap(5, population=pl.DataFrame({"age": [20, 30]}))
    KMap(k=5)
    """

    k: int
    population: Any = field(
        default=None, kw_only=True, compare=False, repr=False, metadata={"promised": False}
    )
    """People as they are: a frame, a file or a table, with the quasi attributes."""
    name: ClassVar[str] = "k_map"
    attribute: ClassVar[None] = None
    needs_sensitive: ClassVar[bool] = False

    def __post_init__(self) -> None:
        whole_number(self.k, "k", "KMap", least=1)

    def measure(self, blocks: Blocks) -> Measure:
        """Return how many people the labels of a block cover that cover the fewest."""
        covered = self._covered(blocks)
        worst = worst_block(covered)
        value = int(covered[worst])
        return Measure(self.name, value, value >= self.k, worst)

    def failing(self, blocks: Blocks) -> NDArray[np.bool_]:
        """A block fails if its labels cover fewer than k people."""
        return np.asarray(self._covered(blocks) < self.k)

    def check(self, blocks: Blocks) -> None:
        """Refuse blocks of which nobody counted whom their labels cover."""
        self._covered(blocks)

    def _covered(self, blocks: Blocks) -> NDArray[np.int64]:
        if blocks.covered is None:
            raise InputError(
                f"{self} needs the people of a population whom the labels of each block cover; they were not counted."
            )
        return blocks.covered

    def refuse_if_impossible(self, whole: Blocks, *, suppressing: bool = False) -> None:
        """Whether it is possible depends on the population."""
        if self.population is None:
            raise InputError(
                f"{self} is counted among the people of a population, and none was given. Give one: KMap({self.k}, population=...), or "
                "--population FILE."
            )

    def __str__(self) -> str:
        return f"{self.k}-map"
