from __future__ import annotations

from datetime import date

import polars as pl
import pytest

from sudare.datasets import health_survey
from sudare.datasets.survey import SURVEY_DATE
from sudare.errors import ParameterError

SCHEMA = {
    "patient_id": pl.String,
    "name": pl.String,
    "birth_date": pl.Date,
    "age": pl.Int64,
    "sex": pl.String,
    "postcode": pl.String,
    "region": pl.String,
    "education": pl.String,
    "marital_status": pl.String,
    "occupation": pl.String,
    "visit_date": pl.Date,
    "height_cm": pl.Float64,
    "weight_kg": pl.Float64,
    "smoker": pl.String,
    "annual_income": pl.Int64,
    "diagnosis": pl.String,
}


@pytest.fixture(scope="module")
def survey() -> pl.DataFrame:
    return health_survey(people=40_000, seed=7)


def share(table: pl.DataFrame, column: str, value: str) -> float:
    return table.filter(pl.col(column) == value).height / table.height


def test_same_seed_same_table() -> None:
    assert health_survey(people=500, seed=3).equals(health_survey(people=500, seed=3))
    assert not health_survey(people=500, seed=3).equals(health_survey(people=500, seed=4))


def test_columns_and_defaults() -> None:
    table = health_survey()
    assert table.height == 5000
    assert table.schema == SCHEMA


def test_one_person() -> None:
    assert health_survey(people=1).schema == SCHEMA


@pytest.mark.parametrize(("people", "seed"), [(0, 1), (-3, 1), (10, -1)])
def test_impossible_parameters(people: int, seed: int) -> None:
    with pytest.raises(ParameterError, match=r"parameter of health_survey must be .* Got -?\d+ instead"):
        health_survey(people=people, seed=seed)


def test_patient_ids(survey: pl.DataFrame) -> None:
    assert survey["patient_id"].is_unique().all()
    assert survey["patient_id"].str.contains(r"^P-\d{6}$").all()
    assert not survey["patient_id"].is_sorted()


def test_age_is_that_of_the_birth_date(survey: pl.DataFrame) -> None:
    def years(born: date) -> int:
        had_birthday = (born.month, born.day) <= (SURVEY_DATE.month, SURVEY_DATE.day)
        return SURVEY_DATE.year - born.year - (not had_birthday)

    assert survey["age"].to_list() == [years(born) for born in survey["birth_date"]]
    assert survey["age"].min() == 18
    assert survey["age"].max() == 95


def test_ranges(survey: pl.DataFrame) -> None:
    assert survey["annual_income"].is_between(0, 200_000).all()
    assert (survey["annual_income"] % 100 == 0).all()
    assert survey["height_cm"].is_between(140, 210).all()
    assert survey["weight_kg"].drop_nulls().is_between(35, 220).all()
    for column in ("height_cm", "weight_kg"):
        assert survey[column].equals(survey[column].round(1))
    assert survey["visit_date"].is_between(date(2024, 10, 1), date(2025, 9, 30)).all()
    assert (survey["visit_date"].dt.weekday() <= 5).all()


def test_number_of_values(survey: pl.DataFrame) -> None:
    counts = {column: survey[column].drop_nulls().n_unique() for column in survey.columns}
    assert counts["sex"] == 2
    assert counts["smoker"] == 3
    assert counts["marital_status"] == 5
    assert counts["education"] == 8
    assert counts["region"] == 8
    assert counts["diagnosis"] == 13
    assert counts["occupation"] == 14


def test_postcodes_tell_the_region(survey: pl.DataFrame) -> None:
    assert survey["postcode"].str.contains(r"^\d{5}$").all()
    assert survey["postcode"].str.starts_with("0").any()
    prefixes = survey.select(pl.col("postcode").str.head(2), "region").unique()
    assert prefixes.height == prefixes["postcode"].n_unique() == prefixes["region"].n_unique()


def test_sizes_are_skewed(survey: pl.DataFrame) -> None:
    for column in ("region", "postcode", "diagnosis"):
        sizes = survey[column].value_counts(sort=True)["count"]
        assert sizes[0] > 10 * sizes[-1]
    assert 0 < share(survey, "diagnosis", "HIV") < 0.01


def test_missing_values(survey: pl.DataFrame) -> None:
    missing = {name: count / survey.height for name, count in survey.null_count().row(0, named=True).items()}
    assert missing.pop("weight_kg") == pytest.approx(0.04, abs=0.005)
    assert missing.pop("smoker") == pytest.approx(0.03, abs=0.005)
    assert set(missing.values()) == {0}


def test_marital_status_follows_age(survey: pl.DataFrame) -> None:
    young, middle, old = (
        survey.filter(pl.col("age").is_between(*ages)) for ages in ((18, 25), (40, 55), (75, 95))
    )
    assert share(young, "marital_status", "Single") > 0.7 > 0.2 > share(middle, "marital_status", "Single")
    assert share(middle, "marital_status", "Married") > 0.5
    assert share(old, "marital_status", "Widowed") > 5 * share(middle, "marital_status", "Widowed")


def test_occupation_follows_age(survey: pl.DataFrame) -> None:
    assert (survey.filter(occupation="Student")["age"] < 40).all()
    assert share(survey.filter(pl.col("age") >= 75), "occupation", "Retired") > 0.9
    assert share(survey.filter(pl.col("age") < 50), "occupation", "Retired") < 0.01


def test_education_takes_time(survey: pl.DataFrame) -> None:
    assert (survey.filter(education="Doctorate")["age"] >= 27).all()
    assert (survey.filter(education="Bachelor")["age"] >= 22).all()


def test_income_follows_education_and_age(survey: pl.DataFrame) -> None:
    income = pl.col("annual_income")
    levels = ["Primary", "Upper secondary", "Bachelor", "Doctorate"]
    medians = [survey.filter(education=level).select(income.median()).item() for level in levels]
    assert medians == sorted(medians)
    assert medians[-1] > 2 * medians[0]
    young, middle = (survey.filter(pl.col("age").is_between(*ages)) for ages in ((18, 25), (40, 55)))
    assert middle.select(income.mean()).item() > 1.5 * young.select(income.mean()).item()
    assert survey.select(income.mean()).item() > survey.select(income.median()).item(), "skewed to the right"


def test_diagnosis_follows_age_sex_and_smoking(survey: pl.DataFrame) -> None:
    young, old = survey.filter(pl.col("age") < 35), survey.filter(pl.col("age") > 65)
    never, current = survey.filter(smoker="never"), survey.filter(smoker="current")
    women, men = survey.filter(sex="Female"), survey.filter(sex="Male")
    for disease in ("Hypertension", "Coronary heart disease", "Arthritis"):
        assert share(old, "diagnosis", disease) > 2 * share(young, "diagnosis", disease)
    for disease in ("COPD", "Lung cancer"):
        assert share(current, "diagnosis", disease) > 4 * share(never, "diagnosis", disease)
    assert share(women, "diagnosis", "Breast cancer") > 10 * share(men, "diagnosis", "Breast cancer")
    assert share(women, "diagnosis", "Depression") > share(men, "diagnosis", "Depression")
    assert share(young, "diagnosis", "No finding") > share(old, "diagnosis", "No finding")
