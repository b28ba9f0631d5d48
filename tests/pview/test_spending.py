"""Spent budgets: typed shares, and how they are told."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import sudare as sd
from sudare.pview.spending import Share, Spending


def test_many_shares_are_told_by_their_kind() -> None:
    tables = [Share("table", Fraction(1, 8), (name,)) for name in "abcd"]
    choices = [Share("choice", Fraction(1, 8))] * 2
    spending = Spending("epsilon", Fraction(1), (*tables, *choices))
    assert spending.remaining == Fraction(1, 4)
    few = spending.parts(most=6)
    assert list(few) == ["table of 'a'", "table of 'b'", "table of 'c'", "table of 'd'", "2 × choice"]
    assert spending.parts(most=5) == {"4 × table": Fraction(1, 2), "2 × choice": Fraction(1, 4)}


def test_shares_name_what_was_counted() -> None:
    names = ["age and sex", "x", "pair of y"]
    codes = np.random.default_rng(0).integers(0, 4, (20_000, 3))
    schema = sd.Schema.from_roles(quasi=names, bounds=dict.fromkeys(names, (0, 3)), missing="refuse")
    table = sd.read(pl.DataFrame(codes, schema=names), schema)
    shares = sd.materialize(table, sd.DifferentialPrivacy(50.0), unsafe_seed=1).spending.shares
    assert [share.attributes[0] for share in shares if share.kind == "table"] == names
    pairs = [share.attributes for share in shares if share.kind in ("pair", "set")]
    assert pairs
    assert all(len({*pair} & {*names}) == len(pair) for pair in pairs)


def test_many_attributes_of_one_value_make_no_table_that_cannot_be_read_again(tmp_path: Path) -> None:
    names = [f"x{a}" for a in range(20)]
    codes = np.zeros((5000, 20), dtype=np.int64)
    codes[:, :4] = np.random.default_rng(0).integers(0, 2, 5000)[:, None]
    bounds = {name: (0, int(a < 4)) for a, name in enumerate(names)}
    table = sd.read(
        pl.DataFrame(codes, schema=names), sd.Schema.from_roles(quasi=names, bounds=bounds, missing="refuse")
    )
    pview = sd.materialize(table, sd.DifferentialPrivacy(20.0), unsafe_seed=1)
    assert any(share.kind == "set" for share in pview.spending.shares)
    assert sd.verify(pview.save(tmp_path / "pview")).holds


@pytest.mark.parametrize(
    "share",
    [
        {"kind": "set", "attributes": ["age", "sex"], "amount": "1"},
        {"kind": "set", "attributes": [f"x{a}" for a in range(13)], "amount": "1"},
        {"kind": "table", "attributes": [], "amount": "1"},
        {"kind": "total", "attributes": ["age"], "amount": "1"},
        {"kind": "Alice", "attributes": [], "amount": "1"},
        {"kind": "total", "attributes": [], "amount": "-1"},
        {"kind": "total", "attributes": [], "amount": 1},
        {"kind": "total", "amount": "1"},
    ],
)
def test_what_no_share_is_refused(share: object) -> None:
    budget = {"unit": "epsilon", "whole": "1", "shares": [share], "remaining": "0"}
    with pytest.raises(sd.InputError, match="The budget of the p-view"):
        Spending.from_json(budget)
