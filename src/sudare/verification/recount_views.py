"""Recounting several views: which sensitive values they leave to every row, written anew from the definitions.

`least_left` is given the views in one order of rows, so that a row is the same person in all: nobody outside knows more. Once they are handed over, only what each leaves alone, and `least_of_any`, can be said of them. Nothing here comes
from the methods, nor from what `privacy` measures with.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

import polars as pl

from sudare.tables.exact import exact, texts

TOLERANCE = 1e-12
MAX_COMBINATIONS = 50_000  # of blocks, one of each view, that are looked at one by one


def blocks_of(frame: pl.DataFrame, quasi: Sequence[str]) -> pl.Series:
    """Number the rows by the published quasi values that a receiver can distinguish."""
    if not quasi:
        return pl.Series([1] * frame.height)
    rows = pl.DataFrame([exact(frame[name]).alias(str(i)) for i, name in enumerate(quasi)])
    numbered = rows.unique().with_row_index("block")
    return rows.join(numbered, on=rows.columns, how="left", nulls_equal=True, maintain_order="left")["block"]


def least_left(
    blocks: Sequence[pl.Series], sensitive: pl.Series, kind: str, weights: pl.Series | None = None
) -> tuple[float, int]:
    """Return the smallest l that anybody is left with, and the first row that is; a block of None tells nothing.

    A row stands for so many records as `weights` say, or for one.

    distinct: how many values occur in all blocks of the row. By counts: the entropy (as e^H), or 1 over the largest
    probability, of the posterior that is proportional to N(s) times the product of n(s) / N(s) over the views.
    """
    values = texts(sensitive).fill_null("").to_list()
    numbers = [1] * len(values) if weights is None else weights.to_list()
    totals = _histograms(pl.Series([0] * len(values)), values, numbers)[0]
    histograms = [_histograms(column, values, numbers) | {None: totals} for column in blocks]
    least, worst, known = math.inf, 0, set()
    for row, own in enumerate(zip(*(column.to_list() for column in blocks), strict=True)):
        if own in known:
            continue
        known.add(own)
        left = _left([counts[block] for counts, block in zip(histograms, own, strict=True)], totals, kind)
        if left < least:
            least, worst = left, row
    return least, worst


def least_of_any(views: Sequence[tuple[pl.Series, pl.Series, pl.Series]], kind: str) -> float | None:
    """Return the smallest l that any blocks leave, one of each view, as if a person could be in any of them.

    A view is given by its blocks, its sensitive values and how many records each row stands for, in its own order of rows. Nobody outside knows who is in which
    blocks; but whoever it is has at least that. It is None where there are too many combinations to look at.
    """
    columns = [
        (blocks, texts(values).fill_null("").to_list(), weights.to_list())
        for blocks, values, weights in views
    ]
    _, values, numbers = columns[0]
    totals = _histograms(pl.Series([0] * len(values)), values, numbers)[0]
    different = [_different(_histograms(*column), kind) for column in columns]
    if math.prod(map(len, different)) > MAX_COMBINATIONS:
        return None
    return min(_left(histograms, totals, kind) for histograms in product(*different))


def _different(histograms: Mapping[Any, Counter[str]], kind: str) -> list[Counter[str]]:
    """Return histograms that differ in what the kind looks at: which values there are, or also how many."""
    if kind == "distinct":
        return [Counter(values) for values in {frozenset(histogram) for histogram in histograms.values()}]
    return [Counter(dict(items)) for items in {frozenset(h.items()) for h in histograms.values()}]


def _histograms(blocks: pl.Series, values: Sequence[str], numbers: Sequence[int]) -> dict[Any, Counter[str]]:
    """Count the sensitive values of each block, where a row stands for so many records."""
    histograms: dict[Any, Counter[str]] = {}
    for block, value, number in zip(blocks.to_list(), values, numbers, strict=True):
        histograms.setdefault(block, Counter())[value] += number
    return histograms


def _left(histograms: Sequence[Counter[str]], totals: Counter[str], kind: str) -> float:
    common = set.intersection(*(set(histogram) for histogram in histograms))
    if kind == "distinct" or not common:
        return len(common)
    weights = [
        totals[s] * math.prod(histogram[s] / totals[s] for histogram in histograms) for s in sorted(common)
    ]
    whole = math.fsum(weights)
    if kind == "posterior":
        return whole / max(weights)
    return math.exp(-math.fsum(w / whole * math.log(w / whole) for w in weights))
