"""Compiled: the cheapest join of a record with the company that it needs, by branch and bound.

Two records as bits: a bit for each (attribute, level) at which they differ. A join is the bitwise or.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sudare.kernels import kernel, popcount, rank, step

Array = np.ndarray[Any, Any]


@kernel
def search(
    codes: Array, word: Array, bit: Array, gain: Array, values: Array, wanted: Array, company: int, steps: int
) -> Array:  # pragma: no cover
    """Return the cost of the cheapest join of each wanted record with companions whose values all differ."""
    n, words = codes.shape[0], gain.size
    costs = np.empty(wanted.size, dtype=np.int64)
    differs = np.empty((n, words), dtype=np.uint64)
    distance = np.empty(n, dtype=np.int64)
    taken = np.zeros(values.max() + 1, dtype=np.int64)
    for r in range(wanted.size):
        u = wanted[r]
        for v in range(n):
            differs[v] = 0
            for j in range(word.size):
                if codes[u, j] != codes[v, j]:
                    differs[v, word[j]] |= bit[j]
            distance[v] = 0
            for w in range(words):
                distance[v] += gain[w] * popcount(differs[v, w])
        order = np.arange(n)
        rank(distance, order)
        near, bits, kind = distance[order], differs[order], values[order]
        costs[r] = _upper(near, bits, kind, gain, values[u], company, taken)[0]
        for fewer in range(company, 1, -1):
            best = _upper(near, bits, kind, gain, values[u], fewer, taken)[1]
            best, complete = _cheapest(near, bits, kind, gain, values[u], fewer, taken, best, steps)
            if complete:
                costs[r] = max(costs[r], best)
                break
    return costs


@step
def _cheapest(
    near: Array,
    bits: Array,
    kind: Array,
    gain: Array,
    own: int,
    company: int,
    taken: Array,
    best: int,
    steps: int,
) -> tuple[int, bool]:  # pragma: no cover
    """Return the cost of the cheapest join, if it is below `best`, and whether the search came to its end."""
    join = np.zeros((company + 1, gain.size), dtype=np.uint64)
    at = np.empty(company + 1, dtype=np.int64)
    depth, done = 0, 0
    at[0] = -1
    taken[own] = 1
    while depth >= 0:
        at[depth] += 1
        i = at[depth]
        if i >= near.size or near[i] >= best or done > steps:
            depth -= 1
            if depth >= 0:
                taken[kind[at[depth]]] = 0
            continue
        if taken[kind[i]]:
            continue
        done += 1
        cost = 0
        for w in range(gain.size):
            join[depth + 1, w] = join[depth, w] | bits[i, w]
            cost += gain[w] * popcount(join[depth + 1, w])
        if cost >= best:
            continue
        if depth + 1 == company:
            best = cost
            continue
        taken[kind[i]] = 1
        depth += 1
        at[depth] = i
    taken[own] = 0
    return best, done <= steps


@step
def _upper(
    near: Array, bits: Array, kind: Array, gain: Array, own: int, company: int, taken: Array
) -> tuple[int, int]:  # pragma: no cover
    """Return the distance of the last of the nearest companions, and the cost of a join that was built greedily."""
    join = np.zeros(gain.size, dtype=np.uint64)
    chosen = np.empty(company, dtype=np.int64)
    nearest, count = 0, 0
    taken[own] = 1
    for i in range(near.size):
        if count < company and not taken[kind[i]]:
            taken[kind[i]] = 1
            chosen[count] = kind[i]
            nearest = near[i]
            count += 1
    for i in range(count):
        taken[chosen[i]] = 0
    for picked in range(company):
        least, best = np.iinfo(np.int64).max, -1
        for i in range(near.size):
            if near[i] >= least:
                break
            if taken[kind[i]]:
                continue
            cost = 0
            for w in range(gain.size):
                cost += gain[w] * popcount(join[w] | bits[i, w])
            if cost < least:
                least, best = cost, i
        join |= bits[best]
        taken[kind[best]] = 1
        chosen[picked] = kind[best]
    for i in range(company):
        taken[chosen[i]] = 0
    taken[own] = 0
    cost = 0
    for w in range(gain.size):
        cost += gain[w] * popcount(join[w])
    return nearest, cost
