"""Compiled: the cuts of several views as the paper chooses them (Takenouchi, Furukawa & Miyakawa, section 4).

Every round takes one cut in each view, those with the best Score together, and cancels what breaks the requirement.
Score(c) = -alpha |S(c)| / max |S| - (1 - alpha) M(c) / max M, where S sums, over all persons, the square of the
distances between the sensitive values of their blocks in the views, and M is how far a cut is from the median. (The
paper divides the negative S by its maximum, which turns the preference round.) Every round looks at all records: time
grows faster than their number.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numba import njit

from sudare.generalization._kernels import meet
from sudare.generalization._views import holds, leave_likely, leave_values, values_of

if TYPE_CHECKING:
    from sudare.generalization.problem import Trees
    from sudare.generalization.views import Choice
    from sudare.generalization.views_problem import People
    from sudare.privacy.multi_view import Need

Array = np.ndarray[Any, Any]

MAX_SWEEPS = 5  # over the views, until no view would rather have another cut


@njit(cache=True, nogil=True)
def cut_views(people: People, trees: Trees, choice: Choice, need: Need) -> Array:  # pragma: no cover
    """Return the block of every unit in every view."""
    views, m = choice.has.shape[0], people.units.shape[0]
    block_of = np.zeros((views, m), dtype=np.int64)
    values, groups, words = need.totals.size, people.fixed.shape[1], people.fixed.shape[2]
    counts = np.zeros((views, 2 * m, values), dtype=np.int64)
    sets = np.zeros((views, 2 * m, words), dtype=np.uint64)
    blocks = np.ones(views, dtype=np.int64)
    for v in range(views):
        for u in range(m):
            _put(people, u, counts[v, 0], sets[v, 0])
    refused: Any = {np.int64(-1)}
    leaves: Any = np.int64(choice.span.max() + 1)
    others = np.empty((m, groups, words), dtype=np.uint64)
    likely = np.empty((m if need.by_counts else 1, groups, values), dtype=np.float64)
    while True:
        cuts = _choose(people, trees, choice, block_of, counts, blocks, refused, leaves)
        if (cuts[:, 0] < 0).all():
            return block_of
        for v in range(views):
            b, a, place = cuts[v]
            if b < 0:
                continue
            members = np.flatnonzero(block_of[v] == b)
            leave_values(members, v, people, block_of, sets, others)
            if need.by_counts:
                leave_likely(members, v, people, block_of, counts, need, likely)
            if not holds(members, a, place, people, need, others, likely):
                refused.add(((v * 2 * m + b) * trees.height.size + a) * leaves + place)
                continue
            for member in members:
                part = blocks[v] + (0 if people.units[member, a] <= place else 1)
                block_of[v, member] = part
                _put(people, member, counts[v, part], sets[v, part])
            blocks[v] += 2


@njit(cache=True, nogil=True)
def _put(people: People, u: Any, counts: Array, values: Array) -> None:  # pragma: no cover
    s = people.sensitive[u]
    counts[s] += people.weights[u]
    values[s >> 6] |= np.uint64(1) << np.uint64(s & 63)


@njit(cache=True, nogil=True)
def _choose(
    people: People,
    trees: Trees,
    choice: Choice,
    block_of: Array,
    counts: Array,
    blocks: Array,
    refused: set[int],
    leaves: int,
) -> Array:  # pragma: no cover
    """Choose one cut in each view (block, attribute, place; -1 if there is none), each given those of the others."""
    views, m = block_of.shape
    cuts = np.full((views, 3), -1, dtype=np.int64)
    seen = np.zeros((views, m, counts.shape[2]), dtype=np.int64)  # the counts of everybody's block
    for v in range(views):
        _look(people, v, block_of, counts, cuts[v], seen[v])
    listed = [_candidates(people, trees, choice, v, block_of, blocks, refused, leaves) for v in range(views)]
    turn = np.int64(views)
    for v in range(views):
        if listed[v][1].size > 0:
            turn = min(turn, choice.turn[v])
    for _ in range(MAX_SWEEPS):
        changed = False
        for v in range(views):
            candidates, far = listed[v]
            if far.size == 0 or choice.turn[v] > turn:
                continue
            _look(people, v, block_of, counts, np.full(3, -1), seen[v])
            unlike = _unlikeness(people, v, candidates, block_of, seen, choice.turn)
            worst, farthest = max(unlike.max(), 1e-300), max(far.max(), 1e-300)
            score = -choice.alpha * unlike / worst - (1 - choice.alpha) * far / farthest
            best = candidates[score.argmax()]
            changed = changed or (best != cuts[v]).any()
            cuts[v] = best
            _look(people, v, block_of, counts, cuts[v], seen[v])
        if not changed:
            break
    return cuts


@njit(cache=True, nogil=True)
def _candidates(
    people: People,
    trees: Trees,
    choice: Choice,
    v: int,
    block_of: Array,
    blocks: Array,
    refused: set[int],
    leaves: int,
) -> tuple[Array, Array]:  # pragma: no cover
    """List the cuts of every block that are nearest to a median, with how far they are from it, in records."""
    m = block_of.shape[1]
    cuts = [(np.int64(0), np.int64(0), np.int64(0))]
    far = [0.0]
    here = np.zeros(leaves, dtype=np.int64)
    order = np.argsort(block_of[v], kind="mergesort")
    begin = 0
    for end in range(1, m + 1):
        if end < m and block_of[v, order[end]] == block_of[v, order[begin]]:
            continue
        members, b = order[begin:end], block_of[v, order[begin]]
        own, own_far = [(np.int64(0), np.int64(0), np.int64(0))], [np.inf]
        for a in range(choice.has.shape[1]):
            if not choice.has[v, a]:
                continue
            values, total = values_of(members, people, a, here)
            top = meet(trees, a, values[0], values[-1], 0)
            before = 0
            for i in range(values.size - 1):
                before += here[values[i]]
                if top > 1 and meet(trees, a, values[i], values[i + 1], 0) < top:
                    continue
                if ((v * 2 * m + b) * trees.height.size + a) * leaves + values[i] in refused:
                    continue
                own.append((b, np.int64(a), np.int64(values[i])))
                own_far.append(abs(before - (total - 1) / 2))
            here[values] = 0
        for i in np.argsort(np.array(own_far), kind="mergesort")[: choice.candidates]:
            if i > 0:
                cuts.append(own[i])
                far.append(own_far[i])
        begin = end
    return np.array(cuts)[1:], np.array(far)[1:]


@njit(cache=True, nogil=True)
def _look(
    people: People, v: int, block_of: Array, counts: Array, cut: Array, seen: Array
) -> None:  # pragma: no cover
    """Fill in the counts of everybody's block in a view, as if a block of it were cut."""
    parts = np.zeros((2, seen.shape[1]), dtype=np.int64)
    for u in range(seen.shape[0]):
        if block_of[v, u] == cut[0]:
            side = 0 if people.units[u, cut[1]] <= cut[2] else 1
            parts[side, people.sensitive[u]] += people.weights[u]
    for u in range(seen.shape[0]):
        if block_of[v, u] == cut[0]:
            seen[u] = parts[0 if people.units[u, cut[1]] <= cut[2] else 1]
        else:
            seen[u] = counts[v, block_of[v, u]]


