"""Randomizing at the source: answers are drawn by the laws, remembered by a key, and reconstructed."""

from __future__ import annotations

import hashlib
import math
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import sudare as sd
from sudare.attacks.randomized import by_law
from sudare.randomization.randomizer import Randomizer
from tests.tries import Tries

SCHEMA = sd.Schema.from_roles(
    identifier=["name"],
    quasi=["age"],
    sensitive=["ill", "pay"],
    bounds={"age": (0, 9), "pay": (1.0, 100.0)},
    domains={"ill": ["yes", "no"]},
)
RECORD = {"age": 3, "ill": "yes", "pay": 20.0}


def randomizer(epsilon: float = 3.0, **options: Any) -> Randomizer:
    return sd.Randomizer.from_schema(SCHEMA, sd.DifferentialPrivacy(epsilon, per="record"), **options)


def a_key(person: int) -> bytes:
    """A key of each person, the same in every run, so that no run fails by chance."""
    return hashlib.sha256(b"%d" % person).digest()


def test_an_answer_is_one_record_of_the_published_attributes() -> None:
    answer = randomizer().answer(RECORD | {"name": "Ann"})
    assert list(answer) == ["age", "ill", "pay"]
    assert 0 <= answer["age"] <= 9
    assert answer["ill"] in ("yes", "no", None)
    assert 1 <= answer["pay"] <= 100


def test_a_value_that_cannot_be_is_named_once() -> None:
    with pytest.raises(
        sd.InputError, match=r"^DataFrame, row 1, column 'ill': 'maybe' is not in the declared domain\.$"
    ):
        randomizer().answer(RECORD | {"ill": "maybe"})


def test_the_laws_are_those_that_a_table_would_get() -> None:
    table = sd.read(
        pl.DataFrame([RECORD] * 50), SCHEMA.model_copy(update={"attributes": {n: SCHEMA[n] for n in RECORD}})
    )
    for asked, records in ((sd.DifferentialPrivacy(3.0, per="record"), None), (sd.PkAnonymity(5), 50)):
        local = sd.Randomizer.from_schema(SCHEMA, asked, records=records)
        released = sd.randomize(table, asked).plan
        assert local.law["attributes"] == released.to_json()["attributes"]
    assert local.plan.k == pytest.approx(released.k)


def test_answers_are_drawn_by_the_law(tries: Tries) -> None:
    schema = sd.Schema.from_roles(sensitive=["ill"], domains={"ill": ["a", "b", "c"]}, missing="refuse")
    local = sd.Randomizer.from_schema(schema, sd.DifferentialPrivacy(1.0, per="record"))
    expected = local.plan["ill"].channel.expected([1.0, 0.0, 0.0])
    for keyed in (False, True):
        answers = [local.answer({"ill": "a"}, key=a_key(i) if keyed else None)["ill"] for i in tries(1000)]
        shares = [answers.count(value) / len(answers) for value in "abc"]
        assert np.abs(np.array(shares) - expected).max() < 6 * math.sqrt(0.25 / len(answers))


def test_the_same_value_gets_the_same_answer_with_a_key() -> None:
    local, key = randomizer(30.0), Randomizer.new_key()  # so little noise that few answers are alike
    first = local.answer(RECORD, key=key)
    assert all(local.answer(RECORD, key=key) == first for _ in range(3))
    # Each law remembers its own value: another age changes no other answer.
    other = local.answer(RECORD | {"age": 7}, key=key)
    assert {name: other[name] for name in ("ill", "pay")} == {name: first[name] for name in ("ill", "pay")}
    assert len({local.answer(RECORD, key=a_key(i))["pay"] for i in range(8)}) > 1
    assert len({local.answer(RECORD)["pay"] for _ in range(8)}) > 1


def test_draws_for_different_values_and_laws_are_independent(tries: Tries) -> None:
    """Who keeps one value learns nothing of whether another one is kept: over many keys, both are kept by chance."""
    schema = sd.Schema.from_roles(sensitive=["ill"], domains={"ill": ["a", "b"]}, missing="refuse")
    local, other = (
        sd.Randomizer.from_schema(schema, sd.DifferentialPrivacy(e, per="record")) for e in (1.0, 1.01)
    )
    kept = []
    for i in tries(500):
        key = a_key(i)
        kept.append(
            [local.answer({"ill": v}, key=key)["ill"] == v for v in "ab"]
            + [other.answer({"ill": "a"}, key=key)["ill"] == "a"]
        )
    correlations = np.corrcoef(np.array(kept, dtype=float).T)
    assert np.abs(correlations - np.eye(3)).max() < 5 / math.sqrt(len(kept))


def test_what_repeated_answers_cost() -> None:
    local = randomizer(3.0)
    assert local.epsilon == pytest.approx(3.0)
    assert local.epsilon_after(1) == pytest.approx(3.0)  # however often the same is asked
    parts = {law.name: law.channel.epsilon for law in local.plan.laws}
    assert local.epsilon_after({"age": 4, "ill": 2, "pay": 1}) == pytest.approx(
        4 * parts["age"] + 2 * parts["ill"] + parts["pay"]
    )
    with pytest.raises(sd.ParameterError, match="how many different values 'ill' had"):
        local.epsilon_after({"age": 1, "pay": 1})
    with pytest.raises(sd.ParameterError, match="There is no law of 'town'"):
        local.epsilon_after({"age": 1, "pay": 1, "ill": 1, "town": 1})
    with pytest.raises(sd.ParameterError, match="a whole number of 1 or more"):
        local.epsilon_after(1.5)  # type: ignore[arg-type]


