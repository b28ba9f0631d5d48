"""HIPAA's eighteen identifiers: each has a column that shows it, and a column like it that does not."""

from __future__ import annotations

import datetime as dt
from typing import Any

import polars as pl
import pytest

from sudare.reports.safe_harbor import IDENTIFIERS, Column, look_for_identifiers
from sudare.tables.attribute import Role

YEAR = 2026


def verdicts(name: str, values: list[Any], role: Role = Role.other) -> dict[str, str]:
    """What is said of a column in which every value stands ten times."""
    column = Column(name, role, pl.Series(values), pl.repeat(10, len(values), dtype=pl.Int64, eager=True))
    return {one.letter: one.verdict for one in look_for_identifiers(column, YEAR)}


FOUND = {
    "B": ("zip", ["02139", "02138"]),
    "C": ("when", [dt.date(2024, 5, 17)]),
    "D": ("x", ["+1 617 555 0199"]),
    "F": ("remark", ["nothing", "write to ann.lee@example.org please"]),
    "G": ("x", ["078-05-1120"]),
    "J": ("x", ["GB82 WEST 1234 5698 7654 32"]),
    "M": ("x", ["00:1B:44:11:3A:B7"]),
    "N": ("x", ["see https://example.org/ann"]),
    "O": ("x", ["192.168.10.7"]),
    "Q": ("x", ["ann.jpg"]),
}
BY_NAME = {
    "A": "last_name",
    "B": "homeCity",
    "C": "DischargeDate",
    "D": "mobile",
    "E": "fax",
    "F": "e_mail",
    "G": "SSN",
    "H": "MRN",
    "I": "memberId",
    "J": "bank_account",
    "K": "passport",
    "L": "vehicle",
    "M": "device",
    "N": "homepage",
    "O": "ip_address",
    "P": "fingerprint",
    "Q": "photo",
    "R": "uuid",
}


def test_every_identifier_is_looked_for_by_name_and_the_patterns_by_value() -> None:
    assert set(BY_NAME) == set(IDENTIFIERS)
    assert len(IDENTIFIERS) == 18


@pytest.mark.parametrize("letter", FOUND)
def test_what_is_written_like_an_identifier_is_found(letter: str) -> None:
    assert verdicts(*FOUND[letter])[letter] == "found"


@pytest.mark.parametrize("letter", BY_NAME)
def test_a_name_that_speaks_of_an_identifier_is_to_be_judged(letter: str) -> None:
    assert verdicts(BY_NAME[letter], ["low", "high"])[letter] == "to be judged"


@pytest.mark.parametrize(
    ("name", "letter"),
    [
        ("stadt", "B"),
        ("Wohnort", "B"),
        ("ville", "B"),
        ("vorname", "A"),
        ("Straße", "B"),
        ("prénom", "A"),
        ("dirección", "B"),
    ],
)
def test_names_in_other_languages_speak_of_identifiers(name: str, letter: str) -> None:
    assert verdicts(name, ["Abc", "Def"])[letter] == "to be judged"


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("smoker", ["never", "former", "current"]),
        ("income", [39_800, 12_500]),
        ("score", [0.25, 12.75]),
        ("age", [18, 89]),
        ("age", ["[80, 90)", "*", "90+", "≥ 90"]),
        ("since", ["2024", "2020s", "2020-2029", "*"]),
        ("time", ["12:30:45"]),
        ("ratio", ["1.2.3"]),
        ("level", [69.123456, 1234.567891, 2024.5]),
        ("level", ["69.123456", "[1234.5, 2000.1)", "1e-05"]),
        ("wage", ["1000-2000", "[1000, 2000)"]),
        ("blood_pressure", ["120/80", "90/60"]),
    ],
)
def test_ordinary_columns_show_nothing(name: str, values: list[Any]) -> None:
    assert verdicts(name, values) == {}


@pytest.mark.parametrize(
    ("label", "verdict"),
    [(95, "found"), ("[90, 95)", "found"), ("[80, 100)", "to be judged"), (90, "to be judged")],
)
def test_ages_over_89_may_stand_only_in_one_group(label: Any, verdict: str) -> None:
    assert verdicts("age", [label])["C"] == verdict
    assert "C" not in verdicts("points", [label])


@pytest.mark.parametrize("label", ["{91, 95}", "91-95", "91 to 95", "over 90", "91–95"])
def test_ages_over_89_in_labels_of_other_forms_are_to_be_judged(label: str) -> None:
    assert verdicts("age", ["20-29", label]) == {"C": "to be judged"}
    assert verdicts("age", ["20-29", "*", "{30, 41}"]) == {}


@pytest.mark.parametrize(
    "label", ["2024-05", "2024-Q2", "17/05/2024", "May 2024", "2024年5月", "[2024-05-01, 2024-06-01)"]
)
def test_dates_finer_than_a_year_are_found_however_they_are_written(label: str) -> None:
    assert verdicts("x", [label])["C"] == "found"


def test_three_digits_of_a_zip_code_are_for_the_census_to_judge() -> None:
    assert verdicts("postcode", ["021**", "***"])["B"] == "to be judged"
    assert verdicts("postcode", ["0213*"])["B"] == "found"
    assert verdicts("postcode", [2139])["B"] == "found"  # as a number, it lost its zero


def test_who_was_born_long_ago_is_over_89() -> None:
    assert verdicts("birth_year", [1936, 1990])["C"] == "found"
    assert verdicts("birth_year", [1940])["C"] == "to be judged"  # only its name speaks of a date


def test_values_that_nobody_shares_are_a_code() -> None:
    own = Column("ward_no", Role.other, pl.Series(range(100)), pl.repeat(1, 100, dtype=pl.Int64, eager=True))
    assert {one.letter: one.verdict for one in look_for_identifiers(own, YEAR)}["R"] == "found"
    some = Column("cost", Role.other, pl.Series([1, 2]), pl.Series([1, 9]))
    assert [(one.letter, one.verdict) for one in look_for_identifiers(some, YEAR)] == [("R", "to be judged")]
    measured = Column("cost", Role.other, pl.Series([1.5, 2.5]), pl.Series([1, 1]))
    assert [(one.letter, one.verdict) for one in look_for_identifiers(measured, YEAR)] == [
        ("R", "to be judged")
    ]


def test_a_number_that_ties_rows_together_is_to_be_judged() -> None:
    assert verdicts("hid", [1, 2, 3], Role.household)["R"] == "to be judged"


def test_a_declared_domain_has_no_records_of_its_own() -> None:
    column = Column("age", Role.quasi, pl.Series(["88", "95"]), pl.Series([], dtype=pl.Int64))
    assert [(one.letter, one.verdict) for one in look_for_identifiers(column, YEAR)] == [("C", "found")]
