"""Compiled: points that were drawn give way to others, as long as tables of one and of two attributes come nearer by it."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from sudare.kernels import kernel

Array = np.ndarray[Any, Any]


class Kept(NamedTuple):
    """What is known of points, and how far the drawn ones are off: the first cell of every table, the cells, and what each weighs."""

    points: Array  # attributes x points
    groups: Array
    starts: Array  # of every attribute's values
    ones: Array
    ones_weights: Array
    pairs: Array  # pairs x 2
    widths: Array  # how many groups the second attribute of a pair has
    twos: Array  # pairs x cells
    twos_weights: Array


@kernel
def exchange(kept: Kept, chosen: Array, candidates: Array) -> None:  # pragma: no cover
    """Look at a candidate in place of each chosen point, and take it if the weighed squares of what is off become less.

    Where n is off by o, the square of o grows by 2 o + 1 with one more, and by 1 - 2 o with one less.
    """
    attributes = len(kept.starts)
    for r in range(len(candidates)):
        old, new = chosen[r], candidates[r]
        change = 0.0
        for a in range(attributes):
            one, other = kept.points[a, old], kept.points[a, new]
            if one != other:
                i, j = kept.starts[a] + one, kept.starts[a] + other
                change += kept.ones_weights[i] * (1 - 2 * kept.ones[i])
                change += kept.ones_weights[j] * (1 + 2 * kept.ones[j])
        for p in range(len(kept.pairs)):
            first, second, width = kept.pairs[p, 0], kept.pairs[p, 1], kept.widths[p]
            i = np.int64(kept.groups[first, old]) * width + kept.groups[second, old]
            j = np.int64(kept.groups[first, new]) * width + kept.groups[second, new]
            if i != j:
                change += kept.twos_weights[p, i] * (1 - 2 * kept.twos[p, i])
                change += kept.twos_weights[p, j] * (1 + 2 * kept.twos[p, j])
        if change >= 0:
            continue
        chosen[r] = new
        for a in range(attributes):
            kept.ones[kept.starts[a] + kept.points[a, old]] -= 1
            kept.ones[kept.starts[a] + kept.points[a, new]] += 1
        for p in range(len(kept.pairs)):
            first, second, width = kept.pairs[p, 0], kept.pairs[p, 1], kept.widths[p]
            kept.twos[p, np.int64(kept.groups[first, old]) * width + kept.groups[second, old]] -= 1
            kept.twos[p, np.int64(kept.groups[first, new]) * width + kept.groups[second, new]] += 1
