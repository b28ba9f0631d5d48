"""Roles are guessed alike in all languages, by names, values, and what a table is about."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
import polars as pl
import pytest

import sudare as sd
from sudare.drafting.guess import guess_roles
from sudare.drafting.names import hits
from sudare.drafting.numbering import Guess
from sudare.tables.dictionary import Dictionary
from tests.drafting.languages import TABLES, Table


def guessed(frame: pl.DataFrame) -> dict[str, Guess]:
    table = sd.read(frame)
    return guess_roles((table[name] for name in table.columns), len(table))


@pytest.mark.parametrize("made", TABLES, ids=lambda made: made.__name__)
def test_headers_of_other_languages_are_understood(made: Callable[[], Table]) -> None:
    frame, roles = made()
    assert {name: guess.role for name, guess in guessed(frame).items()} == roles


def test_what_is_not_understood_is_what_the_table_is_about() -> None:
    known = {"age": [30, 40] * 20, "blood pressure": [120, 140] * 20, "diabetes": [0, 1] * 20}
    odd = {"qzx": [1.5, 2.5] * 20}
    assert guessed(pl.DataFrame(known | odd))["qzx"].role == "sensitive"
    assert guessed(pl.DataFrame({"age": [30, 40] * 20, "sex": [0, 1] * 20} | odd))["qzx"].role == "quasi"


@pytest.mark.parametrize(
    "name", "outcome ICU stroke diabetes asthma icu_admission hasDiabetes COPD Stroke_History".split()
)
def test_illnesses_are_sensitive(name: str) -> None:
    assert guessed(pl.DataFrame({name: ["Yes", "No"] * 30}))[name].role == "sensitive"


@pytest.mark.parametrize(
    ("name", "what"),
    [
        ("hgc", "schooling"),
        ("highest_grade", "schooling"),
        ("lead_time", "a journey"),
        ("njobs", "work"),
        ("kids_under_6", "family and household"),
        ("MORTDUE", "money"),
        ("cleanliness", "an opinion or belief"),
        ("AEBODSYS", "health"),
        ("BRTHDTC", "when something happened"),
        ("就学", "schooling"),
    ],
)
def test_names_of_registers_journeys_and_trials_are_understood(name: str, what: str) -> None:
    assert hits(name)[0].meaning.what == what


@pytest.mark.parametrize("name", ["amount", "Total Paid", "salary_usd", "claim_amount", "loan balance"])
def test_money_is_sensitive_though_every_value_is_another(name: str) -> None:
    frame = pl.DataFrame({name: [10_000 + 37 * i for i in range(300)]})
    assert guessed(frame)[name].role == "sensitive"


def test_unknown_amounts_that_all_differ_are_no_identifier() -> None:
    assert guessed(pl.DataFrame({"qzx": [30_000 + 211 * i for i in range(300)]}))["qzx"].role != "identifier"


@pytest.mark.parametrize("name", ["zip", "City", "neighborhood_name", "Postal Code", "birth place"])
def test_places_are_quasi_though_nearly_every_value_is_another(name: str) -> None:
    frame = pl.DataFrame({name: [f"place {i}" for i in range(300)]})
    assert guessed(frame)[name].role == "quasi"


def test_numbers_of_a_check_digit_that_is_wrong_are_none() -> None:
    rng = np.random.default_rng(1)
    numbers = [str(number) for number in rng.integers(10**15, 10**16, size=200)]
    assert "card numbers" not in guessed(pl.DataFrame({"zeta": numbers * 2}))["zeta"].reason


def test_a_million_values_are_looked_at_in_no_time() -> None:
    values = pl.Series("note", [f"{i} came in with a cough and went home" for i in range(10**6)])
    start = time.perf_counter()
    assert guess_roles([Dictionary(values, missing=False)], 10**6)["note"].role == "identifier"
    assert time.perf_counter() - start < 2


@pytest.mark.parametrize("name", ["concern_flag", "mobile_flag", "high_hours_flag"])
def test_what_is_flagged_of_somebody_is_not_passed_on(name: str) -> None:
    frame = pl.DataFrame({"salary": range(300), "city": ["a", "b", "c"] * 100, name: ["Y", "N", "N"] * 100})
    assert guessed(frame)[name].role in ("quasi", "sensitive")
