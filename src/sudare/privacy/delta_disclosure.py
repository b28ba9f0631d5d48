"""delta-disclosure privacy: no sensitive value is much more, or much less, frequent in a block than in the whole table."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from sudare.privacy._kernels import TOLERANCE
from sudare.privacy.allowed import block_of_pairs, outside
from sudare.privacy.blocks import Blocks
from sudare.privacy.requirement import (
    Measure,
    attribute_name,
    check_sensitive,
    number,
    worst_block,
)
from sudare.tables.typed import typed

LEAST_DELTA = 1e-6


@typed
@dataclass(frozen=True)
class DeltaDisclosure:
    """In every block, every value of the table has a share q with |ln(q / p)| < delta, p its share of the table (Brickell and Shmatikov 2008).

    So every block has every value of the table, a missing value among them, and neither that somebody has it nor that they do not
    becomes more than e^delta times as likely. (The logarithm is the natural one; with that to the base 2, delta is 1.44 times as large.) What is
    measured is the largest |ln(q / p)|; it is infinite where a block lacks a value.

    Two blocks that hold also hold together, since the share of a value in both is between its two shares.

    >>> import polars as pl, sudare as sd
    >>> table = sd.read(pl.DataFrame({"age": [20, 20, 20, 30, 30, 30], "illness": list("aabbba")}))
    >>> blocks = Blocks.of(table.counts(["age", "illness"]), "illness")
    >>> DeltaDisclosure(0.5).measure(blocks)
    Measure(name='disclosure', value=0.405465108108, holds=True, worst=0)
    >>> DeltaDisclosure(0.4).failing(blocks).tolist()
    [True, True]
    """

    delta: float
    attribute: str | None = None
    name: ClassVar[str] = "disclosure"
    needs_sensitive: ClassVar[bool] = True

    def __post_init__(self) -> None:
        attribute_name(self.attribute, "DeltaDisclosure")
        number(
            self.delta, "delta", "DeltaDisclosure", f"a number from {LEAST_DELTA:f} to 700", LEAST_DELTA, 700
        )

    def measure(self, blocks: Blocks) -> Measure:
        """Return the largest |ln(q / p)| of any value in any block."""
        failing = self.failing(blocks)
        share = blocks.count / blocks.sizes[block_of_pairs(blocks)]
        change = np.abs(np.log(share / blocks.shares[blocks.value])).round(12)
        of_block = np.maximum.reduceat(change, blocks.start[:-1])
        of_block[np.diff(blocks.start) < (blocks.shares > 0).sum()] = math.inf
        worst = worst_block(of_block, largest=True)
        return Measure(self.name, float(of_block[worst]), not failing.any(), worst)

    def failing(self, blocks: Blocks) -> NDArray[np.bool_]:
        """A block fails if it lacks a value of the table, or has it delta or more more often or more rarely."""
        self.check(blocks)
        return outside(blocks, self.allowed(blocks.shares))

    def allowed(self, shares: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the least and the largest share of a block that each value may have, from its share of the table.

        Less than delta is asked for: so the ends lie inside, by more than what rounding is forgiven.
        """
        change = math.exp(self.delta)
        return np.stack([shares / change * (1 + 2 * TOLERANCE), shares * change * (1 - 2 * TOLERANCE)])

    def check(self, blocks: Blocks) -> None:
        """The blocks must have been counted with the sensitive attribute."""
        check_sensitive(self, blocks)

    def refuse_if_impossible(self, whole: Blocks, *, suppressing: bool = False) -> None:
        """Nothing is impossible: the whole table as one block is what it is compared with."""
        self.check(whole)

    def __str__(self) -> str:
        words = f"{self.delta:g}-disclosure privacy"
        return words if self.attribute is None else f"{words} of '{self.attribute}'"
