"""Very many different numbers, learned by groups of close ones: so that the values of every block can be counted in a row."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from sudare.generalization.problem import Problem
from sudare.generalization.recoding import Recoding
from sudare.privacy.limits import block_meets
from sudare.privacy.values import END, POSITION

Learn = Callable[[Problem], Recoding]
Ints = NDArray[np.int64]
MAX_VALUES = 1_000  # that are counted one by one, and groups


def learn_in_groups(problem: Problem, learn: Learn) -> Recoding:
    """Learn with groups in place of values where these are very many, and only their proximity is asked for.

    A group is counted in every window that begins in it or reaches it. So windows are a little wider than was asked for,
    and what meets the limits with them meets them without.
    """
    limits = problem.limits
    alone = limits.distinct <= 1 and not limits.log_l and not len(limits.recursive) and not limits.by_table
    if problem.values <= MAX_VALUES or len(limits.near) != 1 or not alone:
        return learn(problem)
    groups, ends = _finest_groups(limits.windows[0], limits.harmless)
    coarse = limits._replace(
        windows=np.stack([np.arange(len(ends)), ends])[None].astype(np.int64),
        harmless=np.unique(groups[limits.harmless]),
    )
    totals = np.bincount(groups[problem.sensitive], problem.weights, minlength=len(ends)).astype(np.int64)
    if not block_meets(totals, int(totals.sum()), coarse):  # so close to the limit that groups are too wide
        return learn(problem)
    return learn(replace(problem, groups=groups.astype(np.int32), limits=coarse))


def _finest_groups(windows: Ints, harmless: Ints) -> tuple[Ints, Ints]:
    """Cut windows into as many parts as leave few enough groups."""
    parts, finest = 2, _groups(windows, harmless, parts=1)
    while len((finer := _groups(windows, harmless, parts))[1]) <= MAX_VALUES:
        parts, finest = 2 * parts, finer
    return finest


def _groups(windows: Ints, harmless: Ints, parts: int) -> tuple[Ints, Ints]:
    """Return the group of each code, and for each group, by rising number, the first that no window from it reaches.

    A group takes up to a part of the values of the window at its least one. A harmless value is a group by itself.
    """
    order, end = windows[POSITION], windows[END]
    alone = np.isin(order, harmless)
    group_at = np.empty(len(order), dtype=np.int64)
    place = group = 0
    while place < len(order):
        stop = place + max(1, (int(end[place]) - place) // parts)
        inside = alone[place:stop]
        if inside.any():
            stop = place + max(1, int(inside.argmax()))
        group_at[place:stop] = group
        place, group = stop, group + 1
    groups = np.empty(len(order), dtype=np.int64)
    groups[order] = group_at
    last = np.flatnonzero(np.append(np.diff(group_at) > 0, True))
    return groups, group_at[end[last] - 1] + 1
