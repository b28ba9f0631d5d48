"""The recipes of the examples, on what real servers send: much is missing, and some of it is wrong."""

from __future__ import annotations

import runpy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

EXAMPLES = Path(__file__).parent.parent / "examples"


@pytest.fixture(scope="module")
def flattened() -> Callable[[Any], pl.DataFrame]:
    return runpy.run_path(str(EXAMPLES / "fhir.py"))["flattened"]  # type: ignore[no-any-return]


def bundle(*resources: Any) -> Any:
    return {"entry": [{"resource": own} for own in resources]}


ANN = {"resourceType": "Patient", "id": "1", "name": [{"family": "Kowalczyk"}], "telecom": [{"value": "555"}]}


def ill(reference: str | None = "Patient/1", **more: Any) -> Any:
    subject = {} if reference is None else {"subject": {"reference": reference}}
    return {"resourceType": "Condition", "code": {"coding": [{"code": "E11"}]}, **subject, **more}


def test_who_says_nothing_has_a_row_of_nothing(flattened: Callable[[Any], pl.DataFrame]) -> None:
    assert flattened(bundle(ANN)).rows() == [("1", None, None, None, "none")]
    assert flattened({}).height == 0
    dated = flattened(
        bundle({**ANN, "birthDate": "1950-05", "address": [{"city": "Ayr"}, {"postalCode": "1"}]})
    )
    assert dated.rows() == [("1", 1950, None, "1", "none")]


@pytest.mark.parametrize(
    "reference", ["Patient/1", "https://a.example/fhir/Patient/1", "Patient/1/_history/7"]
)
def test_patients_are_referred_to_in_several_ways(
    reference: str, flattened: Callable[[Any], pl.DataFrame]
) -> None:
    assert flattened(bundle(ill(reference), ANN))["conditions"].to_list() == ["E11"]


def test_also_by_the_address_of_an_entry(flattened: Callable[[Any], pl.DataFrame]) -> None:
    nameless = {"resourceType": "Patient"}
    given = {"entry": [{"fullUrl": "urn:uuid:7", "resource": nameless}, {"resource": ill("urn:uuid:7")}]}
    assert flattened(given).rows() == [("urn:uuid:7", None, None, None, "E11")]


def test_what_was_not_meant_or_typed_by_hand_is_not_told(flattened: Callable[[Any], pl.DataFrame]) -> None:
    wrong = ill(verificationStatus={"coding": [{"code": "entered-in-error"}]})
    typed = ill(code={"text": "Kowalczyk is ill"})
    assert flattened(bundle(ANN, wrong))["conditions"].to_list() == ["none"]
    assert flattened(bundle(ANN, typed, ill(code=None), ill(), ill()))["conditions"].to_list() == [
        "E11; not coded"
    ]


@pytest.mark.parametrize(
    ("resources", "why"),
    [
        ([ANN, ANN], "twice"),
        ([ANN, ill("Patient/2")], "nobody"),
        ([ANN, ill(None)], "nobody"),
        ([ill("Group/1")], "nobody"),
    ],
)
def test_what_would_be_counted_wrongly_is_refused(
    resources: list[Any], why: str, flattened: Callable[[Any], pl.DataFrame]
) -> None:
    with pytest.raises(ValueError, match=why):
        flattened(bundle(*resources))


def test_people_of_omop_count_once_and_conditions_are_of_somebody() -> None:
    conditions = runpy.run_path(str(EXAMPLES / "omop.py"))["conditions"]
    person = pl.DataFrame(
        {"person_id": [1, 2], "gender_concept_id": [8507, 8551], "year_of_birth": [1950, None]}
    )
    had = pl.DataFrame({"person_id": [1, 1, 2], "condition_concept_id": [5, 5, 0]})
    assert conditions(person, had).rows() == [(1, "male", 1950, 5), (2, None, None, 0)]
    with pytest.raises(ValueError, match="twice"):
        conditions(pl.concat([person, person]), had)
    with pytest.raises(ValueError, match="nobody"):
        conditions(person[:1], had)
