"""l-diversity: nobody's sensitive value can be told from the block they are in."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sudare.errors import InputError, ParameterError, RequirementError
from sudare.privacy import _kernels, values
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
from sudare.tables.text import shown
from sudare.tables.typed import typed

Kind = Literal["distinct", "entropy", "recursive", "proximity"]
KINDS = ("distinct", "entropy", "recursive", "proximity")
MAX_HARMLESS_SHOWN = 5  # values that are named in words


@typed
@dataclass(frozen=True)
class LDiversity:
    """The sensitive values of every block are well represented (Machanavajjhala et al. 2006).

    - distinct: every block has at least l different values;
    - entropy: the entropy of the values in every block, -sum p log p, is at least log l;
    - recursive (c, l): r_1 < c (r_l + ... + r_m) in every block, where r_i is how often the i-th most
      frequent value occurs in it. Even to somebody who can rule out l - 2 of the others, the first
      does not prevail. (The paper lets l = 1 always hold; here the inequality decides.)

    - proximity: of the records of every block, at most one in l lies in any interval of the width `within`, wherever it
      begins. Distinct incomes are no secret if they are all about the same. If `relative`, the interval is from x to
      x (1 + within), so that 0.05 means 5%; zero is then close to zero alone. It is for numbers only.

    Proximity is close to the (e, m)-anonymity of Li, Tao and Xiao (2008), which asks that at most 1/m of the records
    lie within e of any record's own value. That is not kept when blocks are merged: a value of the one may lie amid two
    crowds of the other, neither of which is near the other's values. Here all intervals count, not only those around values of the
    block: with `within` = 2e it implies (e, m)-anonymity for m = l, and two blocks that hold also hold together. (Declared ranges would
    merge as well, but two incomes on either side of a border would count as far apart.)

    `harmless` lists values that may be known of anybody, such as "No finding". A block in which all values are harmless is
    fine. In any other block, the records with other values must be l-diverse by themselves, as above: harmless
    values count neither for diversity nor against it. So it may be learned that somebody has a harmless value, or that it is another
    one; which of the others is what is kept. An empty text stands for a missing value.

    A missing value counts as a value of its own, close to no number. Of several sensitive attributes, `attribute` names the
    one that is meant. What is measured is the largest l that all blocks have; where all their values are harmless, the l asked for.

    >>> import polars as pl, sudare as sd
    >>> table = sd.read(pl.DataFrame({"age": [20, 20, 20, 30, 30], "illness": ["flu", "flu", "cold", "flu", "cold"]}))
    >>> blocks = Blocks.of(table.counts(["age", "illness"]), "illness")
    >>> LDiversity(2).measure(blocks)
    Measure(name='l_distinct', value=2, holds=True, worst=0)
    >>> LDiversity(2, "entropy").failing(blocks).tolist()
    [True, False]
    >>> print(LDiversity(2, "recursive", c=3), LDiversity(2, "recursive", c=3).measure(blocks).holds)
    recursive (3, 2)-diversity True
    >>> LDiversity(2, "entropy", harmless=["flu"]).failing(Blocks.of_table(table, ["age"], "illness")).tolist()
    [True, True]
    """

    l: float
    kind: Kind = "distinct"
    c: float | None = None
    attribute: str | None = None
    harmless: Sequence[Any] = field(default=(), kw_only=True)
    within: float | None = field(default=None, kw_only=True)
    relative: bool = field(default=False, kw_only=True)
    needs_sensitive: ClassVar[bool] = True

    def __post_init__(self) -> None:
        one_of(self.kind, "kind", "LDiversity", KINDS)
        attribute_name(self.attribute, "LDiversity")
        if self.kind in ("entropy", "proximity"):
            number(self.l, "l", "LDiversity", "a number of 1 or more", low=1)
        else:
            whole_number(self.l, "l", "LDiversity", least=1)
        if self.kind == "recursive":
            number(self.c, "c", "LDiversity", "a number above 0 for kind='recursive'", low=math.ulp(0.0))
        elif self.c is not None:
            raise refused(self.c, "c", "LDiversity", f"left out for kind='{self.kind}'")
        self._check_width()
        object.__setattr__(self, "harmless", _names(self.harmless))

    def _check_width(self) -> None:
        if not isinstance(self.relative, bool):
            raise refused(self.relative, "relative", "LDiversity", "true or false")
        if self.kind == "proximity":
            number(self.within, "within", "LDiversity", "a number of 0 or more for kind='proximity'", low=0)
        elif self.within is not None or self.relative:
            name, value = ("relative", True) if self.within is None else ("within", self.within)
            raise refused(value, name, "LDiversity", f"left out for kind='{self.kind}'")

    @property
    def name(self) -> str:
        """The name under which the measured value is certified: l_distinct, l_entropy, l_recursive or l_proximity."""
        return f"l_{self.kind}"

    def measure(self, blocks: Blocks) -> Measure:
        """Return the largest l that all blocks have."""
        diversities = self._diversities(blocks)
        worst = worst_block(diversities)
        value: float = diversities[worst]
        if value == math.inf:
            value = self.l
        elif self.kind in ("entropy", "proximity"):
            value = settled(math.exp(value) if self.kind == "entropy" else float(value))
        else:
            value = int(value)
        return Measure(self.name, value, not bool(diversities[worst] < self._least), worst)

    def failing(self, blocks: Blocks) -> NDArray[np.bool_]:
        """A block fails if its sensitive values are not diverse enough."""
        return np.asarray(self._diversities(blocks) < self._least)

    def _diversities(self, blocks: Blocks) -> NDArray[np.float64]:
        """Return what each block has: an l, or an entropy; infinite if all its values are harmless."""
        self.check(blocks)
        besides = blocks.without(self.harmless_codes(blocks)) if self.harmless else blocks
        if self.kind == "distinct":
            diversities = np.diff(besides.start)
        elif self.kind == "entropy":
            diversities = _kernels.entropies(besides.start, besides.count, besides.sizes)
        elif self.kind == "recursive":
            diversities = _kernels.recursive_ls(besides.start, besides.count, float(self.c or 0))
        else:
            diversities = besides.sizes / np.maximum(self._fullest(besides), 1)
        return np.where(besides.sizes > 0, diversities, np.inf)

    def _fullest(self, blocks: Blocks) -> NDArray[np.int64]:
        """Return how many records lie in the fullest window of each block."""
        windows = self.windows(blocks)
        place = np.empty(windows.shape[1], dtype=np.int64)
        place[windows[values.POSITION]] = np.arange(windows.shape[1])
        places = place[blocks.value]
        order = np.lexsort((places, np.repeat(np.arange(len(blocks)), np.diff(blocks.start))))
        ends = np.ascontiguousarray(windows[values.END])
        return np.asarray(_kernels.largest_windows(blocks.start, places[order], blocks.count[order], ends))

    def harmless_codes(self, blocks: Blocks) -> NDArray[np.int64]:
        """Return the codes of the harmless values."""
        if not self.harmless:
            return np.empty(0, dtype=np.int64)
        return values.codes_of(self.harmless, self._known(blocks), blocks.values)

    def windows(self, blocks: Blocks) -> NDArray[np.int64]:
        """Return which values lie within the width of each other; see `values.windows`."""
        known = self._known(blocks)
        if not known.dtype.is_numeric():
            raise InputError(
                f"{self} is for numbers, and '{blocks.sensitive}' has {known.dtype}. Declare its type in the schema, or ask for "
                "another diversity."
            )
        return values.windows(known, blocks.values, float(self.within or 0), relative=self.relative)

    def _known(self, blocks: Blocks) -> pl.Series:
        if blocks.known is None:
            raise InputError(f"{self} needs the sensitive values; the blocks were counted by codes alone.")
        return blocks.known

    @property
    def _least(self) -> float:
        if self.kind == "proximity":
            return self.l * (1 - _kernels.TOLERANCE)
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
        Proximity: a window has at most 1/l of the records of each block, and so of all together. With harmless
        values the same holds of the other records, of which a block may also have none.

        This fails once records may be left out, which can even out the rest. But each kind needs l different
        values in a block (e^entropy is at most their number; r_l > 0; a value has at most 1/l of the records, and of values
        that lie in l - 1 windows one window has more), and leaving out adds none. Only where all records but the harmless are
        left out is nothing needed.
        """
        self.check(whole)
        self.refuse_unknown(whole)
        besides = whole.whole.without(self.harmless_codes(whole))
        may_all_go = suppressing and besides.sizes[0] < whole.sizes.sum()
        if not besides.sizes[0] or may_all_go:
            return
        distinct = self._apart(besides)
        if distinct < self.l and (suppressing or self.kind in ("distinct", "recursive")):
            apart = f", {self._width} apart," if self.kind == "proximity" else ""
            raise RequirementError(
                f"{self} is impossible: the table has only {distinct:,} distinct "
                f"{'value' if distinct == 1 else 'values'} of '{whole.sensitive}'{apart}{self._besides}. Ask for a smaller l."
            )
        if not suppressing and self.failing(whole.whole)[0]:
            raise RequirementError(f"{self} is impossible: {self._reason(whole.whole)}. Ask for less.")

    def refuse_unknown(self, whole: Blocks) -> None:
        """Refuse harmless values that no record has: they may be written otherwise."""
        if not self.harmless:
            return
        known = [*self._known(whole).to_list(), None][: whole.values]
        there = [known[code] for code in np.unique(whole.value)]
        for name in self.harmless:
            if not any(values.is_named(value, [name]) for value in there):
                what = f"'{name}'" if name else "a missing value"
                raise ParameterError(
                    f"{self}: no record has {what} as its '{whole.sensitive}'. Name harmless values as they are written there."
                )

    def _apart(self, whole: Blocks) -> int:
        """Return how many values there are, of which no two lie in one window."""
        if self.kind != "proximity":
            return int(np.diff(whole.start)[0])
        windows = self.windows(whole)
        place = np.empty(windows.shape[1], dtype=np.int64)
        place[windows[values.POSITION]] = np.arange(windows.shape[1])
        number_apart, end = 0, 0
        for at in np.sort(place[whole.value]).tolist():
            if at >= end:
                number_apart, end = number_apart + 1, int(windows[values.END, at])
        return number_apart

    def _reason(self, whole: Blocks) -> str:
        besides = whole.without(self.harmless_codes(whole))
        if self.kind == "entropy":
            own = math.floor(100 * self.measure(whole).value) / 100  # never rounded up to what was asked
            return f"the table's own entropy is log {own:g}{self._besides}"
        if self.kind == "proximity":
            fullest = int(self._fullest(besides)[0])
            return (
                f"{fullest:,} of the table's {int(besides.sizes[0]):,} records have values of '{whole.sensitive}' within "
                f"{self._width} of each other{self._besides}"
            )
        falling = np.sort(besides.count)[::-1]
        tail = int(falling[int(self.l) - 1 :].sum())
        return (
            f"in the whole table the most frequent value of '{whole.sensitive}'{self._besides} has {int(falling[0]):,} records, "
            f"not fewer than {self.c:g} times the {tail:,} records of the values from number {self.l:g} on"
        )

    @property
    def _besides(self) -> str:
        return " beside the harmless ones" if self.harmless else ""

    @property
    def _width(self) -> str:
        return f"{100 * (self.within or 0):g}%" if self.relative else f"{self.within:g}"

    def __str__(self) -> str:
        l = int(self.l) if float(self.l).is_integer() else self.l
        words = (
            f"recursive ({self.c:g}, {l})-diversity"
            if self.kind == "recursive"
            else f"{self.kind} {l}-diversity"
        )
        if self.kind == "proximity":
            words += f" within {self._width}"
        if self.attribute is not None:
            words += f" of '{self.attribute}'"
        return f"{words} ({_shown(self.harmless)} harmless)" if self.harmless else words


def _names(given: object) -> tuple[str, ...]:
    """Check the 'harmless' parameter: some values."""
    if not isinstance(given, list | tuple | set | frozenset) or not all(
        value is None or isinstance(value, str | int | float) for value in given
    ):
        raise refused(given, "harmless", "LDiversity", 'a list of values, such as ["No finding"]')
    return values.named_values(list(given))


def _shown(names: Sequence[str]) -> str:
    texts = [shown(name) if name else "missing values" for name in names[:MAX_HARMLESS_SHOWN]]
    more = len(names) - len(texts)
    return ", ".join(texts) + (f" and {more:,} more" if more else "")
