"""The columns of numbers that are published beside ranges: what they are called, and which attributes may have them."""

from __future__ import annotations

from typing import Literal

Numbers = Literal["ends", "means"]
"""The ends of each range, or the mean of each block."""
COLUMNS: dict[Numbers, tuple[str, ...]] = {"ends": ("low", "high"), "means": ("mean",)}
MIN_MEMBERS = 3
"""Records of a block that has a mean: of two, each knows the other's value by it."""


def columns_beside(name: str, numbers: Numbers) -> list[str]:
    """Return what the columns of numbers beside an attribute are called.

    >>> columns_beside("age", "ends")
    ['age_low', 'age_high']
    """
    return [f"{name}_{what}" for what in COLUMNS[numbers]]
