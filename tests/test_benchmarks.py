"""Benchmarks run in their quick form, so that they do not rot."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from benchmarks import (
    arx,
    attacks,
    audits,
    combining,
    generalization,
    many_attributes,
    pairs,
    plans,
    pram,
    pviews,
    sampling,
    startup,
    tables,
    views,
)
from sudare.randomization.pram import Pram, optimal_pram
from sudare.verbs.materialize import METHODS


@pytest.mark.slow
def test_startup_quick(capsys: pytest.CaptureFixture[str]) -> None:
    startup.main(quick=True)
    printed = capsys.readouterr().out
    assert "The first release of a fresh installation" in printed
    assert "mondrian" in printed


@pytest.mark.slow
def test_tables_quick(capsys: pytest.CaptureFixture[str]) -> None:
    tables.main(quick=True)
    printed = capsys.readouterr().out
    assert "Reading 20,000 rows" in printed
    assert "Counting 20,000 rows" in printed


@pytest.mark.slow
def test_plans_quick(data_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plans.main(quick=True)
    printed = capsys.readouterr().out
    assert "Plans of Adult, 2,000 rows" in printed
    assert "20,000 rows x 8 columns" in printed


@pytest.mark.slow
def test_many_attributes_quick(data_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    many_attributes.main(quick=True)
    assert "drawn, with noise (seed 2)" in " ".join(capsys.readouterr().out.split())


@pytest.mark.slow
def test_generalization_quick(data_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    generalization.main(quick=True)
    printed = capsys.readouterr().out
    assert "Adult, 500 rows" in printed
    assert "mondrian" in printed
    assert "minimal" in printed
    assert "One coding for each column: Adult, 500 rows" in printed
    assert "NO" not in printed


@pytest.mark.slow
def test_arx_quick(
    data_folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SUDARE_ARX", raising=False)
    arx.main(quick=True)
    printed = capsys.readouterr().out
    assert "minimal, quick" in printed
    assert "ARX" not in printed  # nothing is said of what was not measured


@pytest.mark.slow
def test_attacks_quick(data_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    attacks.main(quick=True)
    printed = capsys.readouterr().out
    assert "Adult, 1,000 rows, k = 5, distinct l = 3" in printed
    assert "left out" in printed
    assert all(printed.count(method) >= 2 for method in ("minimal", "mondrian", "blind"))


def test_pairs_quick(data_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pairs.main(quick=True)
    printed = capsys.readouterr().out
    assert "All pairs of tuples" in printed
    assert "Adult" in printed


def test_sampling_quick(capsys: pytest.CaptureFixture[str]) -> None:
    sampling.main(quick=True)
    printed = capsys.readouterr().out
    assert "exact draws from a cryptographic source" in printed
    assert "retention, 8 attributes" in printed
    assert "discrete Laplace, scale 50" in printed


@pytest.mark.slow
def test_pram_quick(capsys: pytest.CaptureFixture[str]) -> None:
    pram.main(quick=True)
    printed = capsys.readouterr().out
    assert "Optimal PRAM, epsilon = 4.1" in printed
    assert "10,000" in printed


@pytest.mark.slow
def test_views_quick(data_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    views.main(quick=True)
    printed = capsys.readouterr().out
    assert "learn_views (cut and label)" in printed
    assert "3,000" in printed
    assert "sd.generalize_views with all that it certifies" in printed


@pytest.mark.slow
def test_pviews_quick(data_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pviews.main(quick=True)
    printed = capsys.readouterr().out
    assert "sd.materialize, epsilon = 1" in printed
    assert "2,000 rows, 10^10 cells" in printed
    assert "RMSE on Adult's numbers and income (500 rows)" in printed


@pytest.mark.slow
def test_combining_quick(capsys: pytest.CaptureFixture[str]) -> None:
    combining.main(quick=True)
    printed = capsys.readouterr().out
    assert "sd.combine of p-views with epsilon = 0.5 each" in printed
    assert "2-way marginals" in printed


@pytest.mark.slow
def test_audits_quick(capsys: pytest.CaptureFixture[str]) -> None:
    audits.main(quick=True)
    printed = capsys.readouterr().out
    assert "Audits of whole methods on two neighbouring tables" in printed
    assert all(printed.count(method) == 2 for method in METHODS)


@pytest.mark.skipif(pram.clarabel is None, reason="Clarabel is not installed")
def test_all_pairs_and_the_search_agree() -> None:
    v = pram.histogram(20)
    peers = Pram(np.clip(pram.with_clarabel(v, 2.0), 0, 1))
    ours = optimal_pram(v, epsilon=2.0)
    assert peers.epsilon <= 2.0 + 1e-4
    assert ours.epsilon <= 2.0 + 1e-9
    assert ours.bias(v) == pytest.approx(peers.bias(v), rel=1e-4)
