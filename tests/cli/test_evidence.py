"""`sudare evidence`."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl

import sudare as sd
from tests.cli.conftest import Run


def release(folder: Path, ledger: Path) -> None:
    table = sd.read(pl.DataFrame({"age": [20, 20, 30, 30]}), sd.Schema.from_roles(quasi=["age"]))
    sd.generalize(table, sd.KAnonymity(2)).write(folder, ledger=sd.Ledger(ledger))


def test_it_says_where_the_evidence_is(run: Run, tmp_path: Path) -> None:
    release(tmp_path / "out", tmp_path / "ledger.db")
    done = run("evidence", "out", "--by", "A. Holder", "--ledger", "ledger.db")
    assert done.code == 0
    assert "out/keep/evidence.html" in done.out
    assert "print it from a browser" in done.out
    as_json = run("evidence", "out", "--by", "A. Holder", "--json")
    assert json.loads(as_json.out) == {"evidence": "out/keep/evidence.html"}


def test_what_was_changed_ends_with_1_and_what_is_no_release_with_2(run: Run, tmp_path: Path) -> None:
    release(tmp_path / "out", tmp_path / "ledger.db")
    assert run("evidence", "nowhere", "--by", "A. Holder").code == 2
    assert run("evidence", "out").code == 2  # nobody stands for it
    assert run("evidence", "out", "--by", "A. Holder", "--ledger", "none.db").code == 2
    (tmp_path / "out" / "hand-over" / "data.csv").write_text("age\n20\n", encoding="utf-8")
    assert run("evidence", "out", "--by", "A. Holder").code == 1
