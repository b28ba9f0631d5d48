"""Recounting: the blocks of a published table, and how diverse and how close their sensitive values are.

Written anew from the definitions, in polars and whole numbers: nothing here comes from the methods, nor
from what `privacy` measures with, so that a fault there cannot hide itself.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sudare.tables.attribute import Attribute
from sudare.tables.exact import exact, texts
from sudare.verification.recount_values import Sensitive, paths_of

# Sums of logarithms, and thresholds such as 0.1, are right only to 15 digits or so.
TOLERANCE = Fraction(1, 10**12)


@dataclass(frozen=True)
class RecountedBlocks:
    """The blocks in the order of their published texts, and how many records have which sensitive value in them."""

    quasi: pl.DataFrame
    sizes: NDArray[np.int64]
    block: NDArray[np.int64]
    """Of each pair of a block and a value in it, in rising order: the block; and below the value and the count."""
    value: NDArray[np.int64]
    count: NDArray[np.int64]
    whole: NDArray[np.int64]
    """How many records of the whole output have each value. These blocks may be some of its blocks only."""

    def named(self, block: int) -> dict[str, Any]:
        """Return the quasi values of a block as they are published."""
        return self.quasi.row(block, named=True) if self.quasi.width else {}


def count_blocks(
    frame: pl.DataFrame,
    weights: pl.Series,
    quasi: list[str],
    codes: pl.Series | None,
    whole: NDArray[np.int64],
) -> RecountedBlocks:
    """Group the records by the quasi values that a receiver can distinguish; without any, all are one block.

    A row of the frame stands for so many records as `weights` says, and has the sensitive value of the number in `codes`.
    """
    keys = [str(i) for i in range(len(quasi))]  # so that no column can have the name of ours
    rows = frame.select(
        pl.repeat(0, frame.height).alias("all"),
        pl.int_range(frame.height).alias("row"),
        *(exact(frame[name]).alias(key) for name, key in zip(quasi, keys, strict=True)),
    )
    first = rows.select(pl.min("row").over("all", *keys)).to_series().to_numpy()  # the first row of its block
    own = np.flatnonzero(first == np.arange(frame.height))
    written = [texts(frame[name].gather(own)) for name in quasi]
    shown = pl.DataFrame(
        [*(text.alias(key) for text, key in zip(written, keys, strict=True)), pl.Series("row", own)]
    )
    order = shown.select(pl.arg_sort_by(shown.columns)).to_series().to_numpy()
    rank = np.empty(frame.height, dtype=np.int64)  # of the block, for the first of its rows
    rank[own[order]] = np.arange(len(own))
    value = np.zeros(frame.height, dtype=np.int64) if codes is None else codes.cast(pl.Int64).to_numpy()
    values = int(value.max(initial=0)) + 1
    pairs, pair_of = np.unique(rank[first] * values + value, return_inverse=True)
    count = _summed(pair_of, weights.cast(pl.Int64).to_numpy(), len(pairs))
    block = pairs // values
    named = pl.DataFrame([text.gather(order) for text in written])
    return RecountedBlocks(named, _summed(block, count, len(own)), block, pairs % values, count, whole)


def _summed(group_of: NDArray[np.int64], numbers: NDArray[np.int64], groups: int) -> NDArray[np.int64]:
    sums = np.zeros(groups, dtype=np.int64)
    np.add.at(sums, group_of, numbers)
    return sums


# -- l-diversity: what each block has --------------------------------------------------------------


def distinct_values(blocks: RecountedBlocks) -> list[int]:
    """Return how many sensitive values each block has."""
    return [int(values) for values in _values_in(blocks)]


def _values_in(blocks: RecountedBlocks) -> NDArray[np.int64]:
    return np.bincount(blocks.block, minlength=len(blocks.sizes))


def entropies(blocks: RecountedBlocks) -> list[float]:
    """Return the entropy of each block, -sum p log p."""
    shares = blocks.count / blocks.sizes[blocks.block]
    terms = (-shares * np.log(shares)).tolist()
    ends = np.cumsum(_values_in(blocks)).tolist()
    return [math.fsum(terms[start:end]) for start, end in zip([0, *ends], ends, strict=False)]


def perplexity(entropy: float) -> float:
    """Return e^entropy: of l equally frequent values it is l, and not 2.9999999999999996."""
    l = math.exp(entropy)
    return float(round(l)) if abs(l - round(l)) <= TOLERANCE * l else l


def recursive_ls(blocks: RecountedBlocks, c: float) -> list[int]:
    """Return the largest l for which r_1 < c (r_l + ... + r_m) in each block; 0 if there is none.

    The tail r_l + ... + r_m falls with l, so the l is how many tails are above r_1 / c. An equality that
    only the rounding of c breaks is one: hence the tolerance.
    """
    pairs = pl.DataFrame({"block": blocks.block, "count": blocks.count}).with_columns(
        first=pl.max("count").over("block")
    )
    limit, above = Fraction(c) * (1 - TOLERANCE), int(blocks.sizes.max()) + 1
    least = {first: min(math.floor(first / limit) + 1, above) for first in pairs["first"].unique().to_list()}
    tails = (
        pairs.sort("block", "count", descending=[False, True])
        .with_columns(tail=pl.col("count").cum_sum(reverse=True).over("block"))
        .with_columns(least=pl.col("first").replace_strict(least, return_dtype=pl.Int64))
        .group_by("block")
        .agg(l=(pl.col("tail") >= pl.col("least")).sum().cast(pl.Int64))
    )
    ls = np.zeros(len(blocks.sizes), dtype=np.int64)
    ls[tails["block"].to_numpy()] = tails["l"].to_numpy()
    return [int(l) for l in ls]


# -- t-closeness: how far each block is from the whole output ----------------------------------------


def flat_distances(blocks: RecountedBlocks, sensitive: Sensitive) -> list[Fraction]:
    """Return the distances where moving a share from any value to any other costs 1: half the sum of the differences."""
    return _tree_distances(blocks, np.arange(sensitive.size)[None, :])


def tree_distances(blocks: RecountedBlocks, sensitive: Sensitive, attribute: Attribute) -> list[Fraction]:
    """Return the distances where moving a share costs the level of the lowest common ancestor, of the hierarchy's height."""
    return _tree_distances(blocks, paths_of(sensitive, attribute))


