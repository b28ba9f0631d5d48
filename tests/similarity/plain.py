"""The slow, obvious twins: every pair of tuples, mark by mark."""

from __future__ import annotations

import numpy as np

from sudare.similarity.pairs import Marks


def likeness(marks: Marks, u: int, v: int) -> int:
    shared = zip(marks.codes[u].tolist(), marks.codes[v].tolist(), marks.gains.tolist(), strict=True)
    return sum(gain for mine, other, gain in shared if mine == other)


def likest_by_value(marks: Marks, value: np.ndarray, values: int) -> list[list[int]]:
    everyone = range(len(marks))
    return [
        [max((likeness(marks, u, v) for v in everyone if value[v] == s), default=-1) for s in range(values)]
        for u in everyone
    ]


def kth_likeness(marks: Marks, weights: np.ndarray, k: int) -> list[int]:
    records = [v for v in range(len(marks)) for _ in range(weights[v])]
    if len(records) < k:
        return [-1] * len(marks)
    return [sorted((likeness(marks, u, v) for v in records), reverse=True)[k - 1] for u in range(len(marks))]
