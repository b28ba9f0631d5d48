"""The transformer that generalizes: what it learned from some rows it does to others, row by row."""

from __future__ import annotations

import pickle
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import sudare as sd
from sudare.sklearn import Generalizer

COLUMNS = ["name", "age", "sex", "postcode", "weight_kg", "diagnosis"]


def survey(people: int = 600) -> pl.DataFrame:
    frame = sd.datasets.health_survey(people)
    return frame.with_columns(weight_kg=pl.Series(np.linspace(40, 120, people)).cast(pl.Float32)).select(
        COLUMNS
    )


SCHEMA = sd.Schema.from_roles(
    identifier=["name"],
    quasi=["age", "sex", "postcode"],
    sensitive=["diagnosis"],
    other=["weight_kg"],
    hierarchies={"age": sd.Hierarchy.intervals(range(121), width=10, fanout=3)},
)
METHODS = ["mondrian", "full-domain", sd.methods.Minimal(deal=False), "blind"]


@pytest.mark.parametrize("method", METHODS, ids=str)
def test_the_rows_of_the_training_are_those_of_the_release(method: Any) -> None:
    frame = survey()
    asked = sd.KAnonymity(5)
    made = Generalizer(asked, schema=SCHEMA, method=method, unseen="suppress").fit(frame)
    out = made.transform(frame)
    release = sd.generalize(sd.read(frame, SCHEMA), asked, method)
    kept = out.filter(~pl.all_horizontal(pl.col("age", "sex", "postcode") == "*"))
    texts = release.frame().with_columns(pl.col("age", "sex", "postcode").cast(pl.String))
    assert (
        kept.select(sorted(kept.columns))
        .sort(pl.all())
        .equals(texts.select(sorted(texts.columns)).sort(pl.all()))
    )
    assert kept.group_by("age", "sex", "postcode").len()["len"].min() >= 5  # counted by other code
    assert made.measured_ == release.verification.measured


def test_rows_keep_their_order_and_other_columns_their_values_and_types() -> None:
    frame = survey().sample(fraction=1, shuffle=True, seed=3)
    out = Generalizer(sd.KAnonymity(5), schema=SCHEMA).fit_transform(frame)
    assert out.columns == ["age", "sex", "postcode", "weight_kg", "diagnosis"]
    assert out.select("weight_kg", "diagnosis").equals(frame.select("weight_kg", "diagnosis"))
    for age, label in zip(frame["age"].to_list(), out["age"].to_list(), strict=True):
        assert label == "*" or label == str(age) or _lies_in(age, label)


def _lies_in(age: int, label: str) -> bool:
    low, high = label.strip("[]()").split(", ")
    return int(low) <= age < int(high) + label.endswith("]")


def test_pandas_comes_out_as_it_went_in() -> None:
    frame = survey().to_pandas().set_index(pd.Index(np.arange(600)[::-1] * 7, name="id"))
    frame["diagnosis"] = frame["diagnosis"].astype("category")
    frame["weight_kg"] = frame["weight_kg"].astype("Float32")
    out = Generalizer(sd.KAnonymity(5), schema=SCHEMA).fit_transform(frame)
    assert out.index.equals(frame.index)
    for name in ("weight_kg", "diagnosis"):
        pd.testing.assert_series_equal(out[name], frame[name])
    same = Generalizer(sd.KAnonymity(5), schema=SCHEMA).fit_transform(survey())
    assert out["age"].tolist() == same["age"].to_list()
    assert out["age"].dtype == "str"


def test_columns_of_all_types_are_passed_on_as_they_are() -> None:
    rows = 40
    frame = pd.DataFrame(
        {
            "age": pd.array([20 + i % 4 for i in range(rows)], dtype="Int64"),
            "grade": pd.Categorical(["b", "a", "c", "a"] * 10, categories=["c", "b", "a"], ordered=True),
            "when": pd.date_range("2024-01-01", periods=rows, freq="h", tz="Europe/Berlin"),
            "lasted": pd.to_timedelta(range(rows), unit="h"),
            "pay": [Decimal("1.50") + i for i in range(rows)],
            "fit": pd.array([True, False, None, True] * 10, dtype="boolean"),
            "seen": pd.array([1, None] * 20, dtype="int32[pyarrow]"),
        },
        index=pd.MultiIndex.from_product([range(20), ["a", "b"]]),
    )
    others = [name for name in frame if name not in ("age", "grade")]
    schema = sd.Schema.from_roles(quasi=["age", "grade"], other=others)
    out = Generalizer(sd.KAnonymity(3), schema=schema).fit_transform(frame)
    pd.testing.assert_frame_equal(out[others], frame[others])
    as_polars = pl.from_pandas(frame.reset_index(drop=True))
    also = Generalizer(sd.KAnonymity(3), schema=schema).fit_transform(as_polars)
    assert also.select(others).equals(as_polars.select(others), null_equal=True)
    assert also["age"].to_list() == out["age"].tolist()


