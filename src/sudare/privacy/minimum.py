"""The least that limits ask of every block: what bounds, and searches for blocks, may count on."""

from __future__ import annotations

import math
from typing import NamedTuple

from sudare.privacy.limits import Limits


def values_for(l: float) -> int:
    """Return how many sensitive values a block of l-diversity has at least; 3.0000000000000004 means 3."""
    return math.ceil(l - 1e-9)


def recursive_values(c: float, l: int) -> int:
    """Return how many sensitive values a block of recursive (c, l)-diversity has at least.

    With m values, r_1 < c (r_l + ... + r_m) <= c (m - l + 1) r_1, so that m - l + 1 is above 1/c.

    >>> recursive_values(2, 3), recursive_values(1, 3), recursive_values(0.5, 3)
    (3, 4, 5)
    """
    return l + math.floor(1 / c)


class BlockMinimum(NamedTuple):
    """What every block must have at least: so many records, with so many different sensitive values."""

    records: int
    values: int = 1
    log_l: float = 0.0
    """The least entropy; 0 asks for nothing."""
    recursive: tuple[tuple[float, float], ...] = ()
    """The recursive (c, l) that must all hold."""

    @classmethod
    def of(cls, limits: Limits) -> BlockMinimum:
        """Return what the limits ask of every block at least; see `values_of`. A block may be harmless altogether."""
        if limits.harmless.size:
            return cls(limits.k)
        values = values_of(limits)
        pairs = tuple((float(c), float(l)) for c, l in limits.recursive)
        return cls(max(limits.k, values), values, limits.log_l, pairs)


def values_of(limits: Limits) -> int:
    """Return how many sensitive values a block has at least that is not harmless altogether, the harmless not counted.

    Entropy l-diversity needs l or more, and so does proximity: no value has more than 1/l of the records.
    """
    recursive = [recursive_values(c, int(l)) for c, l in limits.recursive.tolist()]
    others = [values_for(l) for l in (math.exp(limits.log_l), *limits.near.tolist())]
    return max(limits.distinct, *recursive, *others)
