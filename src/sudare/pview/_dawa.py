"""Compiled: the buckets of DAWA. A bucket is an interval of a row of counts whose length is a power of two."""

from __future__ import annotations

from typing import Any

import numpy as np

from sudare.kernels import kernel
from sudare.noise._exponential import laplace_of
from sudare.pview._aggregation import steps, tally_add, tally_error

Array = np.ndarray[Any, Any]


@kernel
def interval_errors(counts: Array, ranks: Array, levels: Array) -> Array:  # pragma: no cover
    """Return the sum of |x - mean| over every interval: row l, column i is that of length 2^l which ends with i.

    Those that would begin before the first count are left out, as infinite. Levels are the distinct counts above 0,
    falling; ranks tell which is whose. Zeros need no place in the tally (see `_aggregation`).
    """
    n = counts.size
    lengths = 1
    while 2**lengths <= n:
        lengths += 1
    errors = np.full((lengths, n), np.inf)
    tally = np.empty((levels.size + 1, 2), dtype=np.int64)
    for l in range(lengths):
        length = 2**l
        tally[:] = 0
        total, occupied = 0, 0
        for i in range(n):
            if counts[i] > 0:
                tally_add(tally, ranks[i], counts[i])
                total += counts[i]
                occupied += 1
            gone = i - length
            if gone >= 0 and counts[gone] > 0:
                tally_add(tally, ranks[gone], -counts[gone])
                total -= counts[gone]
                occupied -= 1
            if gone >= -1:
                errors[l, i] = tally_error(tally, levels, total, occupied, float(length))
    return errors


@kernel
def cheapest(source: Array, errors: Array, scales: Array, each: int) -> Array:  # pragma: no cover
    """Return where the buckets of the cheapest partition begin, from the last to the first.

    A bucket costs its error in steps, `each` more, and Laplace noise of the scale of its length. Of equal partitions
    the one with the shorter last bucket is taken, then the shorter last but one, and so on.
    """
    lengths, n = errors.shape
    cost, begin = np.zeros(n + 1, dtype=np.int64), np.zeros(n + 1, dtype=np.int64)
    draw = np.empty(1, dtype=np.int64)
    for i in range(n):
        for l in range(lengths):
            start = i + 1 - 2**l
            if start < 0:
                break
            laplace_of(source, scales[l], draw)
            now = cost[start] + steps(errors[l, i]) + each + draw[0]
            if l == 0 or now < cost[i + 1]:
                cost[i + 1], begin[i + 1] = now, start
    begins = np.empty(n, dtype=np.int64)
    buckets, end = 0, n
    while end > 0:
        end = begin[end]
        begins[buckets] = end
        buckets += 1
    return begins[:buckets]
