"""k-anonymity: everybody shares their quasi values with at least k - 1 others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from sudare.errors import RequirementError
from sudare.privacy.blocks import Blocks
from sudare.privacy.requirement import Measure, whole_number, worst_block
from sudare.tables.typed import typed


@typed
@dataclass(frozen=True)
class KAnonymity:
    """Every block has at least k records (Sweeney 2002).

    >>> from sudare.tables.counts import count
    >>> blocks = Blocks.of(count({"age": np.array([0, 0, 1, 1, 1])}, sizes=[2]), None)
    >>> KAnonymity(2).measure(blocks)
    Measure(name='k', value=2, holds=True, worst=0)
    """

    k: int
    name: ClassVar[str] = "k"
    attribute: ClassVar[None] = None
    needs_sensitive: ClassVar[bool] = False

    def __post_init__(self) -> None:
        whole_number(self.k, "k", "KAnonymity", least=1)

    def measure(self, blocks: Blocks) -> Measure:
        """Return the size of the smallest block: the largest k that holds."""
        worst = worst_block(blocks.sizes)
        value = int(blocks.sizes[worst])
        return Measure(self.name, value, value >= self.k, worst)

    def failing(self, blocks: Blocks) -> NDArray[np.bool_]:
        """A block fails if it has fewer than k records."""
        return np.asarray(blocks.sizes < self.k)

    def check(self, blocks: Blocks) -> None:
        """Any blocks have sizes."""

    def refuse_if_impossible(self, whole: Blocks, *, suppressing: bool = False) -> None:
        """No block can have more records than there are, whether or not some are left out."""
        records = int(whole.sizes.sum())
        if self.k > records:
            raise RequirementError(
                f"{self} is impossible: there are only {records:,} records. Ask for a smaller k."
            )

    def __str__(self) -> str:
        return f"{self.k}-anonymity"
