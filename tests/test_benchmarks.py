"""Benchmarks run in their quick form, so that they do not rot."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import generalization, pairs, tables


def test_tables_quick(capsys: pytest.CaptureFixture[str]) -> None:
    tables.main(quick=True)
    printed = capsys.readouterr().out
    assert "Reading 20,000 rows" in printed
    assert "Counting 20,000 rows" in printed


def test_generalization_quick(data_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    generalization.main(quick=True)
    printed = capsys.readouterr().out
    assert "Adult, 500 rows" in printed
    assert "mondrian" in printed
    assert "minimal" in printed


def test_pairs_quick(data_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pairs.main(quick=True)
    printed = capsys.readouterr().out
    assert "All pairs of tuples" in printed
    assert "Adult" in printed
