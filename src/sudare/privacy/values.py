"""What the sensitive values themselves say, beside how often each occurs: which are harmless, and which are close."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sudare.tables.text import spelled, spellings

Ints = NDArray[np.int64]

POSITION, END = 0, 1
"""The rows of `windows`: the codes by rising number, and where the window that starts at each of them ends."""

# Differences and products of floats are right to about 15 digits. What lies at the very end of a window is in it,
# however it was rounded: hence 3 digits more.
TOLERANCE = 1e-12


def named_values(given: Sequence[Any]) -> tuple[str, ...]:
    """Return the texts by which values are named, each once and in order; an empty one names what is missing.

    >>> named_values(["None", 25.0, "None", None])
    ('', '25', 'None')
    """
    return tuple(sorted({"" if value is None else spelled(value) for value in given}))


def is_named(value: Any, names: Collection[str]) -> bool:
    """Tell whether a value is one of those that are named.

    >>> is_named(25.0, ["25"]), is_named("25.0", ["25"]), is_named(None, [""])
    (True, False, True)
    """
    return not {"" if value is None else text for text in spellings(value)}.isdisjoint(names)


def codes_of(names: Collection[str], values: pl.Series, size: int) -> Ints:
    """Return the codes, of so many, whose values are named; the code after the last value is the missing one's."""
    known: list[Any] = [*values.to_list(), None][:size]
    return np.array([code for code, value in enumerate(known) if is_named(value, names)], dtype=np.int64)


def windows(values: pl.Series, size: int, within: float, *, relative: bool) -> Ints:
    """Return the codes by rising number, and for each place in that order the place where its window ends.

    The window of x has all numbers from x to x + within; if `relative`, to x (1 + within), or for negative ones to
    x / (1 + within), so that a number and its negative have windows alike. Zero is then close to nothing else. What is
    missing, or no number, is close to itself alone. Every interval of that width lies in the window of the least number in it.

    >>> windows(pl.Series([30, 10, 12]), 4, 2, relative=False).tolist()
    [[1, 2, 0, 3], [2, 2, 3, 4]]
    """
    numbers = np.full(size, np.nan)
    numbers[: len(values)] = values.cast(pl.Float64).to_numpy()
    finite = np.isfinite(numbers)
    order = np.concatenate([np.flatnonzero(finite), np.flatnonzero(~finite)])
    count = int(finite.sum())
    order[:count] = order[:count][np.argsort(numbers[order[:count]], kind="stable")]
    rising = numbers[order[:count]]
    limit = rising + within
    if relative:
        limit = np.where(rising > 0, rising * (1 + within), rising / (1 + within))
    limit += TOLERANCE * np.maximum(np.abs(rising), np.abs(limit))
    end = np.arange(1, size + 1)
    end[:count] = np.searchsorted(rising, limit, side="right")
    return np.stack([order, end]).astype(np.int64)


def window_groups(windows: Ints) -> NDArray[np.int32]:
    """Return a group for every code, so that each group lies in one window: as few groups as there can be.

    >>> window_groups(np.array([[1, 2, 0, 3], [2, 2, 3, 4]])).tolist()
    [1, 0, 0, 2]
    """
    groups = np.empty(windows.shape[1], dtype=np.int32)
    place = group = 0
    while place < windows.shape[1]:
        end = int(windows[END, place])
        groups[windows[POSITION, place:end]] = group
        place, group = end, group + 1
    return groups
