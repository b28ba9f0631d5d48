"""t-closeness: a block's sensitive values are distributed nearly as the whole table's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from sudare.errors import InputError
from sudare.privacy import _kernels
from sudare.privacy.blocks import Blocks
from sudare.privacy.requirement import (
    Measure,
    attribute_name,
    check_sensitive,
    number,
    one_of,
    worst_block,
)
from sudare.privacy.tree import numbered_tree
from sudare.tables.typed import typed

Distance = Literal["equal", "ordered", "hierarchical"]
DISTANCES = ("equal", "ordered", "hierarchical")  # in the order of the kernels' numbers


@typed
@dataclass(frozen=True)
class TCloseness:
    """No block is further than t from the table (Li, Li and Venkatasubramanian 2007).

    The distance is the earth mover's: the least work that turns the block's distribution of sensitive values
    into the table's, where moving a share between two values costs

    - equal: 1, so that it is half the sum of the differences;
    - ordered: how many values apart they are in their order, of m - 1;
    - hierarchical: the level of their lowest common ancestor, of the hierarchy's height.

    A missing value is a value of its own: the last in the order, and met only at the root. What is measured
    is the largest distance of any block.

    >>> import polars as pl, sudare as sd
    >>> table = sd.read(pl.DataFrame({"age": [20, 20, 30, 30], "salary": [3, 4, 5, 5]}))
    >>> blocks = Blocks.of(table.counts(["age", "salary"]), "salary")
    >>> TCloseness(0.4, "ordered").measure(blocks)
    Measure(name='t', value=0.375, holds=True, worst=0)
    >>> TCloseness(0.4, "equal").failing(blocks).tolist()
    [True, True]
    """

    t: float
    distance: Distance = "equal"
    attribute: str | None = None
    name: ClassVar[str] = "t"
    needs_sensitive: ClassVar[bool] = True

    def __post_init__(self) -> None:
        one_of(self.distance, "distance", "TCloseness", DISTANCES)
        attribute_name(self.attribute, "TCloseness")
        number(self.t, "t", "TCloseness", "a number from 0 to 1", low=0, high=1)

    def measure(self, blocks: Blocks) -> Measure:
        """Return the largest distance of any block from the table."""
        distances = self._distances(blocks)
        rounded = distances.round(12)  # so that 0.375 is not shown as 0.37500000000000006
        worst = worst_block(rounded, largest=True)
        return Measure(self.name, float(rounded[worst]), not (distances > self._most).any(), worst)

    def failing(self, blocks: Blocks) -> NDArray[np.bool_]:
        """A block fails if it is further than t from the table."""
        return np.asarray(self._distances(blocks) > self._most)

    def _distances(self, blocks: Blocks) -> NDArray[np.float64]:
        self.check(blocks)
        return np.asarray(
            _kernels.distances(
                DISTANCES.index(self.distance),
                blocks.start,
                blocks.value,
                blocks.count,
                blocks.sizes,
                blocks.shares,
                numbered_tree(blocks.hierarchy),
            )
        )

    @property
    def _most(self) -> float:
        return self.t + _kernels.TOLERANCE

    def check(self, blocks: Blocks) -> None:
        """The blocks must have been counted with the sensitive attribute, and with its hierarchy if asked."""
        check_sensitive(self, blocks)
        if self.distance == "hierarchical" and blocks.hierarchy is None:
            raise InputError(
                f"{self} needs a hierarchy of '{blocks.sensitive}'. Give it one in the schema, or choose another distance."
            )

    def refuse_if_impossible(self, whole: Blocks, *, suppressing: bool = False) -> None:
        """Nothing is impossible: the whole table as one block is at distance 0 from itself."""
        self.check(whole)

    def __str__(self) -> str:
        words = f"{self.t:g}-closeness ({self.distance} distance)"
        return words if self.attribute is None else f"{words} of '{self.attribute}'"
