"""Recounting several views: which sensitive values they leave to every row, written anew from the definitions.

The views are given in the original's order of rows, so that a row is the same person in all: nobody outside knows
more. Nothing here comes from the methods, nor from what `privacy` measures with.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

import polars as pl
import polars.selectors as cs

SLACK = 1e-12


def blocks_of(frame: pl.DataFrame, quasi: Sequence[str]) -> pl.Series:
    """Number the rows by the texts of their published quasi values."""
    texts = frame.with_columns(cs.duration().to_physical()).select(
        pl.col(name).cast(pl.String) for name in quasi
    )
    return (
        texts.select(pl.struct(pl.all()).rank("dense")).to_series()
        if quasi
        else pl.Series([1] * frame.height)
    )


def least_left(blocks: Sequence[pl.Series], sensitive: pl.Series, kind: str) -> tuple[float, int]:
    """Return the smallest l that anybody is left with, and the first row that is; a block of None tells nothing.

    distinct: how many values occur in all blocks of the row. By counts: the entropy (as e^H), or 1 over the largest
    probability, of the posterior that is proportional to N(s) times the product of n(s) / N(s) over the views.
    """
    values = sensitive.cast(pl.String).fill_null("").rank("dense").cast(pl.Int64).to_list()
    totals = Counter(values)
    histograms: list[dict[Any, Counter[int]]] = []
    for column in blocks:
        found: dict[Any, Counter[int]] = {}
        for block, value in zip(column.to_list(), values, strict=True):
            found.setdefault(block, Counter())[value] += 1
        found[None] = totals
        histograms.append(found)
    least, worst, known = math.inf, 0, set()
    for row, own in enumerate(zip(*(column.to_list() for column in blocks), strict=True)):
        if own in known:
            continue
        known.add(own)
        left = _left([counts[block] for counts, block in zip(histograms, own, strict=True)], totals, kind)
        if left < least:
            least, worst = left, row
    return least, worst


def _left(histograms: Sequence[Counter[int]], totals: Counter[int], kind: str) -> float:
    common = set.intersection(*(set(histogram) for histogram in histograms))
    if kind == "distinct":
        return len(common)
    weights = [
        totals[s] * math.prod(histogram[s] / totals[s] for histogram in histograms) for s in sorted(common)
    ]
    whole = math.fsum(weights)
    if kind == "posterior":
        return whole / max(weights)
    return math.exp(-math.fsum(w / whole * math.log(w / whole) for w in weights))
