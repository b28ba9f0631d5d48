"""Compiled: the ChaCha20 keystream, and draws from it in integers alone.

Numbers are uint64 throughout: numba would make a float of uint64 and int together. What `take` calls is told not to
be inlined, since it would inherit that from `take` otherwise and be compiled anew wherever a word is taken.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import njit

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
LARGEST = np.uint64(2**63 - 1)
STEPS = 20
"""20! is the largest factorial below 2^64."""
RUNS = np.array([math.factorial(STEPS) // math.factorial(k) for k in range(STEPS + 1)], dtype=np.uint64)
"""Of the numbers below 20!, RUNS[k] is the k!-th part."""


# -- ChaCha20 --------------------------------------------------------------------------------------


@njit(cache=True, nogil=True, forceinline=True)
def _rotated(x: np.uint32, by: int) -> np.uint32:  # pragma: no cover
    return np.uint32(np.uint32(x << np.uint32(by)) | np.uint32(x >> np.uint32(32 - by)))


@njit(cache=True, nogil=True, forceinline=True)
def _quarter(a: np.uint32, b: np.uint32, c: np.uint32, d: np.uint32) -> Any:  # pragma: no cover
    """Return the quarter round of RFC 8439, 2.1."""
    a = np.uint32(a + b)
    d = _rotated(np.uint32(d ^ a), 16)
    c = np.uint32(c + d)
    b = _rotated(np.uint32(b ^ c), 12)
    a = np.uint32(a + b)
    d = _rotated(np.uint32(d ^ a), 8)
    c = np.uint32(c + d)
    b = _rotated(np.uint32(b ^ c), 7)
    return a, b, c, d


@njit(cache=True, nogil=True, forceinline=True)
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


@njit(cache=True, nogil=True, forceinline=True)
def _rounds(x: Any) -> Any:  # pragma: no cover
    """Return all twenty, written out: the compiler makes vectors only of a loop that has no loop in it."""
    return _double(_double(_double(_double(_double(_double(_double(_double(_double(_double(x))))))))))


@njit(cache=True, nogil=True, forceinline=False)
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


@njit(cache=True, nogil=True, forceinline=False)
def tap(key: Array, stream: np.uint64) -> Array:  # pragma: no cover
    """Return a tap at the start of a stream: the words that wait in it, and behind them what it must remember.

    That is one array because numba counts the holders of every array it passes on, which costs more than the words.
    """
    fresh = np.empty(BUFFER + 7, dtype=np.uint64)
    fresh[TAKEN], fresh[AFTER], fresh[STREAM] = BUFFER, 0, stream
    for k in range(4):
        fresh[KEY + k] = np.uint64(key[2 * k]) | (np.uint64(key[2 * k + 1]) << HALF)
    return fresh


@njit(cache=True, nogil=True, forceinline=False)
def _refill(tap: Array) -> None:  # pragma: no cover
    fill(tap[KEY:].view(np.uint32), tap[STREAM], tap[AFTER], tap[:BUFFER])
    tap[TAKEN] = 0
    tap[AFTER] += np.uint64(BUFFER // BLOCK)


@njit(cache=True, nogil=True, forceinline=True)
def take(tap: Array) -> np.uint64:  # pragma: no cover
    """Return the next word."""
    if tap[TAKEN] == BUFFER:
        _refill(tap)
    at = tap[TAKEN]
    tap[TAKEN] = at + ONE
    word: np.uint64 = tap[at]
    return word


@njit(cache=True, nogil=True, forceinline=True)
def _high(x: np.uint64, y: np.uint64) -> np.uint64:  # pragma: no cover
    """Return the upper half of the 128 bits of x y."""
    crossed = (x >> HALF) * (y & LOW) + (((x & LOW) * (y & LOW)) >> HALF)
    other = (x & LOW) * (y >> HALF) + (crossed & LOW)
    return (x >> HALF) * (y >> HALF) + (crossed >> HALF) + (other >> HALF)


@njit(cache=True, nogil=True, forceinline=True)
def below(tap: Array, n: np.uint64) -> np.uint64:  # pragma: no cover
    """Return a number below n, each as likely as the other (Lemire 2019).

    A word w falls to w n / 2^64; the few that would make some numbers likelier are drawn again.
    """
    word = take(tap)
    while word * n < n and word * n < (ZERO - n) % n:
        word = take(tap)
    return _high(word, n)


@njit(cache=True, nogil=True)
def fill_words(key: Array, stream: np.uint64, out: Array) -> None:  # pragma: no cover
    """Fill with the keystream of a stream from its start on, however long."""
    whole = out.size - out.size % (LANES * BLOCK)
    fill(key, stream, ZERO, out[:whole])
    rest = np.empty(LANES * BLOCK, dtype=np.uint64)
    fill(key, stream, np.uint64(whole // BLOCK), rest)
    for i in range(whole, out.size):
        out[i] = rest[i - whole]


@njit(cache=True, nogil=True)
def fill_below(key: Array, stream: np.uint64, n: np.uint64, out: Array) -> None:  # pragma: no cover
    """Fill with numbers below n."""
    source = tap(key, stream)
    for i in range(out.size):
        out[i] = below(source, n)


# -- Categories -------------------------------------------------------------------------------------


@njit(cache=True, nogil=True)
def retain(
    key: Array, stream: np.uint64, codes: Array, last: Array, share: Array, out: Array
) -> None:  # pragma: no cover
    """Keep each code j, or move it: words up to last[j] move it, each share[j] of them to another code.

    A share of 0 moves nothing. Where all words move, the few beyond the last whole share are drawn again.
    """
    source = tap(key, stream)
    others = np.uint64(share.size - 1)
    for i in range(codes.size):
        j = codes[i]
        out[i] = j
        word = take(source)
        if word > last[j] or share[j] == ZERO:
            continue
        to = word // share[j]
        while to >= others:
            to = take(source) // share[j]
        out[i] = to if to < j else to + ONE


@njit(cache=True, nogil=True)
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
        other[j] = largest[j]
        if weights[largest[j], j] == 0:
            continue
        left[:] = 0
        left[: weights.shape[0]] = weights[:, j]
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


@njit(cache=True, nogil=True)
def exchange(
    key: Array, stream: np.uint64, codes: Array, own: Array, other: Array, bits: int, out: Array
) -> None:  # pragma: no cover
    """Exchange each code for one drawn by its alias table: the upper bits choose the cell, the lower its part."""
    source = tap(key, stream)
    shift = np.uint64(64 - bits)
    lower = (ONE << shift) - ONE
    for i in range(codes.size):
        word = take(source)
        j, c = codes[i], word >> shift
        out[i] = c if word & lower < own[j, c] else np.uint64(other[j, c])


# -- Discrete Laplace noise (Canonne, Kamath and Steinke 2020) ---------------------------------------


@njit(cache=True, nogil=True, forceinline=True)
def _run(tap: Array) -> np.uint64:  # pragma: no cover
    """Return K >= 1 with Pr(K > k) = 1/k!: how far trials that succeed with 1/1, 1/2, 1/3, ... go.

    One number below 20! decides twenty trials.
    """
    x = below(tap, RUNS[0])
    k = 2
    while k <= STEPS and x < RUNS[k]:
        k += 1
    run = np.uint64(k)
    if k > STEPS:
        while below(tap, run) == ZERO:
            run += ONE
    return run


@njit(cache=True, nogil=True, forceinline=True)
def _exp_minus(tap: Array, u: np.uint64, t: np.uint64) -> bool:  # pragma: no cover
    """Return True with probability exp(-u/t), for u <= t (their Algorithm 1: is K odd for Pr(K > k) = (u/t)^k/k!)."""
    k, run = ONE, _run(tap)
    while k < run and (u == t or below(tap, t) < u):
        k += ONE
    return bool(k & ONE)


@njit(cache=True, nogil=True)
def fill_laplace(
    key: Array, stream: np.uint64, t: np.uint64, s: np.uint64, out: Array
) -> None:  # pragma: no cover
    """Fill with z of probability proportional to exp(-|z| s/t) (their Algorithm 2).

    The magnitude is (u + t v) // s, kept as quotient and rest so that nothing overflows.
    """
    source = tap(key, stream)
    quotient, rest = t // s, t % s
    for i in range(out.size):
        while True:
            u = below(source, t) if t > ONE else ZERO
            if u > ZERO and not _exp_minus(source, u, t):
                continue
            y, r = u // s, u % s
            while _exp_minus(source, ONE, ONE):
                y, r = min(y + quotient, LARGEST), r + rest
                if r >= s:
                    y, r = min(y + ONE, LARGEST), r - s
            negative = take(source) & ONE
            if y > ZERO or negative == ZERO:  # else 0 would count twice
                break
        out[i] = -np.int64(y) if negative else np.int64(y)


# -- Discrete Gaussian noise, and a choice among candidates -------------------------------------------


@njit(cache=True, nogil=True)
def exp_minus(tap: Array, whole: np.uint64, u: np.uint64, t: np.uint64) -> bool:  # pragma: no cover
    """Return True with probability exp(-(whole + u/t)), for u <= t."""
    for _ in range(whole):
        if not _exp_minus(tap, ONE, ONE):
            return False
    return u == ZERO or _exp_minus(tap, u, t)


@njit(cache=True, nogil=True)
def fill_gaussian(key: Array, stream: np.uint64, variance: np.uint64, out: Array) -> None:  # pragma: no cover
    """Fill with z of probability proportional to exp(-z^2 / (2 variance)) (their Algorithm 3).

    A Laplace z of scale t, about the deviation, stays with probability exp(-(|z| t - variance)^2 / (2 variance t^2)).
    """
    source = tap(key, stream)
    t = np.uint64(np.floor(np.sqrt(np.float64(variance)))) + ONE
    below_this = np.uint64(2) * variance * t * t
    draw = np.empty(1, dtype=np.int64)
    for i in range(out.size):
        while True:
            laplace_of(source, t, draw)
            size = np.uint64(abs(draw[0]))
            if size > np.uint64(16) * t:  # it would stay with a probability below e^-100
                continue
            far = size * t - variance if size * t > variance else variance - size * t
            square = far * far
            if exp_minus(source, square // below_this, square % below_this, below_this):
                out[i] = draw[0]
                break


@njit(cache=True, nogil=True)
def laplace_of(source: Array, t: np.uint64, out: Array) -> None:  # pragma: no cover
    """Draw one integer of probability proportional to exp(-|z| / t)."""
    while True:
        u = below(source, t) if t > ONE else ZERO
        if u > ZERO and not _exp_minus(source, u, t):
            continue
        y = u
        while _exp_minus(source, ONE, ONE):
            y += t
        negative = take(source) & ONE
        if y > ZERO or negative == ZERO:
            out[0] = -np.int64(y) if negative else np.int64(y)
            return


@njit(cache=True, nogil=True)
def choose(source: Array, losses: Array) -> int:  # pragma: no cover
    """Return i with a probability exactly proportional to exp(-losses[i] / 2^32): one proposed at random, until it stays."""
    n, one = np.uint64(losses.size), np.uint64(1) << np.uint64(32)
    while True:
        i = below(source, n)
        if exp_minus(source, losses[i] // one, losses[i] % one, one):
            return int(i)
