"""beta-likeness: no sensitive value is much more frequent in a block than in the whole table."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Literal

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
    one_of,
    worst_block,
)
from sudare.tables.typed import typed

Likeness = Literal["enhanced", "basic"]
LIKENESSES = ("enhanced", "basic")


@typed
@dataclass(frozen=True)
class BetaLikeness:
    """In no block does the share of a sensitive value grow by more than beta times its share of the table (Cao and Karras 2012).

    If p is a value's share of the table and q that of a block, then (q - p) / p is at most

    - enhanced: beta or -ln p, whichever is less, so that no value is certain in a block that is not so in the table;
    - basic: beta, whatever the value.

    A rare value may thus not grow to where t-closeness, which adds up what is moved, would still let it. A missing value is a value of
    its own. A value may become rarer, and be missing from a block: `DeltaDisclosure` limits that, too. What is measured is the
    least beta that would do; it is infinite where a value grows by more than -ln p.

    Two blocks that hold also hold together, since the share of a value in both is between its two shares.

    >>> import polars as pl, sudare as sd
    >>> table = sd.read(pl.DataFrame({"age": [20, 20, 20, 30, 30, 30], "illness": list("aabbbb")}))
    >>> blocks = Blocks.of(table.counts(["age", "illness"]), "illness")
    >>> BetaLikeness(1, "basic").measure(blocks)
    Measure(name='beta', value=1.0, holds=True, worst=0)
    >>> BetaLikeness(0.6).failing(blocks).tolist()
    [True, True]
    """

    beta: float
    kind: Likeness = "enhanced"
    attribute: str | None = None
    name: ClassVar[str] = "beta"
    needs_sensitive: ClassVar[bool] = True

    def __post_init__(self) -> None:
        one_of(self.kind, "kind", "BetaLikeness", LIKENESSES)
        attribute_name(self.attribute, "BetaLikeness")
        number(self.beta, "beta", "BetaLikeness", "a number of 0 or more", low=0)

    def measure(self, blocks: Blocks) -> Measure:
        """Return by how much a value's share grows at most, as a share of its share of the table."""
        failing = self.failing(blocks)
        p = blocks.shares[blocks.value]
        share = blocks.count / blocks.sizes[block_of_pairs(blocks)]
        growth = np.maximum((share / p - 1).round(12), 0)
        if self.kind == "enhanced":
            growth[share > p * (1 - np.log(p)) * (1 + TOLERANCE)] = math.inf
        of_block = np.maximum.reduceat(growth, blocks.start[:-1])
        worst = worst_block(of_block, largest=True)
        return Measure(self.name, float(of_block[worst]), not failing.any(), worst)

    def failing(self, blocks: Blocks) -> NDArray[np.bool_]:
        """A block fails if the share of one of its values has grown by more."""
        self.check(blocks)
        return outside(blocks, self.allowed(blocks.shares))

    def allowed(self, shares: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the least and the largest share of a block that each value may have, from its share of the table."""
        growth = np.full(len(shares), float(self.beta))
        if self.kind == "enhanced":
            there = shares > 0
            growth[there] = np.minimum(growth[there], -np.log(shares[there]))
        return np.stack([np.zeros(len(shares)), shares * (1 + growth)])

    def check(self, blocks: Blocks) -> None:
        """The blocks must have been counted with the sensitive attribute."""
        check_sensitive(self, blocks)

    def refuse_if_impossible(self, whole: Blocks, *, suppressing: bool = False) -> None:
        """Nothing is impossible: in the whole table as one block no share grows."""
        self.check(whole)

    def __str__(self) -> str:
        words = f"{self.kind} {self.beta:g}-likeness"
        return words if self.attribute is None else f"{words} of '{self.attribute}'"
