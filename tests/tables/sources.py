"""Random schemas, and tables of different rows and sources that agree with them."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
from hypothesis import strategies as st

import sudare as sd

START = dt.date(2000, 1, 1)


@st.composite
def attributes(draw: st.DrawFn) -> tuple[dict[str, Any], list[Any]]:
    """Draw what a schema says of an attribute, and some values that it allows."""
    kind = draw(st.sampled_from(["integer", "number", "date", "text", "listed numbers", "truth values"]))
    if kind == "integer":
        width = draw(st.integers(1, 2000))
        declared = draw(st.booleans())
        values = st.integers(0, width)
        return {"bounds": (0, width)} | ({"type": "integer"} if declared else {}), draw(some(values))
    if kind == "number":
        attribute: dict[str, Any] = draw(
            st.sampled_from([{"bounds": (0, 50.0)}, {"bounds": (0, 50), "type": "number"}])
        )
        return attribute, draw(some(st.integers(0, 5000).map(lambda cents: cents / 100)))
    if kind == "date":
        days = draw(st.integers(1, 400))
        values = st.integers(0, days).map(lambda i: START + dt.timedelta(i))
        return {"bounds": (START, START + dt.timedelta(days)), "type": "date"}, draw(some(values))
    domain: list[Any] = {
        "text": ["a", "b", "c d"],
        "listed numbers": [3, 1, 20],
        "truth values": [True, False],
    }[kind]
    return {"domain": tuple(domain)}, draw(some(st.sampled_from(domain)))


def some(values: st.SearchStrategy[Any]) -> st.SearchStrategy[list[Any]]:
    return st.lists(values, min_size=2, max_size=6)


Drawn = tuple[sd.Schema, list[tuple[str, dict[str, list[Any]]]]]


def tables_of(drawn: Drawn, folder: Path) -> list[sd.Table]:
    """Read what was drawn."""
    schema, sources = drawn
    return [
        sd.read(source_of(columns, kind, folder / f"{number}.csv"), schema)
        for number, (kind, columns) in enumerate(sources)
    ]


@st.composite
def agreeing_sources(draw: st.DrawFn, *, missing: bool = True) -> Drawn:
    """Draw a schema, and the rows of two tables of it, each with a kind of source of its own."""
    drawn = [draw(attributes()) for _ in range(draw(st.integers(1, 4)))]
    own = missing and draw(st.booleans())
    schema = sd.Schema(
        attributes={f"x{i}": sd.Attribute(role="quasi", **said) for i, (said, _) in enumerate(drawn)},
        missing="own value" if own else "refuse",
    )
    sources = []
    for _ in range(2):
        rows = draw(st.integers(2, 12))
        columns = {
            f"x{i}": [draw(st.sampled_from(values)) for _ in range(rows)]
            for i, (_, values) in enumerate(drawn)
        }
        if own:  # the first row has all, so that no column is empty
            columns = {
                name: [values[0], *(None if draw(st.integers(0, 4)) == 0 else v for v in values[1:])]
                for name, values in columns.items()
            }
        kind = draw(
            st.sampled_from(["pandas", "pandas objects", "polars", "narrow", "arrow decimals", "csv"])
        )
        sources.append((kind, columns))
    return schema, sources


def source_of(columns: dict[str, list[Any]], kind: str, path: Path) -> Any:
    """Return the rows as a source of some kind."""
    if kind == "pandas":
        return pd.DataFrame(columns)
    if kind == "pandas objects":
        return pd.DataFrame({name: pd.Series(values, dtype=object) for name, values in columns.items()})
    frame = pl.DataFrame({name: pl.Series(values, strict=False) for name, values in columns.items()})
    if kind == "narrow":
        return frame.with_columns(pl.col(pl.Int64).cast(pl.Int16), pl.col(pl.String).cast(pl.Categorical))
    if kind == "arrow decimals":
        return pa.table({name: _decimals(values) for name, values in columns.items()})
    if kind == "csv":
        frame.write_csv(path)
        return path
    return frame


def _decimals(values: list[Any]) -> pa.Array:
    if all(v is None or (isinstance(v, int | float) and not isinstance(v, bool)) for v in values):
        exact = [None if v is None else Decimal(str(v)).quantize(Decimal("0.01")) for v in values]
        return pa.array(exact, pa.decimal128(12, 2))
    return pa.array(values)
