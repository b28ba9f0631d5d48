"""Table 4: what rows that are drawn from p-views teach classifiers, tested on rows that were held out."""

from __future__ import annotations

import importlib.util
import math
from collections.abc import Iterator, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
import polars as pl

from papers.dp_mondrian.data import Data
from papers.dp_mondrian.dp_gan import rows_of_gan
from papers.dp_mondrian.measure import pview_of
from papers.dp_mondrian.paper import EPSILON, GAN, ORIGINAL
from papers.kept import NOTHING, Kept
from sudare.utility.synthetic import Scores, synthetic_scores

HELD_OUT = 0.1
"""As in the code that the authors published."""


class Taught(NamedTuple):
    """AUROC and AUPRC on held-out rows after learning from a p-view's rows, means over classifiers and seeds."""

    data: str
    method: str
    auroc: float
    auprc: float
    spread: float
    """The standard deviation of AUROC over seeds."""
    classifiers: tuple[str, ...]


def sources(methods: Sequence[str]) -> list[str]:
    """Return of whom rows are taken: of some methods, of DP-GAN if PyTorch is there, and of the original."""
    gan = [GAN] if importlib.util.find_spec("torch") is not None else []
    return [*methods, *gan, ORIGINAL]


def taught(
    data: Data,
    methods: Sequence[str],
    seeds: int,
    rows: int | None = None,
    kept: Kept = NOTHING,
) -> Iterator[Taught]:
    """Learn from as many rows as the p-view was made of, and from these themselves."""
    assert data.target is not None
    for source in sources(methods):
        models = [
            kept.once(f"{data.name}, {source} teaches {seed}", partial(_scores, data, source, seed, rows))
            for seed in range(seeds)
        ]
        means = [np.mean([*own.values()], axis=0) for own in models]
        auroc, auprc = np.mean(means, axis=0).tolist()
        yield Taught(data.name, source, auroc, auprc, float(np.std([one[0] for one in means])), (*models[0],))


def _scores(data: Data, source: str, seed: int, rows: int | None) -> dict[str, Scores]:
    """Return what every classifier learned from one set of rows."""
    frame = data.frame().sample(fraction=1.0, shuffle=True, seed=seed).head(rows or data.frame().height)
    held = math.ceil(HELD_OUT * frame.height)
    test, train = frame.head(held), frame.slice(held)
    shown = _rows(data, train, source, seed)
    return synthetic_scores(shown, test, str(data.target), positive=data.positive, seed=seed)


def _rows(data: Data, train: pl.DataFrame, source: str, seed: int) -> pl.DataFrame:
    if source == ORIGINAL:
        return train
    table = data.table(train)
    if source == GAN:
        return rows_of_gan(table, train.height, seed, EPSILON)
    return pview_of(table, source, seed).sample(train.height, seed=seed)
