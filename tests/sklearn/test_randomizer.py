"""The transformer that randomizes: the laws of a plan, drawn row by row."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest

import sudare as sd
from sudare.sklearn import Randomizer
from sudare.verbs.randomize import randomize_by_plan

SCHEMA = sd.Schema.from_roles(
    identifier=["name"],
    quasi=["age"],
    sensitive=["ill"],
    bounds={"age": (0, 99)},
    domains={"ill": ["yes", "no"]},
    missing="refuse",
)
PEOPLE = pl.DataFrame(
    {
        "name": [f"n{i}" for i in range(400)],
        "age": [i % 80 for i in range(400)],
        "ill": ["yes", "no", "no", "no"] * 100,
    }
)
EPSILON = sd.DifferentialPrivacy(2.0, per="record")


def test_it_draws_what_the_verb_draws_by_the_same_plan() -> None:
    made = Randomizer(EPSILON, schema=SCHEMA, unsafe_seed=5).fit(PEOPLE)
    out = made.transform(PEOPLE)
    other = randomize_by_plan(sd.read(PEOPLE, SCHEMA), made.plan_, unsafe_seed=5).frame()
    assert out.columns == ["age", "ill"]
    assert out.sort(pl.all()).equals(other.sort(pl.all()))
    assert made.plan_.epsilon == pytest.approx(2.0)


def test_a_row_stays_in_its_place() -> None:
    """With next to no noise, every row is itself."""
    made = Randomizer(sd.DifferentialPrivacy(4000.0, per="record"), schema=SCHEMA).fit(PEOPLE)
    frame = PEOPLE.sample(fraction=1, shuffle=True, seed=1)
    assert made.transform(frame).equals(frame.select("age", "ill"))


def test_each_time_it_is_drawn_anew() -> None:
    made = Randomizer(EPSILON, schema=SCHEMA).fit(PEOPLE)
    assert not made.transform(PEOPLE).equals(made.transform(PEOPLE))


def test_pandas_keeps_its_index() -> None:
    frame = PEOPLE.to_pandas().set_index(pd.Index(range(1000, 1400)))
    out = Randomizer(EPSILON, schema=SCHEMA, unsafe_seed=5).fit_transform(frame)
    same = Randomizer(EPSILON, schema=SCHEMA, unsafe_seed=5).fit_transform(PEOPLE)
    assert out.index.equals(frame.index)
    assert out["ill"].tolist() == same["ill"].to_list()
    assert out["age"].dtype == frame["age"].dtype


def test_a_saved_plan_does_the_same(tmp_path: Path) -> None:
    made = Randomizer(EPSILON, schema=SCHEMA, unsafe_seed=7).fit(PEOPLE)
    made.plan_.save(tmp_path / "plan")
    plan = sd.Plan.open(tmp_path / "plan")
    again = Randomizer(EPSILON, schema=SCHEMA, unsafe_seed=7, plan=plan).fit(PEOPLE)
    assert again.transform(PEOPLE).equals(made.transform(PEOPLE))


def test_k_must_hold_of_the_rows_that_are_transformed() -> None:
    made = Randomizer(sd.PkAnonymity(5), schema=SCHEMA).fit(PEOPLE)
    assert made.transform(PEOPLE).height == 400
    with pytest.raises(sd.RequirementError):
        made.transform(PEOPLE[:3])


def test_bounds_are_not_taken_from_the_rows() -> None:
    with pytest.raises(sd.ParameterError, match="must be public"):
        Randomizer(EPSILON).fit(np.zeros((5, 2)))
    out = Randomizer(EPSILON, bounds=(0, 1)).fit_transform(np.full((50, 2), 9.0))
    assert ((out >= 0) & (out <= 1)).all()
    plan = sd.generalize(sd.read(PEOPLE, SCHEMA), sd.KAnonymity(2), "mondrian").plan
    with pytest.raises(sd.ParameterError, match="needs a plan of laws"):
        Randomizer(EPSILON, schema=SCHEMA, plan=plan).fit(PEOPLE)


def test_a_pickle_is_the_same_whoever_it_was_fitted_on() -> None:
    rows = [pl.DataFrame({"age": [20, 30, 40]}), pl.DataFrame({"age": [99, 99, 99]})]
    made = [Randomizer(sd.DifferentialPrivacy(1.0, per="record"), bounds=(0, 120)).fit(own) for own in rows]
    assert pickle.dumps(made[0]) == pickle.dumps(made[1])
