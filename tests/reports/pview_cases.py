"""Small views for the tests of their pages."""

from __future__ import annotations

from html.parser import HTMLParser
from typing import Any

import numpy as np
import polars as pl

import sudare as sd
from sudare.pview.pview import PView
from sudare.verbs.materialize import materialize

VOID = {"meta", "br"}


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


def seen(table: sd.Table, method: str = "independent", epsilon: float = 1.0, **options: Any) -> PView:
    return materialize(table, sd.DifferentialPrivacy(epsilon, **options), method, unsafe_seed=1)


class _Tags(HTMLParser):
    """Follows which tags are open, and keeps the text between them."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: dict[str, str] = {}
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        pass

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] not in ("script", "style"):
            self.text += data


def text_of_well_formed(page: str) -> str:
    """Return what a page says; every tag must be closed where it should be."""
    tags = _Tags()
    tags.feed(page)
    tags.close()
    assert tags.open == []
    return tags.text