def test_answers_are_reconstructed() -> None:
    schema = sd.Schema.from_roles(sensitive=["ill"], domains={"ill": ["yes", "no"]}, missing="refuse")
    local = sd.Randomizer.from_schema(schema, sd.PkAnonymity(5), records=250)
    answers = [local.answer({"ill": "yes" if i < 75 else "no"}, key=a_key(i)) for i in range(300)]
    table = local.collected(answers)
    answer = sd.reconstruct(table, "ill", law=local.law).count(ill="yes")
    assert abs(answer.value - 75) < 5 * answer.stderr
    assert answer.stderr > 0
    assert by_law(table, law=local.for_records(300).law).k >= 5
    with pytest.raises(sd.RequirementError, match="More people must answer"):
        local.for_records(100)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"ill": "perhaps"}, "'perhaps', which its law does not know"),
        ({"ill": 5}, "'ill' that is not of its type"),
        ({"age": 99}, "outside"),
        ({"age": 1.5}, "'age' that is not of its type"),
        ({"pay": math.nan}, "must hold numbers"),
        ({"name": "Alice"}, "must have 'age', 'ill', 'pay', and nothing else"),
    ],
    ids=str,
)
def test_answers_that_no_law_gives_are_refused(wrong: dict[str, Any], message: str) -> None:
    """They come from outside."""
    local = randomizer()
    answers = [local.answer(RECORD), local.answer(RECORD)]
    assert local.collected(answers).height == 2
    assert local.collected([]).is_empty()
    with pytest.raises(sd.InputError, match=message):
        local.collected([*answers, answers[0] | wrong])


def test_missing_values_are_answered_too() -> None:
    local = randomizer(60.0, how={"age": "bins"})
    answer = local.answer({"age": None, "ill": None, "pay": 20.0})
    assert (answer["age"], answer["ill"]) == (None, None)
    assert local.collected([answer, local.answer(RECORD)]).height == 2


def test_a_plan_travels_to_the_device(tmp_path: Path) -> None:
    local, key = randomizer(), Randomizer.new_key()
    plan = sd.Plan.open(local.plan.save(tmp_path / "plan"))
    assert Randomizer(plan).answer(RECORD, key=key) == local.answer(RECORD, key=key)  # type: ignore[arg-type]


def test_what_is_refused() -> None:
    local = randomizer()
    with pytest.raises(sd.InputError, match="The record has no 'ill'"):
        local.answer({"age": 3, "pay": 20.0})
    with pytest.raises(sd.InputError):
        local.answer(RECORD | {"age": 10})
    with pytest.raises(sd.InputError):
        local.answer(RECORD | {"ill": "perhaps"})
    with pytest.raises(sd.ParameterError, match="32 secret bytes") as told:
        local.answer(RECORD, key=b"too short a key")
    assert "too short a key" not in str(told.value)
    with pytest.raises(sd.ParameterError, match="how many people answer"):
        sd.Randomizer.from_schema(SCHEMA, sd.PkAnonymity(5))
    with pytest.raises(sd.ParameterError, match="which nobody has before people are asked"):
        randomizer(how={"ill": "optimal"})
    with pytest.raises(sd.InputError, match="'age' has neither a domain nor bounds"):
        sd.Randomizer.from_schema(
            sd.Schema.from_roles(quasi=["age"]), sd.DifferentialPrivacy(1, per="record")
        )
    assert randomizer(priors={"ill": [1, 5, 1]}).plan["ill"].how == "optimal"
    frame = pl.DataFrame({"ill": ["yes"]})
    with pytest.raises(sd.ParameterError, match="A frame has no law beside it"):
        sd.reconstruct(frame, "ill")


def test_a_device_answers_by_the_plan_that_it_was_given(tmp_path: Path) -> None:
    """It has no table and no schema; a number is answered in as many bins as the schema says."""
    schema = sd.Schema.from_roles(
        quasi=["age"],
        sensitive=["ill"],
        bounds={"age": (0, 100)},
        bins={"age": 4},
        domains={"ill": ["yes", "no"]},
        missing="refuse",
    )
    asks = sd.Randomizer.from_schema(schema, sd.DifferentialPrivacy(4.0, per="record"), how={"age": "bins"})
    device = sd.Randomizer(sd.Plan.open(asks.plan.save(tmp_path / "poll.plan")))  # type: ignore[arg-type]
    record, bins = {"age": 41, "ill": "no"}, ["[0, 25)", "[25, 50)", "[50, 75)", "[75, 100]"]
    for person in range(20):
        answer = device.answer(record, key=a_key(person))
        assert answer == asks.answer(record, key=a_key(person))
        assert answer["age"] in bins
    table = asks.collected([device.answer(record, key=a_key(person)) for person in range(400)])
    found = {row["age"]: row for row in sd.reconstruct(table, "age", law=asks.law).frame().to_dicts()}
    assert list(found) == bins
    assert found["[25, 50)"]["low"] <= 400 <= found["[25, 50)"]["high"] + 1e-6
