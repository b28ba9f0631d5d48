"""Compiled: cutting the blocks of several views top down, while nobody is given away by all views together."""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING, Any

import numpy as np

from sudare.generalization._kernels import meet
from sudare.kernels import kernel, step
from sudare.lent import lent
from sudare.privacy._views import has_values, posterior_holds

if TYPE_CHECKING:
    from sudare.generalization.problem import Trees
    from sudare.generalization.views import Choice
    from sudare.generalization.views_problem import People
    from sudare.privacy.multi_view import Need

Array = np.ndarray[Any, Any]

WEIGHT_OF_EVEN = 1e-3  # so much does it count that parts are even


@kernel
def cut_views(
    people_: People, trees_: Trees, choice_: Choice, need_: Need
) -> tuple[Array, Array, Array]:  # pragma: no cover
    """Cut the largest block of all views, then the next, as long as the requirement holds.

    Each block is looked at once. What cannot be cut now never can: the values that a person may have only become
    fewer. (By counts it might, if another cut evens them out; that is not waited for.) Views with a smaller `turn` are finished first. Returns the block of every unit in every view, and the
    first and the last value that each block's cuts left to it, by view, block and attribute.
    """
    people, trees, choice, need = lent(people_), lent(trees_), lent(choice_), lent(need_)
    views, m = choice.has.shape[0], people.units.shape[0]
    low = np.zeros((views, m, people.units.shape[1]), dtype=np.int32)
    high = np.zeros((views, m, people.units.shape[1]), dtype=np.int32)
    block_of = np.zeros((views, m), dtype=np.int64)
    order = np.empty((views, m), dtype=np.int64)
    start, stop = np.zeros((views, m), dtype=np.int64), np.zeros((views, m), dtype=np.int64)
    groups, words, values = people.fixed.shape[1], people.fixed.shape[2], need.totals.size
    sets = np.zeros((views, m, words), dtype=np.uint64)
    counts = np.zeros((views, m if need.by_counts else 1, values), dtype=np.int64)
    blocks = np.ones(views, dtype=np.int64)
    queue: Any = [(np.int64(0), np.float64(0), np.int64(0), np.int64(0))]  # tells the compiler the types
    queue.pop()
    everybody = 0
    for u in range(m):
        everybody += people.weights[u]
    for v in range(views):
        for a in range(choice.span.size):
            high[v, 0, a] = choice.span[a]
        stop[v, 0] = m
        for u in range(m):
            order[v, u] = u
            s = people.sensitive[u]
            sets[v, 0, s >> 6] |= np.uint64(1) << np.uint64(s & 63)
            if need.by_counts:
                counts[v, 0, s] += people.weights[u]
        heapq.heappush(queue, (choice.turn[v], -choice.weight[v] * everybody, np.int64(v), np.int64(0)))
    others = np.empty((m, groups, words), dtype=np.uint64)
    likely = np.empty((m if need.by_counts else 1, groups, values), dtype=np.float64)
    here = np.zeros(choice.span.max() + 1, dtype=np.int64)
    scratch = np.empty(m, dtype=np.int64)
    while len(queue) > 0:
        _, _, v, b = heapq.heappop(queue)
        members = order[v, start[v, b] : stop[v, b]]
        if members.size < 2:
            continue
        attributes, places, scores = _candidates(members, people, trees, choice, v, here)
        if scores.size == 0:
            continue
        leave_values(members, v, people, block_of, sets, others)
        if need.by_counts:
            leave_likely(members, v, people, block_of, counts, need, likely)
        for _ in range(scores.size):
            c = take_best(scores)[0]
            a, place = attributes[c], places[c]
            if not holds(members, a, place, people, need, others, likely):
                if choice.once:
                    break
                continue
            # Cut: what lies up to the place stays in block b, the rest becomes a new one.
            new, left, right = blocks[v], 0, 0
            for i in range(choice.span.size):
                low[v, new, i], high[v, new, i] = low[v, b, i], high[v, b, i]
            low[v, new, a], high[v, b, a] = place + 1, place
            blocks[v] += 1
            for w in range(words):
                sets[v, b, w] = 0
            for s in range(values if need.by_counts else 0):
                counts[v, b, s] = 0
            for i in range(members.size):
                u = members[i]
                s = people.sensitive[u]
                if people.units[u, a] <= place:
                    members[left] = u
                    left += 1
                    block = b
                else:
                    scratch[right] = u
                    right += 1
                    block_of[v, u] = new
                    block = new
                sets[v, block, s >> 6] |= np.uint64(1) << np.uint64(s & 63)
                if need.by_counts:
                    counts[v, block, s] += people.weights[u]
            for i in range(right):
                members[left + i] = scratch[i]
            stop[v, new] = stop[v, b]
            start[v, new] = stop[v, b] = start[v, b] + left
            for part in (b, new):
                size = 0
                for u in order[v, start[v, part] : stop[v, part]]:
                    size += people.weights[u]
                heapq.heappush(queue, (choice.turn[v], -choice.weight[v] * size, v, part))
            break
    return block_of, low[:, : blocks.max()], high[:, : blocks.max()]


