"""Algorithm 2 with the noise of its line 7 as printed, Lap(1/ε_conv), where equation 9 has Lap(Δ_AE/ε_conv).

It loses up to 1.81 times the ε that it is given, so it is no method of `sd.materialize`, not even for more ε: whoever accepts that much
gets less error from the corrected one. Here it shows what the missing noise would gain. Line 12 is taken as section 4.1 has it,
ε_cut = (1 - γ) ε_r / κ; Δ_q is the paper's 2 Δ_AE, and counts have equation 12's noise. Noise is numpy's: nothing here is released.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from sudare.pview import _mondrian
from sudare.pview._aggregation import aggregation_error
from sudare.pview.noisy_counts import NoisyBlocks
from sudare.tables.counts import Counts

THETA, TREE, BETA, GAMMA = 0.0, 0.9, 1.2, 0.9
"""The paper's θ, ε_r/ε, β and γ."""

Array = np.ndarray[Any, Any]


def loss(epsilon: float) -> float:
    """Return the ε that is lost at most: every test loses Δ_AE < 2 times its share, on a path of κ of them.

    >>> round(loss(1.0), 2)
    1.81
    """
    return (2 * GAMMA * TREE + (1 - GAMMA) * TREE + (1 - TREE)) * epsilon


class Block(NamedTuple):
    """Some rows of the table of distinct cells, and the ends of the box that they lie in."""

    rows: Array
    low: Array
    high: Array
    depth: int

    @property
    def size(self) -> float:
        return float(np.prod((self.high - self.low + 1).astype(np.float64)))

    def error(self, counts: Counts) -> float:
        """Return AE (equation 5)."""
        return float(aggregation_error(counts.weights[self.rows], self.size))


def overspending_blocks(counts: Counts, epsilon: float, rng: np.random.Generator) -> NoisyBlocks:
    """Bisect the domain as Algorithm 2 prints it, and count the blocks with noise."""
    sizes = np.array(counts.sizes, dtype=np.int64)
    kappa = max(math.ceil(BETA * math.log2(math.prod(counts.sizes))), 1)
    tree = TREE * epsilon
    test, cut = GAMMA * tree / kappa, (1 - GAMMA) * tree / kappa
    waiting = [Block(np.arange(len(counts.weights)), np.zeros_like(sizes), sizes - 1, 1)]
    done: list[Block] = []
    while waiting:
        block = waiting.pop()
        ended = block.depth == kappa or block.size == 1
        if ended or block.error(counts) + rng.laplace(0, 1 / test) <= THETA:  # line 7
            done.append(block)
        else:
            waiting += _halves(counts, block, cut, rng)
    own = np.array([1 / (epsilon - tree + tree * (1 - block.depth / kappa)) for block in done])
    sums = np.array([counts.weights[block.rows].sum() for block in done])
    low, high = (np.stack([getattr(block, end) for block in done]) for end in ("low", "high"))
    return NoisyBlocks(low, high, sums + rng.laplace(0, own), own * math.sqrt(2))


def _halves(counts: Counts, block: Block, epsilon: float, rng: np.random.Generator) -> list[Block]:
    """Cut a block where the exponential mechanism says (equation 11)."""
    scores = -cut_errors(counts, block)
    weights = np.exp((scores - scores.max()) * epsilon / (8 * (1 - 1 / block.size)))  # 2 Δ_q = 4 Δ_AE
    chosen = int(rng.choice(len(scores), p=weights / weights.sum()))
    ends = np.cumsum(block.high - block.low)
    attribute = int(np.searchsorted(ends, chosen, side="right"))
    value = int(block.high[attribute] - (ends[attribute] - chosen))
    left = counts.codes[block.rows, attribute] <= value
    high, low = block.high.copy(), block.low.copy()
    high[attribute], low[attribute] = value, value + 1
    depth = block.depth + 1
    return [Block(block.rows[left], block.low, high, depth), Block(block.rows[~left], low, block.high, depth)]


def cut_errors(counts: Counts, block: Block) -> Array:
    """Return AE of both halves together, for all cuts of all attributes in order."""
    weights = counts.weights[block.rows]
    levels, ranks = np.unique(-weights, return_inverse=True)
    values = int((block.high - block.low + 1).sum())
    room, tallies = np.empty((values, 2), np.int64), np.empty((2, levels.size + 1, 2), np.int64)
    left, right = np.zeros(values), np.zeros(values)
    cells = np.ascontiguousarray(counts.codes[block.rows], dtype=np.int32)
    _mondrian.cut_errors(cells, weights, ranks, -levels, block.low, block.high, room, tallies, left, right)
    cuts = values - len(block.low)
    return (left + right)[:cuts]
