"""Compiled functions: how each kind is compiled, and the small steps that kernels of several rooms are made of.

Compiling costs every user seconds. A kernel takes named tuples of arrays, which it lends to its steps (`lent.py`), and room that is
made in Python; a step that is called in one place is best inlined there.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numpy as np
from numba import config, njit
from numba.extending import register_jitable

from sudare.compiled import Kernel
from sudare.linked import Linked, Step

Array = np.ndarray[Any, Any]

F = TypeVar("F", bound=Callable[..., Any])


_COMPILES: bool = not config.DISABLE_JIT  # type: ignore[attr-defined]
_BY_PYTHON: Any = {"nopython": True, "nogil": True}
_BY_KERNELS: Any = {**_BY_PYTHON, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}


def kernel(function: F) -> F:
    """Compile what Python calls; later processes find it compiled."""
    return cast(F, Kernel(function, targetoptions=_BY_PYTHON)) if _COMPILES else function


def step(function: F) -> F:
    """Compile what only kernels call: neither Python nor a later process needs it by itself."""
    if not _COMPILES:
        return function
    return cast(F, Step(function, targetoptions=_BY_KERNELS, pipeline_class=Linked))


def fast_step(function: F) -> F:
    """Compile a step whose sums may be added up in any order: in the same one for all kernels, so it is made ready by itself."""
    return cast(F, Step(function, targetoptions={**_BY_KERNELS, "fastmath": True})) if _COMPILES else function


def inlined(function: F) -> F:
    """Compile it as a part of each kernel or step that calls it."""
    return cast(F, njit(nogil=True, inline="always")(function))


def both(function: F) -> F:
    """Leave it to Python as it is, and compile it for kernels that call it."""
    compiled: F = register_jitable(function)
    return compiled


@inlined
def popcount(word: Any) -> Any:  # pragma: no cover
    """Count the bits of a 64-bit word that are set.

    >>> int(popcount(np.uint64(0b1011)))
    3
    """
    x = np.uint64(word)
    x = x - ((x >> np.uint64(1)) & np.uint64(0x5555555555555555))
    x = (x & np.uint64(0x3333333333333333)) + ((x >> np.uint64(2)) & np.uint64(0x3333333333333333))
    x = (x + (x >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((x * np.uint64(0x0101010101010101)) >> np.uint64(56))


@both
def slots_for(items: int) -> int:
    """Return the size of a hash table for so many items: a power of two, at most half of it in use.

    >>> slots_for(5)
    16
    """
    slots = 2
    while slots < 2 * items:
        slots *= 2
    return slots


@inlined
def slot_of(key: Any, turn: int, turn_at: Array, key_at: Array) -> Any:  # pragma: no cover
    """Return the slot of a key in a hash table, or the free slot where it belongs.

    Slots of an earlier turn are free (`turn_at[slot] != turn`), so that a table is emptied by taking another turn.
    Keys are 64-bit words, spread by Fibonacci hashing; a taken slot sends the search to the next one.
    """
    mask = turn_at.size - 1
    slot = np.int64((key * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(32)) & mask
    while turn_at[slot] == turn and key_at[slot] != key:
        slot = (slot + 1) & mask
    return slot


@step
def rank(keys: Array, order: Array) -> None:  # pragma: no cover
    """Sort places by rising keys (Shell's sort: all of `np.argsort` takes a second to compile wherever it is called)."""
    gap = order.size // 2
    while gap > 0:
        for i in range(gap, order.size):
            place, at = order[i], i
            while at >= gap and keys[order[at - gap]] > keys[place]:
                order[at] = order[at - gap]
                at -= gap
            order[at] = place
        gap //= 2


# -- Numbers at random, fast and always the same for a seed: for searches, never for what protects people ------------


def seeded(seed: int) -> Array:
    """Return the state of a generator (xorshift64*), which must not be 0."""
    return np.random.SeedSequence(seed).generate_state(1, np.uint64) | np.uint64(1)


@step
def _word(state: Array) -> Any:  # pragma: no cover
    x = state[0]
    x ^= x >> np.uint64(12)
    x ^= x << np.uint64(25)
    x ^= x >> np.uint64(27)
    state[0] = x
    return (x * np.uint64(0x2545F4914F6CDD1D)) >> np.uint64(32)


@step
def below(most: int, state: Array) -> Any:  # pragma: no cover
    """Return a whole number from 0 on, below another of less than 32 bits."""
    return np.int64((_word(state) * np.uint64(most)) >> np.uint64(32))


@step
def share(state: Array) -> Any:  # pragma: no cover
    """Return a number above 0 and below 1."""
    return (_word(state) + 0.5) * 2.0**-32
