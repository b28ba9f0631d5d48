"""Small p-views for the tests of their pages."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

import sudare as sd
from sudare.pview.pview import PView
from sudare.verbs.materialize import materialize


def people(records: int = 3000, seed: int = 0) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 66, records)
    return pl.DataFrame(
        {
            "age": np.where(rng.random(records) < 0.1, -1, age),
            "income": np.round(rng.random(records) * 1000, 3),
            "town": [f"t{i}" for i in np.minimum(rng.geometric(0.2, records), 60)],
            "ill": np.where(rng.random(records) < age / 100, "yes", "no"),
        }
    ).with_columns(pl.col("age").replace(-1, None))


def survey(frame: pl.DataFrame) -> sd.Table:
    bounds: dict[str, Any] = {"age": (18, 65), "income": (0.0, 1000.0)}
    domains = {"town": [f"t{i}" for i in range(1, 61)], "ill": ["yes", "no"]}
    roles = {"quasi": ["age", "income", "town"], "sensitive": ["ill"]}
    return sd.read(frame, sd.Schema.from_roles(**roles, bounds=bounds, domains=domains, bins={"income": 50}))


def pview_of(table: sd.Table, method: str = "independent", epsilon: float = 1.0, **options: Any) -> PView:
    return materialize(table, sd.DifferentialPrivacy(epsilon, **options), method, unsafe_seed=1)