@pytest.mark.parametrize("names", [["a", "a"], [0, 1], ["a", 1]])
def test_columns_without_names_of_their_own_are_refused(names: list[Any]) -> None:
    with pytest.raises(ValueError, match="must have different texts for names"):
        Generalizer(sd.KAnonymity(3)).fit(pd.DataFrame(np.ones((9, 2)), columns=names))
    with pytest.raises(TypeError, match="Collect a lazy frame first"):
        Generalizer(sd.KAnonymity(3)).fit(survey().lazy())


def test_it_works_on_some_columns_of_a_search() -> None:
    frame = survey(400).select("age", "sex", "weight_kg")
    schema = sd.Schema.from_roles(quasi=["age", "sex"])
    generalized = make_pipeline(
        Generalizer(sd.KAnonymity(10), schema=schema, unseen="suppress"),
        OneHotEncoder(handle_unknown="ignore"),
    )
    columns = ColumnTransformer([("quasi", generalized, ["age", "sex"])], remainder="passthrough")
    search = GridSearchCV(
        make_pipeline(columns, LogisticRegression(max_iter=500)),
        {"columntransformer__quasi__generalizer__requirements": [sd.KAnonymity(5), sd.KAnonymity(40)]},
        cv=3,
        error_score="raise",
    )
    for features in (frame, frame.to_pandas()):
        search.fit(features, (frame["age"] > 50).to_numpy())
        assert search.best_score_ > 0.8
        names = search.best_estimator_[0].get_feature_names_out()
        assert any(name.startswith("quasi__age_[") for name in names)
        assert names[-1] == "remainder__weight_kg"


def test_names_of_what_comes_out() -> None:
    made = Generalizer(sd.KAnonymity(5), schema=SCHEMA).fit(survey())
    assert made.get_feature_names_out().tolist() == COLUMNS[1:]
    assert made.get_feature_names_out(COLUMNS).tolist() == COLUMNS[1:]
    with pytest.raises(ValueError, match="feature_names_in_"):
        made.get_feature_names_out(COLUMNS[::-1])
    frame = made.set_output(transform="pandas").transform(survey())
    assert list(frame.columns) == COLUMNS[1:]
    schema = sd.Schema.from_roles(quasi=["x0", "x2"], identifier=["x1"])
    arrays = Generalizer(sd.KAnonymity(1), schema=schema).fit(np.arange(12).reshape(4, 3))
    assert arrays.get_feature_names_out(["a", "b", "c"]).tolist() == ["a", "c"]


ROWS = st.lists(st.integers(0, 199), min_size=1, max_size=20)


@given(ROWS, st.sampled_from(METHODS))
def test_what_becomes_of_a_row_does_not_hang_on_the_others(rows: list[int], method: Any) -> None:
    made, later, whole = _fitted(str(method), method)
    some = made.transform(later[rows])
    assert some.equals(whole[rows])


_FITTED: dict[str, tuple[Generalizer, pl.DataFrame, pl.DataFrame]] = {}


def _fitted(name: str, method: Any) -> tuple[Generalizer, pl.DataFrame, pl.DataFrame]:
    """Fit once; what comes later has values and tuples that nobody had before."""
    if name not in _FITTED:
        made = Generalizer(sd.KAnonymity(5), schema=SCHEMA, method=method, unseen="suppress").fit(survey())
        later = survey(1500)[600:800]
        _FITTED[name] = made, later, made.transform(later)
    return _FITTED[name]


def test_what_the_plan_does_not_cover_is_refused_or_says_nothing() -> None:
    frame = survey()
    made = Generalizer(sd.KAnonymity(5), schema=SCHEMA).fit(frame)
    frame = frame[[made.transform(frame)["sex"].to_list().index("Female"), 1]]
    stranger = frame.with_columns(sex=pl.Series(["unknown", frame["sex"][1]]))
    with pytest.raises(sd.InputError, match="does not cover 1 of 2 rows"):
        made.transform(stranger)
    out = made.set_params(unseen="suppress").transform(stranger)
    assert out.row(0)[:3] == ("*", "*", "*")
    assert out.row(1) == made.transform(frame).row(1)


def test_a_block_does_not_climb_for_who_comes_later() -> None:
    """Mondrian's cuts put her into the block of the men who were there; its label is not true of her."""
    frame = pl.DataFrame({"age": [20] * 5 + [60] * 5, "sex": ["m"] * 5 + ["f", "m"] * 2 + ["f"]})
    schema = sd.Schema.from_roles(quasi=["age", "sex"])
    made = Generalizer(sd.KAnonymity(5), schema=schema, unseen="suppress").fit(frame)
    men = made.transform(pl.DataFrame({"age": [20], "sex": ["m"]})).row(0)
    both = made.transform(pl.DataFrame({"age": [20, 20], "sex": ["m", "f"]}))
    assert both.row(0) == men
    assert both.row(1) == ("*", "*")