@njit(cache=True, nogil=True)
def _unlikeness(
    people: People, v: int, cuts: Array, block_of: Array, seen: Array, turn: Array
) -> Array:  # pragma: no cover
    """Return |S| for every cut of a view: the squared distances of everybody's blocks, all views compared in pairs.

    Views whose turn has not come yet are left out.
    """
    views, m = block_of.shape
    values = seen.shape[2]
    rest, whole = np.zeros(m), 0.0
    own = np.zeros(m)
    for u in range(m):
        for i in range(views):
            for j in range(i):
                if max(turn[i], turn[j]) > turn[v]:
                    continue
                apart = 0.0
                for s in range(values):
                    apart += abs(seen[i, u, s] - seen[j, u, s])
                if v in (i, j):
                    own[u] += apart
                else:
                    rest[u] += apart
        whole += people.weights[u] * (own[u] + rest[u]) ** 2
    order = np.argsort(block_of[v], kind="mergesort")
    rising = block_of[v][order]
    distances = np.empty(len(cuts))
    parts = np.zeros((2, values), dtype=np.int64)
    for c in range(len(cuts)):
        b, a, place = cuts[c]
        members = order[np.searchsorted(rising, b) : np.searchsorted(rising, b, side="right")]
        parts[:] = 0
        for u in members:
            parts[0 if people.units[u, a] <= place else 1, people.sensitive[u]] += people.weights[u]
        total = whole
        for u in members:
            apart, side = rest[u], 0 if people.units[u, a] <= place else 1
            for j in range(views):
                if j != v and turn[j] <= turn[v]:
                    for s in range(values):
                        apart += abs(parts[side, s] - seen[j, u, s])
            total += people.weights[u] * (apart**2 - (own[u] + rest[u]) ** 2)
        distances[c] = total
    return distances
