"""Compiled: the ChaCha20 keystream, word by word.

Numbers are uint64 throughout: numba would make a float of uint64 and int together. What `take` calls is told not to
be inlined, since it would inherit that from `take` otherwise and be compiled anew wherever a word is taken.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from sudare.kernels import kernel

Array = np.ndarray[Any, Any]

LANES = 16
"""Blocks made at once: a vector register of 32-bit words (where registers are shorter, two or four of them)."""
BLOCK = 8
"""Words of 64 bits in a block."""
BUFFER = 8 * LANES * BLOCK
"""Words that wait in a tap; few enough to stay in the nearest cache."""
TAKEN, AFTER, STREAM, KEY = BUFFER, BUFFER + 1, BUFFER + 2, BUFFER + 3
"""Behind them: how many are taken, the block after them, the stream and the key."""
HALF = np.uint64(32)
LOW = np.uint64(0xFFFFFFFF)
ZERO, ONE = np.uint64(0), np.uint64(1)


# -- ChaCha20 --------------------------------------------------------------------------------------


@njit(nogil=True, forceinline=True)
def _rotated(x: np.uint32, by: np.uint32) -> np.uint32:  # pragma: no cover
    return np.uint32(np.uint32(x << by) | np.uint32(x >> (np.uint32(32) - by)))


@njit(nogil=True, forceinline=True)
def _quarter(a: np.uint32, b: np.uint32, c: np.uint32, d: np.uint32) -> Any:  # pragma: no cover
    """Return the quarter round of RFC 8439, 2.1."""
    a = np.uint32(a + b)
    d = _rotated(np.uint32(d ^ a), np.uint32(16))
    c = np.uint32(c + d)
    b = _rotated(np.uint32(b ^ c), np.uint32(12))
    a = np.uint32(a + b)
    d = _rotated(np.uint32(d ^ a), np.uint32(8))
    c = np.uint32(c + d)
    b = _rotated(np.uint32(b ^ c), np.uint32(7))
    return a, b, c, d


@njit(nogil=True, forceinline=True)
def _double(x: Any) -> Any:  # pragma: no cover
    """Return a column round and a diagonal round (RFC 8439, 2.3)."""
    x0, x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11, x12, x13, x14, x15 = x
    x0, x4, x8, x12 = _quarter(x0, x4, x8, x12)
    x1, x5, x9, x13 = _quarter(x1, x5, x9, x13)
    x2, x6, x10, x14 = _quarter(x2, x6, x10, x14)
    x3, x7, x11, x15 = _quarter(x3, x7, x11, x15)
    x0, x5, x10, x15 = _quarter(x0, x5, x10, x15)
    x1, x6, x11, x12 = _quarter(x1, x6, x11, x12)
    x2, x7, x8, x13 = _quarter(x2, x7, x8, x13)
    x3, x4, x9, x14 = _quarter(x3, x4, x9, x14)
    return x0, x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11, x12, x13, x14, x15


@njit(nogil=True, forceinline=True)
def _rounds(x: Any) -> Any:  # pragma: no cover
    """Return all twenty, written out: the compiler makes vectors only of a loop that has no loop in it."""
    return _double(_double(_double(_double(_double(_double(_double(_double(_double(_double(x))))))))))


@njit(nogil=True, forceinline=False)
def fill(key: Array, stream: np.uint64, block: np.uint64, out: Array) -> None:  # pragma: no cover
    """Fill with the keystream of a stream from a block on; whole LANES of blocks only.

    The state has a 64-bit counter (the block) and a 64-bit nonce (the stream), as Bernstein's ChaCha has it. The
    RFC's counter is the lower half, and the first word of its nonce our upper half.
    """
    c0, c1 = np.uint32(0x61707865), np.uint32(0x3320646E)
    c2, c3 = np.uint32(0x79622D32), np.uint32(0x6B206574)
    k0, k1, k2, k3, k4, k5, k6, k7 = key[0], key[1], key[2], key[3], key[4], key[5], key[6], key[7]
    n0, n1 = np.uint32(stream & LOW), np.uint32(stream >> HALF)
    lanes = np.empty((16, LANES), dtype=np.uint32)
    for low in range(0, out.size, LANES * BLOCK):
        for j in range(LANES):
            count = block + np.uint64(low // BLOCK + j)
            b0, b1 = np.uint32(count & LOW), np.uint32(count >> HALF)
            start = (c0, c1, c2, c3, k0, k1, k2, k3, k4, k5, k6, k7, b0, b1, n0, n1)
            x = _rounds(start)
            lanes[0, j], lanes[1, j], lanes[2, j], lanes[3, j] = x[0] + c0, x[1] + c1, x[2] + c2, x[3] + c3
            lanes[4, j], lanes[5, j], lanes[6, j], lanes[7, j] = x[4] + k0, x[5] + k1, x[6] + k2, x[7] + k3
            lanes[8, j], lanes[9, j], lanes[10, j], lanes[11, j] = (
                x[8] + k4,
                x[9] + k5,
                x[10] + k6,
                x[11] + k7,
            )
            lanes[12, j], lanes[13, j] = x[12] + b0, x[13] + b1
            lanes[14, j], lanes[15, j] = x[14] + n0, x[15] + n1
        for j in range(LANES):
            for k in range(BLOCK):
                word = np.uint64(lanes[2 * k, j]) | (np.uint64(lanes[2 * k + 1, j]) << HALF)
                out[low + j * BLOCK + k] = word


# -- One word after the other -----------------------------------------------------------------------


@kernel
def tap(key: Array, stream: np.uint64) -> Array:  # pragma: no cover
    """Return a tap at the start of a stream: the words that wait in it, and behind them what it must remember.

    That is one array because numba counts the holders of every array it passes on, which costs more than the words.
    """
    fresh = np.empty(BUFFER + 7, dtype=np.uint64)
    fresh[TAKEN], fresh[AFTER], fresh[STREAM] = BUFFER, 0, stream
    for k in range(4):
        fresh[KEY + k] = np.uint64(key[2 * k]) | (np.uint64(key[2 * k + 1]) << HALF)
    return fresh


@njit(nogil=True, forceinline=False)
def _refill(tap: Array) -> None:  # pragma: no cover
    fill(tap[KEY:].view(np.uint32), tap[STREAM], tap[AFTER], tap[:BUFFER])
    tap[TAKEN] = 0
    tap[AFTER] += np.uint64(BUFFER // BLOCK)


@njit(nogil=True, forceinline=True)
def take(tap: Array) -> np.uint64:  # pragma: no cover
    """Return the next word."""
    if tap[TAKEN] == BUFFER:
        _refill(tap)
    at = tap[TAKEN]
    tap[TAKEN] = at + ONE
    word: np.uint64 = tap[at]
    return word


@njit(nogil=True, forceinline=True)
def _high(x: np.uint64, y: np.uint64) -> np.uint64:  # pragma: no cover
    """Return the upper half of the 128 bits of x y."""
    crossed = (x >> HALF) * (y & LOW) + (((x & LOW) * (y & LOW)) >> HALF)
    other = (x & LOW) * (y >> HALF) + (crossed & LOW)
    return (x >> HALF) * (y >> HALF) + (crossed >> HALF) + (other >> HALF)


@njit(nogil=True, forceinline=True)
def below(tap: Array, n: np.uint64) -> np.uint64:  # pragma: no cover
    """Return a number below n, each as likely as the other (Lemire 2019).

    A word w falls to w n / 2^64; the few that would make some numbers likelier are drawn again.
    """
    word = take(tap)
    while word * n < n and word * n < (ZERO - n) % n:
        word = take(tap)
    return _high(word, n)


@kernel
def fill_words(key: Array, stream: np.uint64, out: Array) -> None:  # pragma: no cover
    """Fill with the keystream of a stream from its start on, however long."""
    whole = out.size - out.size % (LANES * BLOCK)
    fill(key, stream, ZERO, out[:whole])
    rest = np.empty(LANES * BLOCK, dtype=np.uint64)
    fill(key, stream, np.uint64(whole // BLOCK), rest)
    for i in range(whole, out.size):
        out[i] = rest[i - whole]


@kernel
def fill_below(key: Array, stream: np.uint64, n: np.uint64, out: Array) -> None:  # pragma: no cover
    """Fill with numbers below n."""
    source = tap(key, stream)
    for i in range(out.size):
        out[i] = below(source, n)
