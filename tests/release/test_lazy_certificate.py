"""A certificate is made when it is asked for: of what was verified, and of nothing else."""

from __future__ import annotations

import pickle
from dataclasses import replace

import polars as pl
import pytest

import sudare as sd
from sudare.release.certify import HandedOver
from sudare.tables.runs import Runs
from tests.test_conformance import SCHEMA, VIEWS, people


@pytest.fixture
def table() -> sd.Table:
    return sd.read(people(), SCHEMA)


def test_what_was_asked_for_cannot_be_changed_afterwards(table: sd.Table) -> None:
    release = sd.generalize(table, sd.KAnonymity(5))
    with pytest.raises(TypeError):
        release.requirements[0] = sd.KAnonymity(50)  # type: ignore[index]
    more = replace(release, declared=replace(release.declared, promises=(sd.KAnonymity(50),)))
    with pytest.raises(sd.RequirementError, match="50-anonymity"):
        more.certificate  # noqa: B018


def test_other_rows_are_verified_anew(table: sd.Table) -> None:
    release = sd.generalize(table, sd.KAnonymity(5))
    original = people().select(release.frame().columns)
    raw = replace(release, handed_over=HandedOver({"data": Runs.of(original)}))
    with pytest.raises(sd.RequirementError):
        raw.certificate  # noqa: B018


def test_views_cannot_claim_more_than_each_has(table: sd.Table) -> None:
    release = sd.generalize_views(table, VIEWS, sd.MultiViewDiversity(2))
    more = replace(release, declared=replace(release.declared, promises=(sd.MultiViewDiversity(9),)))
    with pytest.raises(sd.RequirementError):
        more.certificate  # noqa: B018


def test_copies_state_one_commitment(table: sd.Table) -> None:
    release = sd.generalize(table, sd.KAnonymity(5))
    copy = pickle.loads(pickle.dumps(release))
    assert copy.certificate.input == release.certificate.input
    assert release.certificate.input.matches(table.digest(), copy.kept.input_salt)


def test_an_error_shows_no_control_characters() -> None:
    hostile = "a\x1b[2J\nsudare: all is well"
    table = sd.read(pl.DataFrame({"city": [hostile, "b", "b"]}), sd.Schema.from_roles(quasi=["city"]))
    with pytest.raises(sd.RequirementError) as error:
        sd.verify(table.frame(), sd.KAnonymity(2), table.schema).refuse_if_broken()
    assert "\x1b" not in str(error.value)
    assert "\n" not in str(error.value)
