"""Benchmarks run in their quick form, so that they do not rot."""

from __future__ import annotations

import pytest

from benchmarks import tables


def test_tables_quick(capsys: pytest.CaptureFixture[str]) -> None:
    tables.main(quick=True)
    printed = capsys.readouterr().out
    assert "Reading 20,000 rows" in printed
    assert "Counting 20,000 rows" in printed
