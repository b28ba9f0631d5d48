"""Columns that number people, records or things, and those that only look so."""

from __future__ import annotations

import polars as pl
import pytest

import sudare as sd
from sudare.drafting.guess import guess_roles
from sudare.tables.attribute import Role


def role_of(name: str, values: list) -> Role:
    ages = [20 + row % 60 for row in range(len(values))]
    table = sd.read(pl.DataFrame({"age": ages, name: values}))
    return guess_roles((table[column] for column in table.columns), len(table))[name].role


UNLIKE = [7 * row + row * row % 5 for row in range(300)]
REPEATED = [100 + 3 * (row // 4) for row in range(400)]
IN_ORDER = [1 + row // 3 for row in range(900)]


@pytest.mark.parametrize("name", ["studyid", "pidnum", "global_num", "kid", "Subject", "student_no"])
def test_a_number_of_its_own_for_everybody_is_an_identifier(name: str) -> None:
    assert role_of(name, UNLIKE) == Role.identifier


@pytest.mark.parametrize("name", ["respond", "Consumer", "contestant", "prof", "subject"])
def test_a_word_for_people_with_many_numbers_numbers_them(name: str) -> None:
    assert role_of(name, REPEATED) == Role.person


def test_a_few_subjects_are_numbered_where_no_number_is_left_out() -> None:
    assert role_of("Subject", [1 + row // 9 for row in range(234)]) == Role.person


def test_numbers_without_a_gap_number_people_whatever_they_are_called() -> None:
    assert role_of("s", IN_ORDER) == Role.person


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("students", [5 + row % 90 for row in range(400)]),  # how many there are
        ("resp", [row % 66 for row in range(9000)]),  # breaths in a minute
        ("contact_number", [row % 77 for row in range(3000)]),  # people who were met
        ("amount_paid", UNLIKE),
        ("number_of_visits", UNLIKE),
    ],
)
def test_counts_and_measures_number_nobody(name: str, values: list) -> None:
    assert role_of(name, values) not in (Role.identifier, Role.person, Role.household)


def test_a_hospitals_number_that_hardly_two_share_is_one_of_its_patients() -> None:
    assert role_of("HospID", [500 + row - row // 12 for row in range(200)]) == Role.identifier
    assert role_of("HospID", [500 + row % 9 for row in range(200)]) == Role.quasi


def test_x_beside_y_is_where_somebody_is() -> None:
    places = [0.1 + 1.37 * row for row in range(200)]
    table = sd.read(pl.DataFrame({"X": places, "Y": places[::-1], "z": places}))
    found = guess_roles((table[column] for column in table.columns), len(table))
    assert (found["X"].role, found["Y"].role) == (Role.identifier, Role.identifier)
    assert found["X"].reason == "'X' beside 'Y': where exactly somebody is"
    assert found["z"].role != Role.identifier


def test_shapes_on_a_map_are_identifiers() -> None:
    assert role_of("where", [f"POINT ({row} {row % 7})" for row in range(200)]) == Role.identifier


@pytest.mark.parametrize("name", ["weights", "weightsEmployees"])
def test_weights_are_those_of_records(name: str) -> None:
    assert role_of(name, [1 + row % 9 for row in range(200)]) == Role.weight


@pytest.mark.parametrize(("one", "other"), [("Female", "Male"), ("Mujer", "Hombre"), ("女性", "男性")])
def test_female_and_male_say_what_they_are(one: str, other: str) -> None:
    assert role_of("ST04Q01", [one, other] * 100) == Role.quasi


def test_what_is_called_after_an_event_that_many_share_names_nobody() -> None:
    meets = [f"{row % 3}. Open Championship" for row in range(900)]
    assert role_of("meet_name", meets) != Role.identifier


@pytest.mark.parametrize("name", ["patient_id", "person_id", "pid", "patient", "Customer"])
def test_numbers_of_persons_may_look_like_codes_of_diseases(name: str) -> None:
    numbers = [f"P{row // 2:05d}" for row in range(600)]
    assert role_of(name, numbers) == Role.person
    assert role_of(name, numbers[::2]) == Role.identifier


@pytest.mark.parametrize("name", ["icd10", "diagnosis", "diag_code", "cause_of_death_code"])
def test_codes_of_diseases_are_sensitive(name: str) -> None:
    assert (
        role_of(name, [f"{'CEFJ'[row % 4]}{row % 40:02d}.{row % 3}" for row in range(600)]) == Role.sensitive
    )
