"""What the holder's record says of the method: what was really done, and what came of it beside Mondrian."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
import polars as pl
import pytest

import sudare as sd
from sudare.generalization import minimal
from sudare.generalization.mondrian import learn_mondrian
from sudare.generalization.moving import MOVING
from sudare.generalization.parts import parts_of
from sudare.generalization.problem import Problem, with_hierarchies
from sudare.verbs import method_record
from tests.generalization.cases import random_table, with_limits
from tests.generalization.test_regions import held_at_once, people, schema

ASKED = [sd.KAnonymity(3), sd.LDiversity(2)]


@pytest.fixture(scope="module")
def table() -> sd.Table:
    return random_table(Random(8), 120, attributes=3, kinds=["number", "tree", "intervals"])


def record_of(table: sd.Table, **asked: Any) -> dict[str, Any]:
    record: dict[str, Any] = sd.generalize(table, ASKED, **asked).holder["method"]
    return record


@pytest.mark.usefixtures("reports")
def test_it_says_what_was_tried_and_what_mondrian_does(table: sd.Table) -> None:
    release = sd.generalize(table, ASKED)
    record, distortion = release.holder["method"], release.holder["utility"]["distortion"]
    mondrian = sd.generalize(table, ASKED, "mondrian").holder["utility"]["distortion"]
    assert {key: record[key] for key in ("name", "effort", "start", "suppress", "deal", "parts")} == {
        "name": "minimal", "effort": "normal", "start": False, "suppress": 0.0, "deal": True, "parts": 1
    }  # fmt: skip
    assert set(record["minimal_in"]) >= {"moving", "cutting"}
    assert record["mondrian"] == pytest.approx(mondrian)
    assert record["better_than_mondrian"]
    assert not record["out_of_time"]
    assert f"Mondrian would distort {mondrian:.4f}, this does {distortion:.4f}." in record["text"]
    assert record["text"] in release.report.replace("&#39;", "'")


def test_effort_start_and_time(table: sd.Table) -> None:
    quick = record_of(table, effort="quick")
    assert quick["minimal_in"] == []
    assert "Tried until" not in quick["text"]
    thorough = record_of(table, effort="thorough", start=sd.generalize(table, ASKED, "mondrian").plan)
    assert thorough["start"]
    assert thorough["minimal_in"] == list(method_record.CHANGES)
    assert thorough["text"].startswith(
        "Effort: thorough, from an earlier plan. Tried until none saved anything: "
    )
    assert "Not tried to the end" not in thorough["text"]
    short = record_of(table, effort=1e-6)
    assert short["out_of_time"]
    assert short["effort"] == 1e-6
    assert "Time ran out first." in short["text"]


@pytest.mark.usefixtures("reports")
def test_an_effort_that_does_no_better_than_mondrian_says_so(table: sd.Table) -> None:
    start = sd.generalize(table, ASKED, "mondrian").plan
    release = sd.generalize(table, ASKED, effort="quick", start=start)
    record = release.holder["method"]
    assert release.holder["utility"]["distortion"] == pytest.approx(record["mondrian"])
    assert not record["better_than_mondrian"]
    assert "This effort did not suffice to do better than Mondrian" in record["text"]
    assert "This effort did not suffice to do better than Mondrian" in release.report
    assert "ondrian" not in release.certificate.model_dump_json()
    best = sd.generalize(
        sd.read(pl.DataFrame({"age": [20, 30]}), sd.Schema.from_roles(quasi=["age"])), sd.KAnonymity(2)
    )
    assert best.holder["method"]["text"].endswith(
        "Mondrian would distort 1.0000, and no method can do better."
    )


def test_whether_mondrian_does_better_is_not_for_receivers() -> None:
    """Two originals with the same output: the one bit would tell who of a block has which illness."""
    homes = {"street": list("bbaabbba"), "house": list("22211122"), "floor": list("wvvuuuvu")}
    own = sd.Schema.from_roles(quasi=list(homes), sensitive=["illness"], domains={"illness": list("xy")})
    releases = [
        sd.generalize(
            sd.read(pl.DataFrame({**homes, "illness": list(guess)}), own), sd.LDiversity(2), effort="quick"
        )
        for guess in ("xxxxxyxy", "xxxyxxxy")
    ]
    one, other = releases
    assert one.frame().equals(other.frame())
    assert one.holder["method"]["better_than_mondrian"] != other.holder["method"]["better_than_mondrian"]
    told = [release.certificate.model_dump(exclude={"created", "input"}) for release in releases]
    assert told[0] == told[1]


def test_parts_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    with_limits(monkeypatch, MAX_CHOICES=0, MAX_PAIRS=10_000, MAX_UNITS=60)
    table = random_table(Random(5), 300, attributes=4, kinds=["number", "tree", "intervals", "date"])
    record = record_of(table)
    problem = Problem.of(with_hierarchies(table), ASKED)
    assert record["parts"] == len(parts_of(problem, None, 60)) > 1
    assert f"in {record['parts']} parts of the table" in record["text"]
    assert record["mondrian"] == pytest.approx(learn_mondrian(problem).distortion())
    first = sd.generalize(table, ASKED)
    again = sd.generalize(table, ASKED, start=first.plan)
    assert again.holder["method"]["parts"] > 1
    assert again.holder["utility"]["distortion"] <= first.holder["utility"]["distortion"] + 1e-12


def test_tables_beyond_memory_have_it_too(monkeypatch: pytest.MonkeyPatch) -> None:
    held_at_once(monkeypatch, 150)
    release = sd.generalize(sd.read(people(400), schema(), engine="duckdb"), [sd.KAnonymity(5)])
    record = release.holder["method"]
    assert record["parts"] > 1
    assert record["better_than_mondrian"] == (release.holder["utility"]["distortion"] < record["mondrian"])


def test_other_methods_and_earlier_plans_say_what_is_known(table: sd.Table) -> None:
    release = sd.generalize(table, ASKED, "mondrian", strict=True)
    assert release.holder["method"] == {"name": "mondrian", "strict": True, "text": None}
    assert record_of(table, method="full-domain", suppress=0.5) == {
        "name": "full-domain", "suppress": 0.5, "measure": "distortion", "levels": None, "text": None
    }  # fmt: skip
    again = sd.apply(sd.generalize(table, ASKED).plan, table)
    assert again.holder["method"] == {"name": "minimal", "text": None}


@pytest.mark.parametrize("seed", range(6))
def test_no_unit_moves_where_that_is_claimed(seed: int) -> None:
    """Every unit is tried in every other block."""
    table = random_table(Random(seed), 40, attributes=2)
    problem = Problem.of(with_hierarchies(table), [sd.KAnonymity(3)])
    recoding = minimal.learn_minimal(problem)
    assert MOVING in recoding.account.settled
    cost = recoding.distortion()
    for unit, own in enumerate(recoding.block_of.tolist()):
        left = recoding.problem.weights[recoding.block_of == own].sum() - recoding.problem.weights[unit]
        if left < 3:
            continue
        for other in range(len(recoding.levels)):
            block_of = recoding.block_of.copy()
            block_of[unit] = other
            assert type(recoding).of("minimal", recoding.problem, block_of).distortion() >= cost - 1e-9
    assert np.bincount(recoding.block_of, recoding.problem.weights).min() >= 3
