"""Invariant PRAM, and what sdcMicro's users know."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import sudare as sd
from sudare.randomization.invariant import transitions


@pytest.mark.parametrize("pd", [0.0, 0.3, 0.8, 1.0])
@pytest.mark.parametrize("alpha", [0.0, 0.5, 1.0])
def test_nothing_changes_on_average(pd: float, alpha: float) -> None:
    rng = np.random.default_rng(3)
    for d in (1, 2, 7, 30):
        v = rng.integers(1, 1000, d).astype(float)
        matrix = sd.pram.invariant_pram(v, pd=pd, alpha=alpha).matrix
        assert matrix.sum(axis=0) == pytest.approx(np.ones(d))
        assert matrix @ v == pytest.approx(v)
        assert (np.diag(matrix) >= 1 - alpha - 1e-12).all()


def test_leaving_more_alone_costs_more_privacy() -> None:
    prices = [sd.pram.invariant_pram([60, 30, 10], alpha=alpha).epsilon for alpha in (1.0, 0.5, 0.1)]
    assert prices == sorted(prices)
    assert sd.pram.invariant_pram([60, 30, 10], alpha=0.0).epsilon == np.inf


def test_an_empty_cell_is_refused() -> None:
    with pytest.raises(sd.ParameterError, match="numbers above 0"):
        sd.pram.invariant_pram([60, 0, 10])
    with pytest.raises(sd.ParameterError, match="'pd' parameter of invariant_pram must be a probability"):
        sd.pram.invariant_pram([60, 10], pd=1.2)


def test_its_price_is_shown_in_the_certificate() -> None:
    sex = ["f"] * 600 + ["m"] * 400
    schema = sd.Schema.from_roles(quasi=["sex"], domains={"sex": ["f", "m"]}, missing="refuse")
    table = sd.read(pl.DataFrame({"sex": sex}), schema)
    r = sd.pram.invariant_pram([600, 400], pd=0.6, alpha=1.0)
    release = sd.randomize(table, sd.PkAnonymity(2), matrices={"sex": r.matrix}, unsafe_seed=1)
    assert release.certificate.measured["epsilon"] == pytest.approx(r.epsilon)
    assert release.frame()["sex"].value_counts().sort("sex")["count"].to_list() == pytest.approx(
        [600, 400], abs=80
    )


def test_transitions_add_up() -> None:
    before, after = pl.Series("x", ["a", "a", None, "b"]), pl.Series("x", ["b", "a", None, "b"])
    assert transitions(before, after).rows() == [("a", "a", 1), ("a", "b", 1), ("b", "b", 1), (None, None, 1)]
    with pytest.raises(sd.ParameterError, match="one length"):
        transitions(before, after.head(2))
