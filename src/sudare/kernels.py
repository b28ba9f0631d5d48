"""Compiled: the small steps that kernels of several rooms are made of."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

Array = np.ndarray[Any, Any]


@njit(cache=True, nogil=True, inline="always")
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


@njit(cache=True, nogil=True)
def slots_for(items: int) -> int:  # pragma: no cover
    """Return the size of a hash table for so many items: a power of two, at most half of it in use.

    >>> int(slots_for(5))
    16
    """
    slots = 2
    while slots < 2 * items:
        slots *= 2
    return slots


@njit(cache=True, nogil=True, inline="always")
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