def _tree_distances(blocks: RecountedBlocks, paths: NDArray[np.int64]) -> list[Fraction]:
    """Return the distances in a tree in which value v is under node paths[level, v] at each level below the root.

    Two values that meet at level i are 2i edges apart, each of the length 1 / (2 height). On a tree, the least
    work is the sum over its edges of what must cross each: the difference of the shares in the subtree below it.
    In whole numbers, times n N, a subtree with `count` of the block's n and `whole` of all N records has
    |N count - n whole|; where `count` is 0 that is n whole, and the sum of n whole over a level is n N.
    """
    height, records = len(paths), int(blocks.whole.sum())
    n, N = _exact(blocks.sizes, 2 * height * records**2), records
    work = height * n * N
    for nodes in paths:
        pairs = pl.DataFrame({"block": blocks.block, "node": nodes[blocks.value], "count": blocks.count})
        pairs = pairs.group_by("block", "node").agg(pl.sum("count"))
        whole = np.bincount(nodes, blocks.whole).astype(np.int64)
        block, node = pairs["block"].to_numpy(), pairs["node"].to_numpy()
        expected = n[block] * whole[node]
        np.add.at(work, block, abs(N * pairs["count"].to_numpy().astype(n.dtype) - expected) - expected)
    return _ratios(work, 2 * height * N * n)


def ordered_distances(blocks: RecountedBlocks, m: int) -> list[Fraction]:
    """Return the distances where moving a share costs how many of the m values it passes, of m - 1.

    The least work is the sum, over the m - 1 places between neighbours, of what must cross there: the difference
    of the shares before it. In whole numbers, times n N, it is |N before - n whole_before[place]|. From one value
    of the block to the next, `before` stays the same while `whole_before` rises: up to `turn` the first
    is at least as large, and from there on the second; so the sums come from the running ones.
    """
    N = int(blocks.whole.sum())
    n = _exact(blocks.sizes, 4 * m * N**2)[blocks.block]
    whole_before = np.cumsum(blocks.whole)[:-1]
    running = _exact(np.append(0, np.cumsum(whole_before)), 4 * m * N**2)
    first = np.diff(blocks.block, prepend=-1) > 0
    last = np.append(first[1:], True)
    start = np.cumsum(blocks.sizes) - blocks.sizes
    before = (np.cumsum(blocks.count) - start[blocks.block]).astype(n.dtype)
    here, following = blocks.value, np.where(last, m - 1, np.append(blocks.value[1:], 0))
    turn = np.searchsorted(whole_before, (N * before // n).astype(np.int64), side="right")
    turn = np.clip(turn, here, following)
    run = (2 * turn - here - following) * N * before
    run += n * (running[here] + running[following] - 2 * running[turn])
    run += np.where(first, n * running[here], 0)  # the places before the block's first value
    work = np.zeros(len(blocks.sizes), dtype=n.dtype)
    np.add.at(work, blocks.block, run)
    return _ratios(work, max(m - 1, 1) * N * _exact(blocks.sizes, 4 * m * N**2))


def _exact(numbers: NDArray[np.int64], largest: int) -> NDArray[Any]:
    """Return numbers with which one can count up to `largest`: Python's own where 64 bits are too few."""
    return numbers if largest < 2**63 else numbers.astype(object)


def _ratios(over: NDArray[Any], under: NDArray[Any]) -> list[Fraction]:
    return [Fraction(a, b) for a, b in zip(over.tolist(), under.tolist(), strict=True)]
