"""Compiled: which blocks everybody may be in, and how many records of each sensitive value these have."""

from __future__ import annotations

from typing import Any

import numpy as np

from sudare.kernels import kernel, popcount

Array = np.ndarray[Any, Any]


@kernel
def mark_blocks(
    label_of: Array, starts: Array, covered: Array, first: int, stop: int, values: int
) -> Array:  # pragma: no cover
    """Return for every value which of the blocks from `first` to `stop` cover it, one bit each.

    `label_of` has the label of each block, by attribute; label i covers the values covered[starts[i] : starts[i + 1]].
    """
    bits = np.zeros((values, (stop - first + 63) >> 6), dtype=np.uint64)
    for a in range(label_of.shape[0]):
        for b in range(stop - first):
            label = label_of[a, first + b]
            bit = np.uint64(1) << np.uint64(b & 63)
            for i in range(starts[label], starts[label + 1]):
                bits[covered[i], b >> 6] |= bit
    return bits


@kernel
def add_records(
    people: Array, bits: Array, first: int, starts: Array, sensitive: Array, counts: Array, totals: Array
) -> None:  # pragma: no cover
    """Add to `totals` the records of every sensitive value in all blocks that cover a person's values.

    `people` has the values of each person, one per attribute; block b has counts[i] records of sensitive[i], for i from
    starts[b] to starts[b + 1].
    """
    for u in range(people.shape[0]):
        for w in range(bits.shape[1]):
            word = bits[people[u, 0], w]
            for a in range(1, people.shape[1]):
                if word == 0:
                    break
                word &= bits[people[u, a], w]
            while word != 0:
                b = first + 64 * w + popcount(word ^ (word - np.uint64(1))) - 1  # the lowest bit
                word &= word - np.uint64(1)
                for i in range(starts[b], starts[b + 1]):
                    totals[u, sensitive[i]] += counts[i]
