"""Small p-views of every kind, as they are saved."""

from __future__ import annotations

import datetime as dt
import json
import math
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from sudare.pview.boxes import Boxes
from sudare.pview.cloud import Cloud
from sudare.pview.combined import Combined
from sudare.pview.domain import Axis, Domain
from sudare.pview.models import BlocksModel, CellsModel, ProductModel
from sudare.pview.noisy_counts import NoisyBlocks, NoisyCells, NoisyProduct
from sudare.pview.pview import Model, PView

AXES = (
    Axis("age", pl.Int64(), None, 18, 96, 6, missing=True),
    Axis("sex", pl.String(), ("Female", "Male")),
    Axis("born", pl.Date(), (dt.date(2024, 1, 1), dt.date(2024, 2, 1))),
    Axis("rate", pl.Float64(), None, 0.0, 1.0, 3),
)
SIZES = Domain(AXES).sizes
FACTS = {
    "certificate": {"method": "made up", "measured": {"epsilon": 1.0}},
    "budget": {
        "unit": "epsilon",
        "whole": "1",
        "shares": [
            {"kind": "total", "attributes": [], "amount": "1/64"},
            {"kind": "pair", "attributes": ["age", "sex"], "amount": "63/64"},
        ],
        "remaining": "0",
    },
}


def _cloud(rng: np.random.Generator) -> Model:
    codes = rng.integers(0, SIZES, size=(80, 4)).astype(np.int32)
    return Cloud(
        Boxes.of(codes, codes, rng.random(80), SIZES),
        40.0,
        2.0,
        [np.ones(s) for s in SIZES],
        np.full((4, 4), 0.1),
        0.1,
    )


def _blocks(rng: np.random.Generator) -> Model:
    low = np.array([[0, 0, 0, 0], [3, 0, 0, 0]], dtype=np.int32)
    high = np.array([[2, 1, 1, 2], [6, 1, 1, 2]], dtype=np.int32)
    return BlocksModel.of(NoisyBlocks(low, high, np.array([10.0, 30.0]), np.array([1.4, 1.4])), SIZES)


def _cells(rng: np.random.Generator) -> Model:
    return CellsModel(NoisyCells(3 + rng.normal(size=SIZES), 1.0))


def _buckets(rng: np.random.Generator) -> Model:
    bucket = (np.arange(math.prod(SIZES), dtype=np.int32) // 4).reshape(SIZES)
    return CellsModel(NoisyCells(3 + rng.normal(size=SIZES), 1.0, bucket))


def _product(rng: np.random.Generator) -> Model:
    return ProductModel(NoisyProduct(tuple(np.full(size, 84.0 / size) for size in SIZES), 1.0))


def _combined(rng: np.random.Generator) -> Model:
    return Combined.mean_of([_cloud(rng), _cloud(rng)], np.array([0.25, 0.75]), "same rows", SIZES)


PVIEWS: dict[str, Callable[[np.random.Generator], Model]] = {
    "cloud": _cloud,
    "blocks": _blocks,
    "cells": _cells,
    "buckets": _buckets,
    "product": _product,
    "combined": _combined,
}


@cache
def saved(kind: str) -> tuple[Any, bytes]:
    """Return the manifest and the data of a p-view of a kind."""
    pview = PView(Domain(AXES), PVIEWS[kind](np.random.default_rng(1)), FACTS)
    with tempfile.TemporaryDirectory() as folder:
        path = pview.save(Path(folder) / "pview")
        return json.loads((path / "manifest.json").read_text()), (path / "pview.parquet").read_bytes()
