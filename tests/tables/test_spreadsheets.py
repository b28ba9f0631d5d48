"""No cell of a CSV file is a formula to a spreadsheet, and every text can be had back."""

from __future__ import annotations

import io
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sudare.tables.spreadsheets import GUARDED, guarded, unguarded

TEXTS = st.text(st.sampled_from("'=+-@＝＋－＠\t\r\n 1.e%ax"), max_size=6) | st.none()


@given(st.lists(TEXTS, min_size=1, max_size=10))
def test_there_and_back(texts: list[str | None]) -> None:
    safe = guarded(pl.DataFrame({"a": pl.Series(texts, dtype=pl.String)}))["a"]
    assert unguarded(safe).to_list() == texts
    for text in safe.drop_nulls().to_list():
        if text.startswith(("=", "+", "-", "@", "＝", "＋", "－", "＠", "\t", "\r", "\n")):
            float(text)  # a number is no formula


@given(st.lists(TEXTS, min_size=1, max_size=10))
def test_in_a_file(texts: list[str | None]) -> None:
    frame = pl.DataFrame({"=a": pl.Series(texts, dtype=pl.String), "b": 1})
    text = guarded(frame).write_csv().encode()
    read = pl.read_csv(io.BytesIO(text), infer_schema=False)
    assert read.columns == ["'=a", "b"]
    assert unguarded(read["'=a"]).to_list() == texts


@pytest.mark.parametrize("number", ["-5", "+5", "-1.5e-3", "-.5"])
def test_numbers_stay(number: str) -> None:
    assert guarded(pl.DataFrame({"a": [number]}))["a"].to_list() == [number]


def test_the_docs_say_what_to_take_away() -> None:
    docs = Path(__file__).parents[2] / "docs" / "how-to.md"
    assert f"`{GUARDED}`" in docs.read_text(encoding="utf-8")
