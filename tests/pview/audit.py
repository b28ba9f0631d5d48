"""A lower bound on the epsilon that a mechanism really has, from many runs on two neighbouring tables.

The runs of each table are looked at in several ways (p-views); a p-view is an array with one label per run. Half of the
runs serve to find events that tell the tables apart: the labels whose likelihood ratio is largest, as many as tell most.
The other half, which had no part in that, bounds the probability of every event from below for one table and from
above for the other (Clopper & Pearson 1934), so that with the confidence asked for all the bounds hold together.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import beta

Labels = NDArray[np.int64]
EVENTS = 4  # per p-view and direction


def audit(
    first: Sequence[Labels], second: Sequence[Labels], *, delta: float = 0.0, confidence: float = 0.9999
) -> float:
    """Return an epsilon which the mechanism's is not below, with that confidence; the p-views of both tables in order."""
    hits = []  # (runs in the event, all runs) for both tables
    for mine, other in zip(first, second, strict=True):
        for a, b in ((mine, other), (other, mine)):
            for event in _events(a[::2], b[::2], delta):
                hits.append([(int(np.isin(x[1::2], event).sum()), len(x[1::2])) for x in (a, b)])
    alpha = (1 - confidence) / max(2 * len(hits), 1)
    return max((_bound(*pair, alpha=alpha, delta=delta) for pair in hits), default=0.0)


def _events(a: Labels, b: Labels, delta: float) -> list[Labels]:
    """Return sets of labels that are likelier in a than in b, the most telling first: beyond what delta excuses."""
    labels, places = np.unique(np.concatenate([a, b]), return_inverse=True)
    n, m = (np.bincount(p, minlength=len(labels)) for p in np.split(places, [len(a)]))
    order = np.argsort(
        (m + 1.0) / (n + 1.0), kind="stable"
    )  # one more, so that rare labels are not thought extreme
    n, m = np.cumsum(n[order]), np.cumsum(m[order])
    worth = (_lower(n, len(a), 1e-3) - delta) / _upper(m, len(b), 1e-3)
    return [labels[order[: k + 1]] for k in np.argsort(-worth, kind="stable")[:EVENTS]]


def _bound(mine: tuple[int, int], other: tuple[int, int], *, alpha: float, delta: float) -> float:
    sure = float(_lower(np.array(mine[0]), mine[1], alpha)) - delta
    return float(np.log(sure / _upper(np.array(other[0]), other[1], alpha))) if sure > 0 else -np.inf


def _lower(hits: NDArray[Any], runs: int, alpha: float) -> NDArray[np.float64]:
    return np.where(hits > 0, beta.ppf(alpha, np.maximum(hits, 1), runs - hits + 1), 0.0)


def _upper(hits: NDArray[Any], runs: int, alpha: float) -> NDArray[np.float64]:
    return np.where(hits < runs, beta.ppf(1 - alpha, hits + 1, np.maximum(runs - hits, 1)), 1.0)


def labels_of(run: Callable[[Any, int], Hashable], table: Any, runs: int, seed: int = 0) -> Labels:
    """Run a mechanism again and again, and label its outputs; for those that have no faster loop."""
    return np.array([hash(run(table, seed + r)) for r in range(runs)], dtype=np.int64)


def joined(*columns: NDArray[Any]) -> Labels:
    """Label the combinations of several columns of whole numbers, the same for both tables."""
    labels = np.zeros(len(columns[0]), dtype=np.uint64)
    for column in columns:
        labels = (
            labels * np.uint64(0x9E3779B97F4A7C15) + column.astype(np.int64).view(np.uint64) + np.uint64(1)
        )
    return labels.view(np.int64)
