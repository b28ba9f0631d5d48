"""Compiled: draws that have a probability of exp(-x), in integers alone (Canonne, Kamath and Steinke 2020).

Numbers are uint64 throughout: numba would make a float of uint64 and int together.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import njit

from sudare.kernels import kernel, step
from sudare.noise._chacha import ONE, ZERO, below, take, tap

Array = np.ndarray[Any, Any]

LARGEST = np.uint64(2**63 - 1)
STEPS = 20
"""20! is the largest factorial below 2^64."""
RUNS = np.array([math.factorial(STEPS) // math.factorial(k) for k in range(STEPS + 1)], dtype=np.uint64)
"""Of the numbers below 20!, RUNS[k] is the k!-th part."""


# -- Whether, with probability exp(-x) ------------------------------------------------------------------


@njit(nogil=True, forceinline=True)
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


@njit(nogil=True, forceinline=True)
def _exp_minus(tap: Array, u: np.uint64, t: np.uint64) -> bool:  # pragma: no cover
    """Return True with probability exp(-u/t), for u <= t (their Algorithm 1: is K odd for Pr(K > k) = (u/t)^k/k!)."""
    k, run = ONE, _run(tap)
    while k < run and (u == t or below(tap, t) < u):
        k += ONE
    return bool(k & ONE)


@step
def exp_minus(tap: Array, whole: np.uint64, u: np.uint64, t: np.uint64) -> bool:  # pragma: no cover
    """Return True with probability exp(-(whole + u/t)), for u <= t."""
    for _ in range(whole):
        if not _exp_minus(tap, ONE, ONE):
            return False
    return u == ZERO or _exp_minus(tap, u, t)


# -- Noise -------------------------------------------------------------------------------------------


@kernel
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


@step
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


@step
def exp_minus_product(
    tap: Array, u: np.uint64, t: np.uint64, v: np.uint64, w: np.uint64
) -> bool:  # pragma: no cover
    """Return True with probability exp(-(u/t) (v/w)).

    With whole parts taken out, (a + x)(b + y) = a b + a y + b x + x y. The last is below 1, and a chance of x y is two
    chances, so that no product of the four numbers is ever made.
    """
    a, b, x, y = u // t, v // w, u % t, v % w
    for _ in range(a * b):
        if not _exp_minus(tap, ONE, ONE):
            return False
    for _ in range(a):
        if not _exp_minus(tap, y, w):
            return False
    for _ in range(b):
        if not _exp_minus(tap, x, t):
            return False
    k, run = ONE, _run(tap)
    while k < run and below(tap, t) < x and below(tap, w) < y:
        k += ONE
    return bool(k & ONE)


@kernel
def fill_gaussian(key: Array, stream: np.uint64, variance: np.uint64, out: Array) -> None:  # pragma: no cover
    """Fill with z of probability proportional to exp(-z^2 / (2 variance)) (their Algorithm 3).

    A Laplace z of scale t, about the deviation, stays with probability exp(-(|z| t - variance)^2 / (2 variance t^2)).
    """
    source = tap(key, stream)
    t = np.uint64(np.floor(np.sqrt(np.float64(variance)))) + ONE
    draw = np.empty(1, dtype=np.int64)
    for i in range(out.size):
        while True:
            laplace_of(source, t, draw)
            size = np.uint64(abs(draw[0]))
            if size > np.uint64(16) * t:  # it would stay with a probability below e^-100
                continue
            far = size * t - variance if size * t > variance else variance - size * t
            if exp_minus_product(source, far, t * t, far, np.uint64(2) * variance):
                out[i] = draw[0]
                break


# -- A choice among candidates ------------------------------------------------------------------------


@kernel
def choose(source: Array, losses: Array) -> int:  # pragma: no cover
    """Return i with a probability exactly proportional to exp(-losses[i] / 2^32): one proposed at random, until it stays."""
    n, one = np.uint64(losses.size), np.uint64(1) << np.uint64(32)
    while True:
        i = below(source, n)
        if exp_minus(source, losses[i] // one, losses[i] % one, one):
            return int(i)


@kernel
def permute_and_flip(source: Array, losses: Array) -> int:  # pragma: no cover
    """Go through candidates in random order until one stays, each with probability exp(-losses[i] / 2^32); one loss is 0."""
    one, left = np.uint64(1) << np.uint64(32), np.arange(losses.size)
    for n in range(losses.size, 0, -1):
        k = below(source, np.uint64(n)) if n > 1 else ZERO
        i = left[k]
        if exp_minus(source, losses[i] // one, losses[i] % one, one):
            return int(i)
        left[k] = left[n - 1]
    return 0
