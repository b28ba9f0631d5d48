"""Recounting what the sensitive values of a block say: without those that may be known, and how many lie close together.

Written anew from the definitions, in exact fractions: nothing here comes from the methods, nor from what `privacy` measures
with.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sudare.errors import InputError
from sudare.tables.text import shown, spellings
from sudare.verification.recount import RecountedBlocks
from sudare.verification.recount_values import Sensitive


def besides(blocks: RecountedBlocks, column: Sensitive, harmless: Sequence[str]) -> RecountedBlocks:
    """Return the blocks without the records whose value may be known; a block may then have no records."""
    every: list[Any] = [*column.values.to_list(), None]
    may_be_known = [_is_harmless(value, harmless) for value in every]
    kept = ~np.array(may_be_known)[blocks.value]
    block, count = blocks.block[kept], blocks.count[kept]
    sizes = np.zeros_like(blocks.sizes)
    np.add.at(sizes, block, count)
    return replace(blocks, sizes=sizes, block=block, value=blocks.value[kept], count=count)


def _is_harmless(value: Any, harmless: Sequence[str]) -> bool:
    """An empty text among the harmless stands for a missing value; a number is named by any of its spellings."""
    return "" in harmless if value is None else any(text in harmless for text in spellings(value))


def fullest(blocks: RecountedBlocks, column: Sensitive, within: float, *, relative: bool) -> list[int]:
    """Return how many records of each block lie in the fullest interval of a width; 0 where a block has none.

    Numbers are put in their exact order. The records from x on up to the last number that is within the width of x are a
    difference of running sums over the block. It is enough to look at intervals that begin at a value.
    """
    rank, end = _ranked(column, Fraction(str(within)), relative)
    wide = len(rank) + 1
    order = np.argsort(blocks.block * wide + rank[blocks.value], kind="stable")
    block, value, count = blocks.block[order], blocks.value[order], blocks.count[order]
    running = np.append(0, np.cumsum(count))
    last = np.searchsorted(block * wide + rank[value], block * wide + end[rank[value]])
    most = np.zeros(len(blocks.sizes), dtype=np.int64)
    np.maximum.at(most, block, running[last] - running[np.arange(len(block))])
    return [int(one) for one in most]


def _ranked(
    column: Sensitive, width: Fraction, relative: bool
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the rank of every value by its size, and for each rank the first that is no longer within the width."""
    numbers = [_exact(value, column.name) for value in column.values.to_list()] + [None]
    rising = sorted((number, code) for code, number in enumerate(numbers) if number is not None)
    alone = [code for code, number in enumerate(numbers) if number is None]
    rank = np.empty(len(numbers), dtype=np.int64)
    rank[[code for _, code in rising] + alone] = np.arange(len(numbers))
    end = np.arange(1, len(numbers) + 1)
    reached = 0
    for place, (x, _) in enumerate(rising):
        while reached < len(rising) and _is_within(x, rising[reached][0], width, relative):
            reached += 1
        end[place] = reached
    return rank, end


def _is_within(x: Fraction, y: Fraction, width: Fraction, relative: bool) -> bool:
    """Tell whether y, not yet known to be at least x, is no farther above it than the width."""
    if y <= x or not relative:
        return y - x <= width
    return (x > 0 or y < 0) and y - x <= width * min(abs(x), abs(y))


def _exact(value: Any, name: str) -> Fraction | None:
    """Return the number that is written; None for what is none, such as an infinite one, which is close to nothing."""
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        raise InputError(f"The output's column '{name}' has {shown(value)}, which is no number.")
    return Fraction(str(value)) if math.isfinite(value) else None
