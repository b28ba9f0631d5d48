"""l-diversity: nobody's sensitive value can be told from the block they are in."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from sudare.errors import RequirementError
from sudare.privacy import _kernels
from sudare.privacy.blocks import Blocks
from sudare.privacy.requirement import (
    Measure,
    attribute_name,
    check_sensitive,
    number,
    one_of,
    refused,
    settled,
    whole_number,
    worst_block,
)

Kind = Literal["distinct", "entropy", "recursive"]
KINDS = ("distinct", "entropy", "recursive")


@dataclass(frozen=True)
class LDiversity:
    """The sensitive values of every block are well represented (Machanavajjhala et al. 2006).

    - distinct: every block has at least l different values;
    - entropy: the entropy of the values in every block, -sum p log p, is at least log l;
    - recursive (c, l): r_1 < c (r_l + ... + r_m) in every block, where r_i is how often the i-th most
      frequent value occurs in it. Even to somebody who can rule out l - 2 of the others, the first
      does not prevail. (The paper lets l = 1 always hold; here the inequality decides.)

    A missing value counts as a value of its own. Of several sensitive attributes, `attribute` names the one
    that is meant. What is measured is the largest l that all blocks have.

    >>> import polars as pl, sudare as sd
    >>> table = sd.read(pl.DataFrame({"age": [20, 20, 20, 30, 30], "illness": ["flu", "flu", "cold", "flu", "cold"]}))
    >>> blocks = Blocks.of(table.counts(["age", "illness"]), "illness")
    >>> LDiversity(2).measure(blocks)
    Measure(name='l_distinct', value=2, holds=True, worst=0)
    >>> LDiversity(2, "entropy").failing(blocks).tolist()
    [True, False]
    >>> print(LDiversity(2, "recursive", c=3), LDiversity(2, "recursive", c=3).measure(blocks).holds)
    recursive (3, 2)-diversity True
    """

    l: float
    kind: Kind = "distinct"
    c: float | None = None
    attribute: str | None = None
    needs_sensitive: ClassVar[bool] = True

    def __post_init__(self) -> None:
        one_of(self.kind, "kind", "LDiversity", KINDS)
        attribute_name(self.attribute, "LDiversity")
        if self.kind == "entropy":
            number(self.l, "l", "LDiversity", "a number of 1 or more", low=1)
        else:
            whole_number(self.l, "l", "LDiversity", least=1)
        if self.kind == "recursive":
            number(self.c, "c", "LDiversity", "a number above 0 for kind='recursive'", low=math.ulp(0.0))
        elif self.c is not None:
            raise refused(self.c, "c", "LDiversity", f"left out for kind='{self.kind}'")

    @property
    def name(self) -> str:
        """The name under which the measured value is certified: l_distinct, l_entropy or l_recursive."""
        return f"l_{self.kind}"

    def measure(self, blocks: Blocks) -> Measure:
        """Return the largest l that all blocks have."""
        diversities = self._diversities(blocks)
        worst = worst_block(diversities)
        value = settled(math.exp(diversities[worst])) if self.kind == "entropy" else int(diversities[worst])
        return Measure(self.name, value, not bool(diversities[worst] < self._least), worst)

    def failing(self, blocks: Blocks) -> NDArray[np.bool_]:
        """A block fails if its sensitive values are not diverse enough."""
        return np.asarray(self._diversities(blocks) < self._least)

    def _diversities(self, blocks: Blocks) -> NDArray[np.float64] | NDArray[np.int64]:
        """Return what each block has: an l, or an entropy."""
        self.check(blocks)
        if self.kind == "distinct":
            return np.diff(blocks.start)
        if self.kind == "entropy":
            return np.asarray(_kernels.entropies(blocks.start, blocks.count, blocks.sizes))
        return np.asarray(_kernels.recursive_ls(blocks.start, blocks.count, float(self.c or 0)))

    @property
    def _least(self) -> float:
        return math.log(self.l) - _kernels.TOLERANCE if self.kind == "entropy" else self.l

    def check(self, blocks: Blocks) -> None:
        """The blocks must have been counted with the sensitive attribute."""
        check_sensitive(self, blocks)

    def refuse_if_impossible(self, whole: Blocks, *, suppressing: bool = False) -> None:
        """No table can be published that has more diversity in every block than as a whole.

        Blocks that are diverse are diverse together. Distinct: all their values remain. Entropy is concave:
        that of a mixture is at least the mean of its parts'. Recursive: over all sets S of l - 1 values, the most
        records that one S has is at most the sum of what the best S has in each block; so what lies outside,
        r_l + ... + r_m, is at least the sum over the blocks, while r_1 is at most the sum of the blocks' r_1.
        This fails once records may be left out, which can even out the rest. But each kind needs l different
        values in a block (e^entropy is at most their number; r_l > 0), and leaving out adds none.
        """
        self.check(whole)
        distinct = int(np.diff(whole.whole.start)[0])
        if distinct < self.l and (suppressing or self.kind != "entropy"):
            raise RequirementError(
                f"{self} is impossible: the table has only {distinct:,} distinct "
                f"{'value' if distinct == 1 else 'values'} of '{whole.sensitive}'. Ask for a smaller l."
            )
        if not suppressing and self.failing(whole.whole)[0]:
            raise RequirementError(f"{self} is impossible: {self._reason(whole.whole)}. Ask for less.")

    def _reason(self, whole: Blocks) -> str:
        if self.kind == "entropy":
            own = math.floor(100 * self.measure(whole).value) / 100  # never rounded up to what was asked
            return f"the table's own entropy is log {own:g}"
        falling = np.sort(whole.count)[::-1]
        tail = int(falling[int(self.l) - 1 :].sum())
        return (
            f"in the whole table the most frequent value of '{whole.sensitive}' has {int(falling[0]):,} records, "
            f"not fewer than {self.c:g} times the {tail:,} records of the values from number {self.l:g} on"
        )

    def __str__(self) -> str:
        l = int(self.l) if float(self.l).is_integer() else self.l
        words = (
            f"recursive ({self.c:g}, {l})-diversity"
            if self.kind == "recursive"
            else f"{self.kind} {l}-diversity"
        )
        return words if self.attribute is None else f"{words} of '{self.attribute}'"