def test_a_saved_plan_does_the_same(tmp_path: Path) -> None:
    first = Generalizer(sd.KAnonymity(5), schema=SCHEMA, unseen="suppress").fit(survey())
    first.plan_.save(tmp_path / "plan")
    again = Generalizer(
        sd.KAnonymity(5), schema=SCHEMA, unseen="suppress", plan=sd.Plan.open(tmp_path / "plan")
    ).fit(survey(50))
    later = survey(1500)[600:]
    assert again.transform(later).equals(first.transform(later))


def test_a_pickle_has_the_plan_and_no_rows() -> None:
    frame = survey().with_columns(diagnosis=pl.lit("Kowalczyk's disease"), name=pl.lit("Kowalczyk"))
    made = Generalizer(sd.KAnonymity(5), schema=SCHEMA).fit(frame)
    content = pickle.dumps(made)
    assert b"Kowalczyk" not in content
    assert pickle.loads(content).transform(frame).equals(made.transform(frame))
    assert clone(made).get_params()["schema"].names("quasi") == ["age", "sex", "postcode"]


def test_a_plan_of_cuts_names_no_combination_that_somebody_had() -> None:
    """In the one table a woman is 20, in the other nobody is but men: the blocks say the same of both."""
    bins = sd.Hierarchy.groups({"20": "young", "21": "young", "22": "young", "60": "old"})
    schema = sd.Schema.from_roles(quasi=["age", "sex"], types={"age": "text"}, hierarchies={"age": bins})
    ages = ["20", "21"] * 3 + ["21", "22"] * 3 + ["60"] * 6
    blocks = []
    for young in ("f", "m"), ("m", "f"):
        sexes = [young[0]] * 6 + [young[1]] * 6 + ["m"] * 6
        made = Generalizer(sd.KAnonymity(6), schema=schema).fit(pl.DataFrame({"age": ages, "sex": sexes}))
        blocks.append(made.plan_.tables()["blocks"].sort(pl.all()))
    assert blocks[0].equals(blocks[1])
    assert blocks[0].height == 3


def test_the_answer_may_be_the_sensitive_attribute() -> None:
    frame = survey()
    made = Generalizer((sd.KAnonymity(5), sd.LDiversity(3)), schema=SCHEMA)
    features, answer = frame.drop("diagnosis"), frame["diagnosis"]
    out = made.fit(features, answer).transform(features)
    assert made.measured_["l_distinct"] >= 3
    block = out.select("age", "sex", "postcode").with_columns(answer)
    assert (
        block.group_by("age", "sex", "postcode").agg(pl.col("diagnosis").n_unique())["diagnosis"].min() >= 3
    )
    with pytest.raises(sd.InputError, match="looks rows up by 'diagnosis'"):
        made.set_params(method=sd.methods.Minimal(deal=False)).fit(features, answer)


def test_it_learns_in_a_pipeline() -> None:
    frame = survey(1200)
    schema = sd.Schema.from_roles(
        quasi=["age", "sex"], hierarchies={"age": sd.Hierarchy.intervals(range(121), width=10)}
    )
    ill = (frame["age"].to_numpy() + 5 * np.sin(np.arange(1200)) > 55).astype(int)
    model = make_pipeline(
        Generalizer(sd.KAnonymity(20), schema=schema, unseen="suppress"),
        OneHotEncoder(handle_unknown="ignore"),
        LogisticRegression(),
    )
    scores = cross_val_score(model, frame.select("age", "sex"), ill, cv=3)
    assert scores.mean() > max(ill.mean(), 1 - ill.mean()) + 0.1
    searched = clone(model).set_params(generalizer__requirements=sd.KAnonymity(50))
    assert searched.fit(frame.select("age", "sex"), ill)[0].measured_["k"] >= 50


def test_plans_that_say_nothing_of_a_row_alone_are_refused() -> None:
    with pytest.raises(sd.ParameterError, match="deals records with equal values"):
        Generalizer(sd.KAnonymity(7), plan=_dealt()).fit(survey())
    law = sd.Randomizer.from_schema(
        sd.Schema.from_roles(sensitive=["ill"], domains={"ill": ["a", "b"]}),
        sd.DifferentialPrivacy(1.0, per="record"),
    ).plan
    with pytest.raises(sd.ParameterError, match="kind 'randomization' does not say"):
        Generalizer(sd.KAnonymity(5), plan=law).fit(survey())


def _dealt() -> sd.Plan:
    frame = pl.DataFrame({"a": [1] * 20 + [2] * 2, "b": ["x"] * 20 + ["y"] * 2})
    plan = sd.generalize(
        sd.read(frame, sd.Schema.from_roles(quasi=["a", "b"])), sd.KAnonymity(3), "minimal"
    ).plan
    assert plan.records.any()  # type: ignore[attr-defined]
    return plan
