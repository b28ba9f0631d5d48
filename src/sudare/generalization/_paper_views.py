"""Compiled: the cuts of several views as the paper chooses them (Takenouchi, Furukawa & Miyakawa, section 4).

Every round scores all pairs of cuts, one in each view, takes the best pair, and cancels what breaks the requirement.
Score(c) = alpha max S / S(c) - (1 - alpha) M(c) / max M, where -S sums, over all persons, the square of the
distances between the sensitive values of their blocks in the views, and M is how far the cuts are from their medians. (The
paper prints S(c) / max S. Both are negative, so that this is 1 for the most alike and more for all others, where the text
wants 0 to 1 and the most alike first.) Every round looks at all records and all pairs of cuts: time grows faster than
their number.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sudare.generalization._kernels import meet
from sudare.generalization._views import holds, leave_likely, leave_values, take_best, values_of
from sudare.kernels import kernel, rank, step
from sudare.lent import lent

if TYPE_CHECKING:
    from sudare.generalization.problem import Trees
    from sudare.generalization.views import Choice
    from sudare.generalization.views_problem import People
    from sudare.privacy.multi_view import Need

Array = np.ndarray[Any, Any]

MAX_SWEEPS = 5  # over the pairs of three views or more, until none would rather have other cuts


@kernel
def cut_views(people_: People, trees_: Trees, choice_: Choice, need_: Need) -> Array:  # pragma: no cover
    """Return the block of every unit in every view."""
    people, trees, choice, need = lent(people_), lent(trees_), lent(choice_), lent(need_)
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
        cuts = _choose(people, trees, choice, block_of, counts, refused, leaves)
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


@step
def _put(people: People, u: Any, counts: Array, values: Array) -> None:  # pragma: no cover
    s = people.sensitive[u]
    counts[s] += people.weights[u]
    values[s >> 6] |= np.uint64(1) << np.uint64(s & 63)


@step
def _choose(
    people: People,
    trees: Trees,
    choice: Choice,
    block_of: Array,
    counts: Array,
    refused: set[int],
    leaves: int,
) -> Array:  # pragma: no cover
    """Choose one cut in each view (block, attribute, place; -1 if there is none), all views' together.

    Two views are what the paper has: all pairs of their cuts are scored. Of more, two views at a time, given the cuts of the
    others, until no two would rather have other ones.
    """
    views, m = block_of.shape
    listed = [_candidates(people, trees, choice, v, block_of, refused, leaves) for v in range(views)]
    turn = np.int64(views)
    for v in range(views):
        if listed[v][0][0, 0] >= 0:
            turn = min(turn, choice.turn[v])
    cuts = np.full((views, 3), -1, dtype=np.int64)
    seen = np.zeros((views, m, counts.shape[2]), dtype=np.int64)  # the counts of everybody's block
    for v in range(views):
        _look(people, v, block_of, counts, cuts[v], seen[v])
        if choice.turn[v] > turn:
            listed[v] = (np.full((1, 3), -1, dtype=np.int64), np.zeros(1))
    if views == 1:
        cuts[0] = listed[0][0][listed[0][1].argmin()]
    for _ in range(MAX_SWEEPS):
        before = cuts.copy()
        for v in range(views):
            for w in range(v + 1, views):
                for one in (v, w):
                    _look(people, one, block_of, counts, np.full(3, -1, dtype=np.int64), seen[one])
                unlike = unlikeness(
                    people, np.array([v, w]), listed[v][0], listed[w][0], block_of, seen, choice.turn <= turn
                )
                i, j = _best(unlike, listed[v][1], listed[w][1], choice.alpha)
                cuts[v], cuts[w] = listed[v][0][i], listed[w][0][j]
                if views > 2:
                    for one in (v, w):
                        _look(people, one, block_of, counts, cuts[one], seen[one])
        if views == 2 or (cuts == before).all():
            break
    return cuts


@step
def _best(unlike: Array, far: Array, other_far: Array, alpha: float) -> tuple[int, int]:  # pragma: no cover
    """Return the pair of cuts with the best Score."""
    least, farthest = unlike.min(), max(far.max() + other_far.max(), 1e-300)
    best, chosen = -np.inf, (0, 0)
    for i in range(far.size):
        for j in range(other_far.size):
            like = least / unlike[i, j] if unlike[i, j] > 0 else 1.0
            score = alpha * like - (1 - alpha) * (far[i] + other_far[j]) / farthest
            if score > best:
                best, chosen = score, (i, j)
    return chosen


@step
def _candidates(
    people: People,
    trees: Trees,
    choice: Choice,
    v: int,
    block_of: Array,
    refused: set[int],
    leaves: int,
) -> tuple[Array, Array]:  # pragma: no cover
    """List the cuts of every block that are nearest to a median, with how far they are from it, in records.

    Where there is none, one that is none: -1.
    """
    m = block_of.shape[1]
    cuts = [(np.int64(0), np.int64(0), np.int64(0))]  # tells the compiler the types, as the next does
    far = [0.0]
    cuts.pop()
    far.pop()
    here = np.zeros(leaves, dtype=np.int64)
    order = np.arange(m)
    rank(block_of[v] * m + order, order)
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
            for x in values:
                here[x] = 0
        near = -np.array(own_far)
        for _ in range(min(choice.candidates, near.size - 1)):
            i, nearness = take_best(near)
            cuts.append(own[i])
            far.append(-nearness)
        begin = end
    if len(far) == 0:
        return np.full((1, 3), -1, dtype=np.int64), np.zeros(1)
    return np.array(cuts), np.array(far)


@step
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
        for s in range(seen.shape[1]):
            if block_of[v, u] == cut[0]:
                seen[u, s] = parts[0 if people.units[u, cut[1]] <= cut[2] else 1, s]
            else:
                seen[u, s] = counts[v, block_of[v, u], s]


@kernel
def unlikeness(
    people: People, pair: Array, cuts: Array, other_cuts: Array, block_of: Array, seen: Array, heard: Array
) -> Array:  # pragma: no cover
    """Return |S| for every cut of one view with every cut of another: the squared distances of everybody's blocks.

    All views that are `heard` are compared in pairs. The cuts of a block stand side by side. A cut changes what is seen of
    its block's members alone, so that the square of a person is looked at for the cuts of the two blocks that the person is in, and
    everybody else's is as if there were no cut.
    """
    m, values = seen.shape[1], seen.shape[2]
    first, last, parts = _parts(people, pair[0], cuts, block_of, values)
    other_first, other_last, other_parts = _parts(people, pair[1], other_cuts, block_of, values)
    whole, alone, other_alone = 0.0, np.zeros(len(cuts)), np.zeros(len(other_cuts))
    both = np.zeros((len(cuts), len(other_cuts)))
    for u in range(m):
        a, b = block_of[pair[0], u], block_of[pair[1], u]
        low, high, other_low, other_high = first[a], last[a], other_first[b], other_last[b]
        rest = 0.0  # what does not depend on the two views
        for i in range(seen.shape[0]):
            for j in range(i):
                if heard[i] and heard[j] and i not in (pair[0], pair[1]) and j not in (pair[0], pair[1]):
                    rest += _apart(seen[i, u], seen[j, u])
        states = np.empty((high - low + 1, other_high - other_low + 1))
        for i in range(states.shape[0]):
            for j in range(states.shape[1]):
                one = _state(people, u, cuts, parts, low + i - 1, seen[pair[0], u], i == 0)
                other = _state(
                    people, u, other_cuts, other_parts, other_low + j - 1, seen[pair[1], u], j == 0
                )
                distance = rest
                if heard[pair[0]] and heard[pair[1]]:
                    distance += _apart(one, other)
                for v in range(seen.shape[0]):
                    if heard[v] and v not in (pair[0], pair[1]):
                        if heard[pair[0]]:
                            distance += _apart(one, seen[v, u])
                        if heard[pair[1]]:
                            distance += _apart(other, seen[v, u])
                states[i, j] = people.weights[u] * distance**2
        whole += states[0, 0]
        for i in range(1, states.shape[0]):
            alone[low + i - 1] += states[i, 0] - states[0, 0]
            for j in range(1, states.shape[1]):
                both[low + i - 1, other_low + j - 1] += (
                    states[i, j] - states[i, 0] - states[0, j] + states[0, 0]
                )
        for j in range(1, states.shape[1]):
            other_alone[other_low + j - 1] += states[0, j] - states[0, 0]
    for i in range(len(cuts)):
        for j in range(len(other_cuts)):
            both[i, j] += whole + alone[i] + other_alone[j]
    return both


@step
def _state(
    people: People, u: int, cuts: Array, parts: Array, c: int, uncut: Array, none: bool
) -> Array:  # pragma: no cover
    """Return the counts of a person's block after a cut of it, or as it is."""
    counts = uncut
    if not none:
        counts = parts[c, 0 if people.units[u, cuts[c, 1]] <= cuts[c, 2] else 1]
    return counts


@step
def _apart(one: Array, other: Array) -> float:  # pragma: no cover
    """Return the edit distance of two multisets: only what one has more than the other is taken away or put in."""
    apart = 0
    for s in range(one.size):
        apart += abs(one[s] - other[s])
    return float(apart)


@step
def _parts(
    people: People, v: int, cuts: Array, block_of: Array, values: int
) -> tuple[Array, Array, Array]:  # pragma: no cover
    """Return where each block's cuts begin and end in the list, and what either part has of each value after each cut."""
    first = np.zeros(2 * block_of.shape[1], dtype=np.int64)
    last = np.zeros(2 * block_of.shape[1], dtype=np.int64)
    for c in range(len(cuts)):
        b = cuts[c, 0]
        if b >= 0:
            if c == 0 or cuts[c - 1, 0] != b:
                first[b] = c
            last[b] = c + 1
    parts = np.zeros((len(cuts), 2, values), dtype=np.int64)
    for u in range(block_of.shape[1]):
        b = block_of[v, u]
        for c in range(first[b], last[b]):
            side = 0 if people.units[u, cuts[c, 1]] <= cuts[c, 2] else 1
            parts[c, side, people.sensitive[u]] += people.weights[u]
    return first, last, parts
