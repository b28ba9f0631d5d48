"""Compiled: which blocks everybody may be in, how many records of each sensitive value these have, and whose rows a group may be."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from sudare.kernels import inlined, kernel, popcount, step

Array = np.ndarray[Any, Any]


class Known(NamedTuple):
    """Households: of household h the values of its members, one per attribute, and how many have them."""

    starts: Array
    values: Array
    weights: Array


class Groups(NamedTuple):
    """Groups of rows: of group g the blocks of its rows, and how many rows each; and how many groups are alike."""

    starts: Array
    blocks: Array
    weights: Array
    alike: Array


@kernel
def mark_blocks(
    label_of: Array, starts: Array, covered: Array, first: int, stop: int, values: int
) -> Array:  # pragma: no cover
    """Return for every value which of the blocks from `first` to `stop` cover it, one bit each.

    `label_of` has the label of each block, by attribute; label i covers the values covered[starts[i] : starts[i + 1]].
    """
    bits = np.zeros((values, (stop - first + 63) >> 6), dtype=np.uint64)
    for a in range(label_of.shape[0]):
        for b in range(stop - first):
            label = label_of[a, first + b]
            bit = np.uint64(1) << np.uint64(b & 63)
            for i in range(starts[label], starts[label + 1]):
                bits[covered[i], b >> 6] |= bit
    return bits


@step
def _covering(person: Array, bits: Array, w: int) -> Any:  # pragma: no cover
    """Return which blocks of a word cover all values of a person, one bit each."""
    word = bits[person[0], w]
    for a in range(1, person.size):
        if word == 0:
            break
        word &= bits[person[a], w]
    return word


@inlined
def _lowest(word: Any) -> Any:  # pragma: no cover
    """Return the place of the lowest bit that is set."""
    return popcount(word ^ (word - np.uint64(1))) - 1


@kernel
def add_records(
    people: Array, bits: Array, first: int, starts: Array, sensitive: Array, counts: Array, totals: Array
) -> None:  # pragma: no cover
    """Add to `totals` the records of every sensitive value in all blocks that cover a person's values.

    `people` has the values of each person, one per attribute; block b has counts[i] records of sensitive[i], for i from
    starts[b] to starts[b + 1].
    """
    for u in range(people.shape[0]):
        for w in range(bits.shape[1]):
            word = _covering(people[u], bits, w)
            while word != 0:
                b = first + 64 * w + _lowest(word)
                word &= word - np.uint64(1)
                for i in range(starts[b], starts[b + 1]):
                    totals[u, sensitive[i]] += counts[i]


@kernel
def fit(
    known: Known, bits: Array, groups: Groups, first: Array, stop: Array, fits: Array
) -> None:  # pragma: no cover
    """Mark in `fits` which groups of rows, from `first` to `stop`, may have a household: 1, or 2 where they have just its rows.

    All members must be given rows of their own, by augmenting paths. A group has just a household's rows if no more of them
    could be any member's.
    """
    most_tuples, most_blocks = np.diff(known.starts).max(), np.diff(groups.starts).max()
    given = np.zeros((most_tuples, most_blocks), dtype=np.int64)
    covers = np.zeros((most_tuples, most_blocks), dtype=np.bool_)
    left, reached_from = np.zeros(most_blocks, dtype=np.int64), np.zeros(most_blocks, dtype=np.int64)
    queue, reached_by = np.zeros(most_tuples, dtype=np.int64), np.zeros(most_tuples, dtype=np.int64)
    for h in range(len(first)):
        tuples = known.values[known.starts[h] : known.starts[h + 1]]
        needs = known.weights[known.starts[h] : known.starts[h + 1]]
        for g in range(first[h], stop[h]):
            blocks = groups.blocks[groups.starts[g] : groups.starts[g + 1]]
            left[: len(blocks)] = groups.weights[groups.starts[g] : groups.starts[g + 1]]
            all_have_rows = True
            for i in range(len(tuples)):  # most households are ruled out here
                room = 0
                for b in range(len(blocks)):
                    word, shift = blocks[b] >> 6, np.uint64(blocks[b] & 63)
                    covered = True
                    for a in range(tuples.shape[1]):
                        if not (bits[tuples[i, a], word] >> shift) & np.uint64(1):
                            covered = False
                            break
                    covers[i, b] = covered
                    given[i, b] = 0
                    if covered:
                        room += left[b]
                if room < needs[i]:
                    all_have_rows = False
                    break
            for i in range(len(tuples) if all_have_rows else 0):
                need = needs[i]
                while need > 0 and all_have_rows:
                    reached_from[: len(blocks)] = -1
                    reached_by[: len(tuples)] = -1
                    queue[0], head, tail, end = i, 0, 1, -1
                    while head < tail and end < 0:
                        u = queue[head]
                        head += 1
                        for b in range(len(blocks)):
                            if reached_from[b] < 0 and covers[u, b]:
                                reached_from[b] = u
                                if left[b] > 0:
                                    end = b
                                    break
                                for v in range(len(tuples)):
                                    if given[v, b] > 0 and reached_by[v] < 0 and v != i:
                                        reached_by[v] = b
                                        queue[tail] = v
                                        tail += 1
                    if end < 0:
                        all_have_rows = False
                        break
                    amount, u = min(need, left[end]), reached_from[end]
                    while u != i:
                        amount = min(amount, given[u, reached_by[u]])
                        u = reached_from[reached_by[u]]
                    left[end] -= amount
                    u = reached_from[end]
                    given[u, end] += amount
                    while u != i:
                        given[u, reached_by[u]] -= amount
                        end = reached_by[u]
                        u = reached_from[end]
                        given[u, end] += amount
                    need -= amount
            if all_have_rows:
                fits[h, g] = 2
                for b in range(len(blocks)):
                    if left[b] > 0 and covers[: len(tuples), b].any():
                        fits[h, g] = 1
                        break


@kernel
def add_people(people: Array, weights: Array, bits: Array, totals: Array) -> None:  # pragma: no cover
    """Add to the total of every block how many people it covers; `weights[u]` of them have the values `people[u]`."""
    for u in range(people.shape[0]):
        for w in range(bits.shape[1]):
            word = _covering(people[u], bits, w)
            while word != 0:
                totals[64 * w + _lowest(word)] += weights[u]
                word &= word - np.uint64(1)