@step
def _candidates(
    members: Array, people: People, trees: Trees, choice: Choice, v: int, here: Array
) -> tuple[Array, Array, Array]:  # pragma: no cover
    """List where a block can be cut: attribute, last value of the first part, and score; the best of each attribute."""
    attributes: Any = [np.int64(0)]  # the first tells the compiler the types
    places: Any = [np.int64(0)]
    scores = [0.0]
    for a in range(choice.has.shape[1]):
        if not choice.has[v, a]:
            continue
        values, total = values_of(members, people, a, here)
        if values.size > 1:
            own = _scores(values, here, total, a, trees, choice)
            for _ in range(min(choice.candidates, own.size)):
                i, score = take_best(own)
                if score > 0:
                    attributes.append(a)
                    places.append(_end(values[i], values[-1], trees, a))
                    scores.append(score)
        for x in values:
            here[x] = 0
    return np.array(attributes)[1:], np.array(places)[1:], np.array(scores)[1:]


@step
def take_best(scores: Array) -> tuple[int, float]:  # pragma: no cover
    """Return the place of the highest score, the first of equal ones, and the score, and take it out.

    (A few of all are taken; `np.argsort`, which keeps equal ones in their order, takes seconds to compile.)
    """
    best = 0
    for i in range(scores.size):
        if scores[i] > scores[best]:
            best = i
    score = scores[best]
    scores[best] = -np.inf
    return best, score


@step
def _end(place: int, last: int, trees: Trees, a: int) -> int:  # pragma: no cover
    """Return the last value of the child that a value is in, of the node that it and `last` meet in."""
    top = meet(trees, a, place, last, 0)
    while meet(trees, a, place, place + 1, 0) < top:
        place += 1
    return place


@step
def _scores(
    values: Array, here: Array, total: int, a: int, trees: Trees, choice: Choice
) -> Array:  # pragma: no cover
    """Score a cut after each value but the last; 0 where none is allowed.

    Cuts go between the children of the lowest node that holds all values, so that a part is a node or a run of
    neighbouring ones. A cut is worth how much narrower it makes what is published, on average over the records; of
    equal ones the more even (4 n1 n2 / n^2). Mondrian's own rule takes the widest attribute, at its median.
    """
    first, last = values[0], values[-1]
    top = meet(trees, a, first, last, 0)
    scores, before = np.zeros(values.size - 1), 0
    for i in range(values.size - 1):
        before += here[values[i]]
        if top > 1 and meet(trees, a, values[i], values[i + 1], 0) < top:
            continue
        after = total - before
        even = 4.0 * before * after / total / total
        left = (last - first) * 1.0
        if not choice.widest:
            left -= (before * (values[i] - first) + after * (last - values[i + 1])) / total
        scores[i] = choice.gain[a] * left / choice.span[a] + WEIGHT_OF_EVEN * even
    return scores


@step
def values_of(members: Array, people: People, a: int, here: Array) -> tuple[Array, int]:  # pragma: no cover
    """Return the distinct values of an attribute in a block, rising, and fill in how many records have each."""
    values, total = np.empty(min(members.size, here.size), dtype=np.int64), 0
    different = 0
    for u in members:
        x = people.units[u, a]
        if here[x] == 0:
            values[different] = x
            different += 1
        here[x] += people.weights[u]
        total += people.weights[u]
    return np.sort(values[:different]), total


@step
def leave_values(
    members: Array, v: int, people: People, block_of: Array, sets: Array, others: Array
) -> None:  # pragma: no cover
    """Find which values the other views, and earlier releases, leave to each member."""
    for i in range(members.size):
        u = members[i]
        for w in range(others.shape[2]):
            left = ~np.uint64(0)
            for j in range(block_of.shape[0]):
                if j != v:
                    left &= sets[j, block_of[j, u], w]
            for g in range(others.shape[1]):
                others[i, g, w] = left & people.fixed[u, g, w]


@step
def leave_likely(
    members: Array, v: int, people: People, block_of: Array, counts: Array, need: Need, likely: Array
) -> None:  # pragma: no cover
    """Find how the counts of the other views weigh the values of each member."""
    for i in range(members.size):
        u = members[i]
        for s in range(likely.shape[2]):
            weight = 1.0
            for j in range(block_of.shape[0]):
                if j != v and weight > 0:
                    weight *= counts[j, block_of[j, u], s] / need.totals[s]
            for g in range(likely.shape[1]):
                likely[i, g, s] = weight * (people.weighed[u, g, s] if people.weighed.size else 1.0)


@step
def holds(
    members: Array, a: int, place: int, people: People, need: Need, others: Array, likely: Array
) -> bool:  # pragma: no cover
    """Tell whether every member keeps enough values if the block is cut here."""
    sets = np.zeros((2, others.shape[2]), dtype=np.uint64)
    counts = np.zeros((2, likely.shape[2] if need.by_counts else 1), dtype=np.int64)
    for u in members:
        side = 0 if people.units[u, a] <= place else 1
        s = people.sensitive[u]
        sets[side, s >> 6] |= np.uint64(1) << np.uint64(s & 63)
        if need.by_counts:
            counts[side, s] += people.weights[u]
    for i in range(members.size):
        side = 0 if people.units[members[i], a] <= place else 1
        for g in range(others.shape[1]):
            if not has_values(others[i, g], sets[side], need.l):
                return False
            if need.by_counts and not posterior_holds(likely[i, g], counts[side], need):
                return False
    return True
