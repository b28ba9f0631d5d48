"""Rows drawn from weighted points, so that their tables of one and of two attributes are those of the points.

Drawn at random, rows are off by chance in every table. First they are drawn evenly spaced along the running sum of the weights, in
an order in which the next are alike, so that every region gets its share. Then, again and again, each row is compared with
another point, near or far: if tables of one and of two attributes come nearer to the points' by it, that point stands in its
place. Rows remain points with all their attributes, and what is asked of the data is nothing: the points are noisy already.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sudare.pview._drawing import Kept, exchange
from sudare.pview.grouped_counts import all_pairs, weighed
from sudare.pview.one_ways import even_groups

Codes = NDArray[np.int32]
Floats = NDArray[np.float64]
Places = NDArray[np.int64]

MAX_WOUND = 16  # attributes that an order of points goes by: after so many, hardly any two are alike
MAX_GROUPS = 32
"""An attribute's values are put into so many groups at most, for tables of two."""
MAX_CELLS = 4_000_000
"""Of all tables of two attributes together."""
MAX_COUNTED, MAX_COMPARED = 5 * 10**8, 2 * 10**8
"""Cells that points are put into, and that candidates are compared by. Of very many attributes, or rows, chance matters less than time."""
ROUNDS = 10
NEAR = 20.0  # rows away from its place, on average, is every second candidate


def winding(points: Codes, sizes: tuple[int, ...]) -> Places:
    """Return an order of points (points x attributes) by values, attributes of few values first, to and fro: none starts anew from the
    other end.

    >>> winding(np.array([[0, 0], [1, 0], [0, 1], [1, 1]]), (2, 2)).tolist()
    [0, 2, 3, 1]
    """
    keys: list[NDArray[np.int64]] = []
    turned = np.zeros(len(points), dtype=np.int64)
    for a in np.argsort(sizes, kind="stable")[:MAX_WOUND]:
        own = points[:, a].astype(np.int64)
        keys.append(np.where(turned % 2, sizes[a] - 1 - own, own))
        turned += keys[-1]
    return np.lexsort(keys[::-1])


def evenly(upto: Floats, n: int, rng: np.random.Generator) -> Places:
    """Return the places of so many rows, evenly spaced along a running sum of weights."""
    return _places(upto, (np.arange(n) + rng.random()) / n * upto[-1])


def drawn(
    points: Codes, weights: Floats, sizes: tuple[int, ...], order: Places, n: int, rng: np.random.Generator
) -> Places:
    """Return which points (points x attributes, and in which order neighbours stand together) are drawn, for so many rows."""
    ordered = weights[order]
    upto = np.cumsum(ordered)
    chosen = np.asarray(order[rng.permutation(evenly(upto, n, rng))])
    pairs = all_pairs(len(sizes))
    if len(pairs) * len(points) > MAX_COUNTED:
        return chosen
    kept = _kept(points, weights * (n / weights.sum()), sizes, pairs, chosen)
    middles = np.empty(len(order))
    middles[order] = upto - ordered / 2
    left = min(ROUNDS * n, MAX_COMPARED // (len(pairs) + 1))
    while left > 0:
        some = chosen[:left]
        near = middles[some] + rng.laplace(scale=NEAR * upto[-1] / n, size=len(some))
        far = rng.random(len(some)) * upto[-1]
        candidates = np.where(rng.random(len(some)) < 0.5, near, far)
        exchange(kept, chosen, order[_places(upto, np.clip(candidates, 0.0, upto[-1]))])
        left -= len(some)
    return chosen


def _places(upto: Floats, at: Floats) -> Places:
    """Return the places of a running sum's parts; those without weight have none."""
    return np.asarray(np.minimum(np.searchsorted(upto, at, side="right"), np.searchsorted(upto, upto[-1])))


def _kept(
    points: Codes, weights: Floats, sizes: tuple[int, ...], pairs: NDArray[np.int64], chosen: Places
) -> Kept:
    """Count the tables of the points and of those that were chosen."""
    most = int(np.clip((MAX_CELLS / max(len(pairs), 1)) ** 0.5, 2, MAX_GROUPS))
    by_axis = np.ascontiguousarray(points.T)
    each = [_groups(own, weights, size, most) for own, size in zip(by_axis, sizes, strict=True)]
    groups = np.stack([own[codes] for own, codes in zip(each, by_axis, strict=True)])
    bins = np.array([int(own.max()) + 1 for own in each])
    starts = np.append(0, np.cumsum(sizes))
    ones = _ones(by_axis, weights, starts)
    cells = int(bins[pairs].prod(axis=1).max()) if len(pairs) else 1
    twos = weighed(groups, weights, pairs, bins, cells)
    of_rows, of_chosen = np.ones(len(chosen)), np.ascontiguousarray(groups[:, chosen])
    return Kept(
        by_axis,
        groups,
        starts[:-1],
        _ones(by_axis[:, chosen], of_rows, starts) - ones,
        1 / (ones + 1),  # a row more or less matters more where there are few
        pairs,
        bins[pairs[:, 1]],
        weighed(of_chosen, of_rows, pairs, bins, cells) - twos,
        1 / (twos + 1),
    )


def _groups(codes: Codes, weights: Floats, size: int, most: int) -> NDArray[np.uint8]:
    """Put an attribute's values into groups of neighbours that weigh about the same, if they are more than so many."""
    if size <= most:
        return np.arange(size, dtype=np.uint8)
    return even_groups(np.bincount(codes, weights, minlength=size).astype(np.float64), most)


def _ones(points: Codes, weights: Floats, starts: Places) -> Floats:
    """Return the tables of every attribute, one after the other."""
    sizes = np.diff(starts)
    return np.concatenate(
        [np.bincount(own, weights, minlength=n) for own, n in zip(points, sizes, strict=True)]
    )
