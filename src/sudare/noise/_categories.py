"""Compiled: codes exchanged for others, exactly as likely as integers over 2^64 say."""

from __future__ import annotations

from typing import Any

import numpy as np

from sudare.kernels import kernel
from sudare.noise._chacha import ONE, ZERO, take, tap

Array = np.ndarray[Any, Any]


@kernel
def retain(
    key: Array, stream: np.uint64, codes: Array, last: Array, share: Array
) -> None:  # pragma: no cover
    """Keep each code j, or move it: words up to last[j] move it, each share[j] of them to another code.

    A share of 0 moves nothing. Where all words move, the few beyond the last whole share are drawn again.
    """
    source = tap(key, stream)
    others = np.uint64(share.size - 1)
    for i in range(codes.size):
        j = codes[i]
        word = take(source)
        if word > last[j] or share[j] == ZERO:
            continue
        to = word // share[j]
        while to >= others:
            to = take(source) // share[j]
        codes[i] = to if to < j else to + ONE


@kernel
def alias_tables(weights: Array, largest: Array, bits: int) -> tuple[Array, Array]:  # pragma: no cover
    """Lay each column of weights, 2^64 together, out in 2^bits cells that hold 2^(64 - bits) each.

    The cell c is the code c's own below `own[j, c]`, and else belongs to `other[j, c]`: Walker's alias method, exact
    as all is integer. `largest` is where a column's largest weight is, which 0 says is all 2^64.
    """
    cells, room = 1 << bits, ONE << np.uint64(64 - bits)
    own = np.zeros((weights.shape[1], cells), dtype=np.uint64)
    other = np.zeros((weights.shape[1], cells), dtype=np.uint32)
    left = np.empty(cells, dtype=np.uint64)
    few, many = np.empty(cells, dtype=np.int64), np.empty(cells, dtype=np.int64)
    for j in range(weights.shape[1]):
        for c in range(cells):
            other[j, c] = largest[j]
            left[c] = weights[c, j] if c < weights.shape[0] else ZERO
        if weights[largest[j], j] == 0:
            continue
        n_few, n_many = 0, 0
        for c in range(cells):
            if left[c] < room:
                few[n_few] = c
                n_few += 1
            else:
                many[n_many] = c
                n_many += 1
        while n_many > 0:
            giver = many[n_many - 1]
            if left[giver] < room:  # it gave until it has too little for a cell itself
                few[n_few] = giver
                n_few += 1
                n_many -= 1
            elif n_few > 0:
                n_few -= 1
                c = few[n_few]
                own[j, c] = left[c]
                other[j, c] = giver
                left[giver] -= room - left[c]
            else:
                own[j, giver] = room
                n_many -= 1
    return own, other


@kernel
def exchange(
    key: Array, stream: np.uint64, codes: Array, own: Array, other: Array, bits: int
) -> None:  # pragma: no cover
    """Exchange each code for one drawn by its alias table: the upper bits choose the cell, the lower its part."""
    source = tap(key, stream)
    shift = np.uint64(64 - bits)
    lower = (ONE << shift) - ONE
    for i in range(codes.size):
        word = take(source)
        j, c = codes[i], word >> shift
        codes[i] = c if word & lower < own[j, c] else np.uint64(other[j, c])
