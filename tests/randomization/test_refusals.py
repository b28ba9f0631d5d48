"""Noise that gives k = 1 is refused, with the theorem that says why; and the theorems hold in numbers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

import sudare as sd
from sudare.randomization.refusals import REFUSED

AGES = sd.Schema.from_roles(quasi=["age"], bounds={"age": (0, 20)}, missing="refuse")
DOMAIN = sd.Schema.from_roles(quasi=["age"], domains={"age": list(range(21))}, missing="refuse")
PEOPLE = pl.DataFrame({"age": [0, 5, 20] * 20})
THEOREM = {
    "normal": "5.3",
    "gaussian": "5.3",
    "uniform": "5.2",
    "triangular": "5.2",
    "rounding": "5.2",
    "bounded": "5.2",
}


def tent(width: int) -> np.ndarray:
    """Noise that ends, clipped to the bounds: one column for each age."""
    noise = np.arange(-width, width + 1)
    matrix = np.zeros((21, 21))
    for age in range(21):
        np.add.at(matrix[:, age], np.clip(age + noise, 0, 20), 1.0 + width - np.abs(noise))
    return matrix / matrix.sum(axis=0)


@pytest.mark.parametrize("word", REFUSED)
def test_noise_that_protects_nobody_is_refused_with_its_theorem(word: str) -> None:
    table = sd.read(PEOPLE, AGES)
    with pytest.raises(sd.RequirementError, match=rf"k = 1 only.*Theorem {THEOREM[word]}.*Laplace"):
        sd.randomize(table, sd.PkAnonymity(2), how={"age": word})  # type: ignore[dict-item]
    with pytest.raises(sd.RequirementError, match=rf"Theorem {THEOREM[word]}"):
        sd.methods.Noise(distribution=word)  # type: ignore[arg-type]


def test_noise_of_bounded_support_is_refused_as_a_matrix() -> None:
    for width in (1, 5, 9):
        with pytest.raises(
            sd.RequirementError, match=r"'age' gives Pk-anonymity with k = 1 only.*Theorem 5\.2"
        ):
            sd.randomize(sd.read(PEOPLE, DOMAIN), sd.PkAnonymity(1.01), matrices={"age": tent(width)})
    wide = tent(40)  # of which every bound-to-bound move is possible, once it is clipped
    assert (wide > 0).all()
    assert sd.randomize(sd.read(PEOPLE, DOMAIN), sd.PkAnonymity(1.01), matrices={"age": wide}).plan.k > 1.01


def test_noise_without_bounds_is_refused() -> None:
    schema = sd.Schema.from_roles(quasi=["age"], types={"age": "number"})
    with pytest.raises(sd.InputError):
        sd.randomize(sd.read(PEOPLE, schema), sd.PkAnonymity(2), how={"age": "noise"})


def test_an_unknown_distribution_is_a_mistake_and_no_theorem() -> None:
    with pytest.raises(sd.ParameterError, match="'distribution' parameter of Noise must be one of 'laplace'"):
        sd.methods.Noise(distribution="cauchy")  # type: ignore[arg-type]


def test_the_page_says_why_in_words() -> None:
    page = (Path(__file__).parents[2] / "docs" / "concepts.md").read_text()
    section = page.split("### Noise that protects nobody")[1].split("\n## ")[0]
    for theorem in ("5.1", "5.2", "5.3", "6.1"):
        assert f"Theorem {theorem}" in section
