"""What analysts ask of a p-view: counts, tables, SQL, intervals, synthetic rows and files, as the specification says."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator
from decimal import Decimal
from itertools import pairwise
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import polars as pl
import pytest

import sudare as sd

METHODS = ["pairs", "dp-mondrian", "projected", "identity", "independent", "privbayes", "hdmm"]
MADE = {"projected": sd.methods.DPMondrian(projection=True)}
PURE, GAUSSIAN = sd.DifferentialPrivacy(1.0), sd.DifferentialPrivacy(1.0, 1e-6)
REACH = 1.959964
DAY = dt.date(2024, 1, 1)
NOON = dt.datetime(2024, 1, 1, 12, tzinfo=ZoneInfo("Europe/Paris"))
SCHOOLS = ["Primary", "High", "Masters", "Doctorate"]


def table_of(frame: pl.DataFrame, **declared: Any) -> sd.Table:
    declared = {"missing": "refuse"} | declared
    names = [name for name in frame.columns if name != "name"]
    identifier = ["name"] if "name" in frame.columns else []
    return sd.read(frame, sd.Schema.from_roles(quasi=names, identifier=identifier, **declared))


# -- A small table that every method can take, and one with every type ------------------------------


def small_frame(n: int = 4000) -> pl.DataFrame:
    rng = np.random.default_rng(1)
    age = rng.integers(20, 60, n)
    school = np.clip(np.rint((age - 20) / 15 + rng.normal(0, 0.7, n)), 0, 3).astype(int)
    ill = np.where(rng.random(n) < (age - 10) / 80, "yes", "no")
    sex = rng.choice(["Female", "Male"], n)
    names = [f"person {i}" for i in range(n)]
    return pl.DataFrame(
        {"name": names, "age": age, "sex": sex, "education": [SCHOOLS[i] for i in school], "ill": ill}
    )


SMALL = {
    "bounds": {"age": (20, 59)},
    "domains": {"sex": ["Female", "Male"], "education": SCHOOLS, "ill": ["yes", "no"]},
}


@pytest.fixture(scope="module")
def pviews() -> dict[str, sd.PView]:
    table = table_of(small_frame(), **SMALL)
    return {name: sd.materialize(table, PURE, MADE.get(name, name), unsafe_seed=1) for name in METHODS}


@pytest.fixture(params=METHODS)
def pview(request: pytest.FixtureRequest, pviews: dict[str, sd.PView]) -> sd.PView:
    return pviews[request.param]


def mixed_frame(n: int = 3000) -> pl.DataFrame:
    rng = np.random.default_rng(2)
    age = rng.integers(18, 68, n)
    return pl.DataFrame(
        {
            "age": np.where(rng.random(n) < 0.1, -1, age),
            "income": np.round(np.clip(age * 20 + rng.normal(0, 200, n), 0, 2000), 2),
            "town": rng.choice(["Rome", "Oslo", "Kyōto"], n),
            "born": [DAY + dt.timedelta(int(i)) for i in rng.integers(0, 3000, n)],
            "seen": [
                dt.datetime(2024, 1, 1) + dt.timedelta(minutes=int(i)) for i in rng.integers(0, 2000, n)
            ],
            "well": rng.random(n) < age / 80,
            "rate": rng.choice([0.1, 0.5, 2.0], n),
        }
    ).with_columns(pl.col("age").replace(-1, None))


MIXED = {
    "bounds": {
        "age": (18, 67),
        "income": (0.0, 2000.0),
        "born": (DAY, DAY + dt.timedelta(2999)),
        "seen": (dt.datetime(2024, 1, 1), dt.datetime(2024, 1, 3)),
    },
    "bins": {"income": 20, "born": 30, "seen": 8},
    "domains": {"town": ["Rome", "Oslo", "Kyōto", "Lima"], "well": [True, False], "rate": [0.1, 0.5, 2.0]},
    "missing": "own value",
}


@pytest.fixture(scope="module")
def mixed() -> sd.PView:
    return sd.materialize(table_of(mixed_frame(), **MIXED), sd.DifferentialPrivacy(5.0), unsafe_seed=1)


# -- Counting ---------------------------------------------------------------------------------------


def test_an_answer_lies_in_its_interval_and_near_the_truth(pview: sd.PView) -> None:
    answer = pview.count(age=(20, 39), sex="Female", education=["Masters", "Doctorate"])
    assert 0 <= answer.low < answer.value < answer.high
    true = small_frame().filter(
        pl.col("age").is_between(20, 39), pl.col("sex") == "Female", pl.col("education").is_in(SCHOOLS[2:])
    )
    assert answer.low <= true.height <= answer.high


def test_no_condition_counts_everybody(pview: sd.PView) -> None:
    assert pview.count().value == pytest.approx(pview.total)
    assert pview.count(age=(None, None), sex=["Male", "Female"]).value == pytest.approx(pview.total)
    assert pview.total == pytest.approx(4000, abs=500)


def test_parts_add_up_to_the_whole(pview: sd.PView) -> None:
    ages = [20, 28, 35, 50, 60]
    parts = [
        pview.count(age=(a, b - 1), sex=sex, ill=ill).value
        for a, b in pairwise(ages)
        for sex in ("Female", "Male")
        for ill in ("yes", "no")
    ]
    assert min(parts) > 0
    assert sum(parts) == pytest.approx(pview.total)
    women = pview.count(sex="Female").value
    assert pview.count(sex="Male").value == pytest.approx(pview.total - women)


def test_a_list_is_the_sum_of_its_values_and_a_range_the_list_of_all(pview: sd.PView) -> None:
    each = [pview.count(education=school).value for school in SCHOOLS]
    assert pview.count(education=SCHOOLS[1:3]).value == pytest.approx(sum(each[1:3]))
    assert pview.count(education=[*SCHOOLS[1:3], SCHOOLS[1]]).value == pytest.approx(sum(each[1:3]))
    assert pview.count(age=list(range(25, 46))).value == pytest.approx(pview.count(age=(25, 45)).value)


@pytest.mark.parametrize("names", [["age"], ["education", "sex"], ["sex", "age", "ill"]], ids=str)
def test_a_marginal_sums_to_the_total_and_to_smaller_marginals(pview: sd.PView, names: list[str]) -> None:
    table = pview.marginal(names)
    assert table.columns == [*names, "count"]
    assert table.height == np.prod(
        [40 if name == "age" else 4 if name == "education" else 2 for name in names]
    )
    assert table["count"].sum() == pytest.approx(pview.total)
    summed = table.group_by(names[0], maintain_order=True).agg(pl.col("count").sum())
    own = pview.marginal(names[0])
    assert summed[names[0]].to_list() == own[names[0]].to_list()
    np.testing.assert_allclose(summed["count"], own["count"], atol=1e-6)


def test_marginals_are_counts(pview: sd.PView) -> None:
    for age, sex, count in pview.marginal(["age", "sex"]).rows():
        assert pview.count(age=int(age), sex=sex).value == pytest.approx(max(count, 0.0), abs=1e-9)


def test_the_order_of_a_marginals_attributes_is_the_one_asked_for(pview: sd.PView) -> None:
    one = pview.marginal(["sex", "education", "ill"])
    other = pview.marginal(["ill", "sex", "education"]).select(one.columns)
    joined = one.join(other, on=["sex", "education", "ill"], validate="1:1")
    assert joined.height == 16
    np.testing.assert_allclose(joined["count"], joined["count_right"])


def test_sql_says_what_count_says(pview: sd.PView) -> None:
    asked = pview.sql(
        "SELECT COUNT(*) FROM view WHERE age BETWEEN 25 AND 44 AND sex = 'Female' AND education IN ('High', 'Masters')"
    ).row(0, named=True)
    answer = pview.count(age=(25, 44), sex="Female", education=["High", "Masters"])
    assert (asked["count"], asked["count_low"], asked["count_high"]) == pytest.approx(
        (answer.value, answer.low, answer.high)
    )


def test_sql_says_what_a_marginal_says(pview: sd.PView) -> None:
    asked = pview.sql("SELECT education, ill, COUNT(*) AS n FROM view GROUP BY education, ill")
    table = pview.marginal(["education", "ill"])
    assert asked.select("education", "ill").equals(table.select("education", "ill"))
    np.testing.assert_allclose(asked["n"], table["count"].clip(0.0))


def random_boxes(sizes: tuple[int, ...], queries: int, seed: int = 3) -> tuple[np.ndarray, np.ndarray]:
    ends = np.sort(np.random.default_rng(seed).integers(0, sizes, (2, queries, len(sizes))), axis=0)
    return ends[0], ends[1]


def test_boxes_of_codes_are_counts(pview: sd.PView) -> None:
    low, high = random_boxes(pview.domain.sizes, 25)
    counts, errors = pview.counts(low, high), pview.errors(low, high)
    for (a, b, c, d), (e, f, g, h), count, error in zip(low, high, counts, errors, strict=True):
        answer = pview.count(
            age=(20 + int(a), 20 + int(e)),
            sex=["Female", "Male"][b : f + 1],
            education=SCHOOLS[c : g + 1],
            ill=["yes", "no"][d : h + 1],
        )
        assert answer.value == pytest.approx(max(count, 0.0), abs=1e-6)
        assert answer.high == pytest.approx(max(count + REACH * error, 0.0), rel=1e-4, abs=1e-6)


def test_thousands_of_boxes_at_once_are_sums_of_cells(pview: sd.PView) -> None:
    cells = pview.marginal(pview.domain.names)["count"].to_numpy().reshape(pview.domain.sizes)
    low, high = random_boxes(pview.domain.sizes, 3000)
    expected = [
        cells[tuple(slice(a, b + 1) for a, b in zip(*ends, strict=True))].sum()
        for ends in zip(low, high, strict=True)
    ]
    np.testing.assert_allclose(pview.counts(low, high), expected, atol=1e-6)


def test_no_boxes_have_no_counts(pview: sd.PView) -> None:
    assert pview.counts(np.empty((0, 4), int), np.empty((0, 4), int)).shape == (0,)


@pytest.mark.parametrize(
    "method",
    [
        "pairs",
        "projected",
        "independent",
    ],
)
def test_no_cell_counts_less_than_nobody(pviews: dict[str, sd.PView], method: str) -> None:
    assert pviews[method].marginal(pviews[method].domain.names)["count"].min() >= -1e-9


def test_bins_are_taken_in_part_and_add_up(mixed: sd.PView) -> None:
    whole = mixed.count(income=(None, None)).value
    parts = [mixed.count(income=ends).value for ends in ((0, 333.3), (333.3, 1234.5), (1234.5, 2000))]
    assert sum(parts) == pytest.approx(whole)
    first, last = DAY + dt.timedelta(40), DAY + dt.timedelta(1111)
    days = [(None, first - dt.timedelta(1)), (first, last), (last + dt.timedelta(1), None)]
    assert sum(mixed.count(born=ends).value for ends in days) == pytest.approx(
        mixed.count(born=(None, None)).value
    )


def test_missing_values_are_asked_for_with_none(mixed: sd.PView) -> None:
    missing = mixed.count(age=None)
    assert missing.value == pytest.approx(mixed_frame()["age"].null_count(), abs=60)
    assert mixed.count(age=(None, None)).value + missing.value == pytest.approx(mixed.total)
    assert mixed.sql("SELECT COUNT(*) FROM view WHERE age IS NULL")["count"][0] == pytest.approx(
        missing.value
    )


def test_dates_times_and_truth_values_are_asked_for_as_themselves(mixed: sd.PView) -> None:
    frame = mixed_frame()
    until = DAY + dt.timedelta(1499)
    noon = dt.datetime(2024, 1, 1, 12)
    for answer, condition in (
        (mixed.count(born=(DAY, until)), pl.col("born") <= until),
        (mixed.count(seen=(dt.datetime(2024, 1, 1), noon)), pl.col("seen") <= noon),
        (mixed.count(well=True), pl.col("well")),
        (mixed.count(rate=(0.1, 0.5)), pl.col("rate") <= 0.5),
    ):
        assert answer.value == pytest.approx(frame.filter(condition).height, abs=60)


@pytest.mark.parametrize(
    ("conditions", "says"),
    [
        ({"height": 3}, "no attribute 'height'. There are 'age', 'sex'"),
        ({"name": "person 1"}, "no attribute 'name'"),
        ({"age": (39, 20)}, r"'age': the range \(39, 20\) is the wrong way round"),
        ({"age": (70, 80)}, "'age': 70 is outside its domain, 20 to 59"),
        ({"age": [30, 10]}, "'age': 10 is outside its domain"),
        ({"age": (20, 30, 40)}, r"'age': a range is a pair \(low, high\)"),
        ({"age": "old"}, "'age': 'old' is not of its type"),
        ({"age": None}, "'age' has no missing values"),
        ({"sex": "female"}, "'sex' has no value 'female'. There are 'Female', 'Male'"),
        ({"sex": ["Male", "Other"]}, "'sex' has no value 'Other'"),
        ({"sex": ("Female", "Male")}, "'sex' has no order. Ask for its values one by one"),
    ],
    ids=str,
)
def test_conditions_that_make_no_sense(pview: sd.PView, conditions: dict[str, Any], says: str) -> None:
    with pytest.raises(sd.InputError, match=says):
        pview.count(**conditions)


@pytest.mark.parametrize(
    ("names", "says"),
    [([], "one attribute or several"), (["age", "age"], "different"), ("name", "no attribute 'name'")],
)
def test_marginals_that_make_no_sense(pview: sd.PView, names: Any, says: str) -> None:
    with pytest.raises(sd.InputError, match=says):
        pview.marginal(names)


@pytest.mark.parametrize(
    "ask",
    [
        pytest.param(lambda pview: pview.marginal(None), id="no names"),
        pytest.param(lambda pview: pview.counts([[0] * 4, [0]], [[0] * 4, [0]]), id="ragged boxes"),
        pytest.param(lambda pview: pview.sample(3, seed=-1), id="a seed below 0"),
    ],
)
def test_odd_arguments_are_refused_in_plain_words(
    pviews: dict[str, sd.PView], ask: Callable[[sd.PView], Any]
) -> None:
    with pytest.raises(sd.SudareError):
        ask(pviews["independent"])


def test_a_range_without_any_value_of_a_list_is_refused_as_in_sql(mixed: sd.PView) -> None:
    with pytest.raises(sd.InputError):
        mixed.sql("SELECT COUNT(*) FROM view WHERE rate BETWEEN 3 AND 4")
    with pytest.raises(sd.InputError):
        mixed.count(rate=(3, 4))


def test_what_the_message_lists_can_be_asked_for(mixed: sd.PView) -> None:
    with pytest.raises(sd.InputError) as refused:
        mixed.count(town="Paris")
    assert "'(missing)'" not in str(refused.value) or mixed.count(town="(missing)").value >= 0
    assert str(refused.value).endswith("'Lima'; missing is None, or IS NULL in SQL.")
    assert mixed.count(town=None).value >= 0


# -- Intervals --------------------------------------------------------------------------------------

SIZES = (50, 4, 20, 2)


def coded(n: int, *, dependent: bool) -> np.ndarray:
    """Four attributes, each of which depends on the one before it, or on none."""
    rng = np.random.default_rng(0)
    age = np.clip(np.rint(rng.gamma(6, 7, n)), 18, 67).astype(int)
    cause = (age - 40) / 15 if dependent else rng.normal(size=n)
    edu = np.digitize(cause * 0.8 + rng.normal(size=n), [-1, 0, 1.2])
    cause = edu - 1.5 if dependent else rng.normal(size=n)
    income = np.clip(np.rint(10 + 4 * cause + 3 * rng.normal(size=n)), 0, 19).astype(int)
    cause = (income - 10) / 5 if dependent else rng.normal(size=n)
    ill = (rng.random(n) < 1 / (1 + np.exp(cause + 1))).astype(int)
    return np.stack([age - 18, edu, income, ill], axis=1)


def coded_table(codes: np.ndarray, **declared: Any) -> sd.Table:
    names = [f"x{a}" for a in range(codes.shape[1])]
    bounds = {name: (0, size - 1) for name, size in zip(names, SIZES, strict=False)}
    return table_of(pl.DataFrame(codes, schema=names), bounds=bounds, **declared)


def asked_of(attributes: int, queries: int) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """Ranges and single cells of one attribute, of two, and so on; and everybody."""
    rng = np.random.default_rng(7)
    tops = np.array(SIZES[:attributes]) - 1
    yield "total", np.zeros((1, attributes), int), tops[None]
    for several in range(1, attributes + 1):
        for kind in ("range", "cell"):
            low, high = np.zeros((queries, attributes), int), np.tile(tops, (queries, 1))
            for q in range(queries):
                for a in rng.choice(attributes, several, replace=False):
                    ends = np.sort(rng.integers(0, SIZES[a], 2))
                    low[q, a], high[q, a] = ends[0], ends[0] if kind == "cell" else ends[1]
            yield f"{kind} of {several}", low, high


def covered(
    codes: np.ndarray, promise: sd.DifferentialPrivacy, method: str, seeds: int
) -> dict[str, tuple[float, float]]:
    """Return the share of intervals that hold the true count, and their width over the needed one, by kind of query."""
    asked = list(asked_of(codes.shape[1], 40))
    true = {
        kind: np.array(
            [((codes >= a) & (codes <= b)).all(axis=1).sum() for a, b in zip(low, high, strict=True)]
        )
        for kind, low, high in asked
    }
    table, hits, errors, off = coded_table(codes), {}, {}, {}
    for seed in range(seeds):
        pview = sd.materialize(table, promise, method, unsafe_seed=seed)
        for kind, low, high in asked:
            count, error = pview.counts(low, high), pview.errors(low, high)
            first, last = (np.maximum(count + sign * REACH * error, 0.0) for sign in (-1, 1))
            hits.setdefault(kind, []).append((first <= true[kind] + 1e-9) & (true[kind] <= last + 1e-9))
            errors.setdefault(kind, []).append(error)
            off.setdefault(kind, []).append((np.maximum(count, 0.0) - true[kind]) ** 2)
    by_kind = {
        kind: (float(np.mean(hits[kind])), float(np.mean(errors[kind]) / np.sqrt(np.mean(off[kind]))))
        for kind in hits
    }
    return by_kind | {"all": (float(np.mean(np.concatenate([np.ravel(h) for h in hits.values()]))), 0.0)}


@pytest.mark.parametrize(
    ("method", "dependent", "attributes", "promise"),
    [
        pytest.param(*case, promise, marks=[] if promise is quick else [pytest.mark.slow])
        for *case, quick in (
            ("pairs", True, 4, PURE),
            ("identity", True, 4, GAUSSIAN),
            ("dp-mondrian", True, 4, PURE),
            ("independent", True, 4, PURE),
            ("independent", False, 4, GAUSSIAN),
            ("dawa", True, 2, PURE),
            ("pairs", True, 2, GAUSSIAN),
            ("hdmm", True, 4, PURE),
            ("privbayes", True, 4, None),
            ("dawa", False, 4, None),
        )
        for promise in (PURE, GAUSSIAN)
    ],
)
def test_intervals_cover_what_is_true(
    method: str, dependent: bool, attributes: int, promise: sd.DifferentialPrivacy
) -> None:
    codes = coded(4000, dependent=dependent)[:, :attributes]
    by_kind = covered(codes, promise, method, seeds=4 if method == "pairs" else 8)
    assert by_kind["all"][0] >= 0.92, by_kind
    assert all(share >= 0.85 for kind, (share, _) in by_kind.items() if kind != "total"), by_kind
    # A range of one attribute is what the noise alone makes uncertain: there, intervals are as wide as they must be.
    if method in ("pairs", "identity", "independent"):
        assert 0.7 < by_kind["range of 1"][1] < 1.6, by_kind


@pytest.mark.slow
def test_intervals_of_pairs_cover_where_attributes_do_not_depend_on_each_other() -> None:
    by_kind = covered(coded(4000, dependent=False), PURE, "pairs", seeds=5)
    assert all(by_kind[kind][0] >= 0.85 for kind in ("cell of 2", "cell of 3", "cell of 4")), by_kind


def test_intervals_of_pairs_cover_nobody_who_is_missing() -> None:
    table = coded_table(coded(4000, dependent=True), missing="own value")
    pviews = [sd.materialize(table, sd.DifferentialPrivacy(5.0), unsafe_seed=seed) for seed in range(20)]
    lows = [pview.count(**{name: None}).low for pview in pviews for name in ("x0", "x2")]
    assert np.mean(np.array(lows) == 0) >= 0.88, lows


@pytest.mark.parametrize("method", ["pairs", "identity", "independent", "dawa", "dp-mondrian"])
def test_intervals_cover_within_bins(method: str) -> None:
    rng = np.random.default_rng(0)
    values = np.clip(np.rint(rng.gamma(2, 60, 4000)), 0, 499).astype(int)
    table = table_of(pl.DataFrame({"x": values}), bounds={"x": (0, 499)}, bins={"x": 20})
    hits = []
    for seed in range(3):
        pview = sd.materialize(table, PURE, method, unsafe_seed=seed)
        for start in rng.integers(0, 250, 40).tolist():
            answer = pview.count(x=(start, start + 9))
            hits.append(answer.low <= ((values >= start) & (values <= start + 9)).sum() <= answer.high)
    assert np.mean(hits) >= 0.85


def test_independent_is_not_sure_that_there_is_nobody() -> None:
    table = table_of(pl.DataFrame({"x": [3], "y": [1]}), bounds={"x": (0, 9), "y": (0, 1)})
    pviews = [sd.materialize(table, PURE, "independent", unsafe_seed=seed) for seed in range(20)]
    assert np.mean([pview.count().high >= 1 for pview in pviews]) >= 0.85


# -- Synthetic rows ---------------------------------------------------------------------------------


def test_rows_have_the_tables_types_in_its_order(mixed: sd.PView) -> None:
    rows = mixed.sample(5000)
    assert rows.schema == mixed_frame().schema
    assert rows["age"].null_count() > 0
    again = table_of(rows, **MIXED)  # it would refuse any value outside the domain
    assert list(again.columns) == rows.columns


def test_rows_without_the_identifier(pview: sd.PView) -> None:
    assert pview.sample(3).columns == ["age", "sex", "education", "ill"]


@pytest.mark.parametrize("n", [0, 1, 20_000])
def test_as_many_rows_as_wanted(pview: sd.PView, mixed: sd.PView, n: int) -> None:
    assert pview.sample(n).shape == (n, 4)
    assert mixed.sample(n).schema == mixed_frame().schema


def test_samples_differ_unless_they_have_the_same_seed(pview: sd.PView) -> None:
    assert not pview.sample(200).equals(pview.sample(200))
    assert pview.sample(200, seed=5).equals(pview.sample(200, seed=5))
    assert not pview.sample(200, seed=5).equals(pview.sample(200, seed=6))


def assert_shares_of_rows(pview: sd.PView, tables: list[list[str]], n: int = 20_000) -> None:
    rows = pview.sample(n, seed=1).cast(pl.String)
    for names in tables:
        table = pview.marginal(names)
        drawn = table.join(rows.group_by(names).len(), on=names, how="left")["len"].fill_null(0).to_numpy()
        share = table["count"].clip(0.0).to_numpy() / pview.total
        off = np.abs(drawn / n - share)
        assert (off < 5 * np.sqrt(share * (1 - np.minimum(share, 1)) / n) + 1e-3).all(), (names, off.max())


@pytest.mark.parametrize("method", [name for name in METHODS if name != "dp-mondrian"])
def test_shares_of_rows_are_the_pviews_own(pviews: dict[str, sd.PView], method: str) -> None:
    # Blocks below 0, which cover many cells, cannot be drawn from; those of the projection can.
    pview = pviews[method]
    assert_shares_of_rows(pview, [["sex", "ill"], ["education"], ["ill", "education"], ["age"]])


@pytest.mark.parametrize("method", ["independent", "identity", "dp-mondrian"])
def test_no_rows_can_be_drawn_from_a_pview_that_counts_nobody(method: str) -> None:
    table = table_of(pl.DataFrame({"x": [3], "y": [1]}), bounds={"x": (0, 9), "y": (0, 1)})
    pviews = (sd.materialize(table, PURE, method, unsafe_seed=seed) for seed in range(40))
    nobody = next(pview for pview in pviews if pview.total <= 0)
    assert nobody.sample(0).shape == (0, 2)
    with pytest.raises(sd.InputError, match="The p-view counts nobody"):
        nobody.sample(1)


@pytest.mark.parametrize("n", [-1, 2.5, "many", None])
def test_numbers_of_rows_that_make_no_sense(pview: sd.PView, n: Any) -> None:
    with pytest.raises(
        sd.ParameterError, match="'n' parameter of sample must be a whole number of 0 or more"
    ):
        pview.sample(n)


@pytest.mark.parametrize("first", [DAY, dt.date(2024, 1, 2)], ids=["two days", "one day"])
@pytest.mark.parametrize("zone", [None, "Asia/Tokyo"])
def test_times_on_the_last_day_keep_their_time(first: dt.date, zone: str | None) -> None:
    evening = dt.datetime(2024, 1, 2, 18)
    values = pl.Series([evening] * 300).dt.replace_time_zone(zone)
    bounds = (first, dt.date(2024, 1, 2))
    if zone:  # then the bounds must have one, too
        low, high = (dt.datetime.combine(day, dt.time.min, ZoneInfo(zone)) for day in bounds)
        bounds = (low, high + dt.timedelta(1))
        evening = evening.replace(tzinfo=ZoneInfo(zone))
    declared: dict[str, Any] = {"types": {"x": "datetime"}, "bounds": {"x": bounds}, "bins": {"x": 8}}
    table = table_of(pl.DataFrame({"x": values}), **declared)
    pview = sd.materialize(table, sd.DifferentialPrivacy(100.0), "identity", unsafe_seed=1)
    assert pview.sample(1)["x"][0].astimezone(evening.tzinfo).date() == evening.date()
    assert pview.count(x=evening).value == pytest.approx(300, abs=5)
    assert pview.count(x=(evening.replace(hour=23, minute=59), None)).value < 5


# -- Files ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
def test_a_pview_opens_with_the_same_answers_and_facts(
    pviews: dict[str, sd.PView], method: str, tmp_path: Path
) -> None:
    pview = pviews[method]
    again = sd.PView.open(pview.save(tmp_path / "pview"))
    assert again.facts == pview.facts
    assert again.total == pview.total
    assert again.count(age=(30, 44), ill="yes") == pview.count(age=(30, 44), ill="yes")
    assert again.marginal(["education", "age"]).equals(pview.marginal(["education", "age"]))
    query = "SELECT sex, COUNT(*) FROM view WHERE age > 40 OR ill = 'no' GROUP BY sex"
    assert again.sql(query).equals(pview.sql(query))
    boxes = random_boxes(pview.domain.sizes, 100)
    np.testing.assert_array_equal(again.counts(*boxes), pview.counts(*boxes))
    np.testing.assert_array_equal(again.errors(*boxes), pview.errors(*boxes))
    assert again.sample(100, seed=4).equals(pview.sample(100, seed=4))


def test_every_type_survives_the_files(mixed: sd.PView, tmp_path: Path) -> None:
    again = sd.PView.open(mixed.save(tmp_path / "pview"))
    assert again.sample(300, seed=1).equals(mixed.sample(300, seed=1))
    for name in mixed_frame().columns:
        assert again.marginal(name).equals(mixed.marginal(name))


@pytest.mark.parametrize(
    ("values", "declared", "dtype"),
    [
        (pl.Series(["a", "b"], dtype=pl.Categorical), {"domains": {"x": ["a", "b"]}}, pl.String),
        (pl.Series(["a", "b"], dtype=pl.Enum(["a", "b"])), {"domains": {"x": ["a", "b"]}}, pl.String),
        (
            pl.Series([Decimal("1.50"), Decimal("2.25")]),
            {"bounds": {"x": (0, 5.0)}, "bins": {"x": 5}},
            pl.Float64,
        ),
        (
            pl.Series([dt.datetime(2024, 1, 1, h, tzinfo=dt.UTC) for h in (1, 2)]),
            {
                "bounds": {
                    "x": (dt.datetime(2024, 1, 1, tzinfo=dt.UTC), dt.datetime(2024, 1, 2, tzinfo=dt.UTC))
                }
            },
            pl.Datetime("us", "UTC"),
        ),
        (pl.Series([1, 2], dtype=pl.Int128), {"domains": {"x": [1, 2, 2**40]}}, pl.Int64),
        (pl.Series([1, 2] * 50, dtype=pl.UInt8), {"bounds": {"x": (0, 1000)}, "bins": {"x": 10}}, pl.Int64),
        (pl.Series([Decimal("1.50")]), {"domains": {"x": ["1.50", "2.25"]}}, pl.String),
        (pl.Series([NOON]), {"domains": {"x": [NOON, NOON + dt.timedelta(200)]}}, pl.Datetime("us", "UTC")),
    ],
    ids=["categorical", "enum", "decimal", "with a zone", "wide", "bytes", "listed decimals", "listed times"],
)
def test_a_pview_has_the_declared_types_and_opens_with_them(
    values: pl.Series, declared: dict[str, Any], dtype: Any, tmp_path: Path
) -> None:
    pview = sd.materialize(table_of(pl.DataFrame({"x": values}), **declared), PURE, "identity", unsafe_seed=1)
    again = sd.PView.open(pview.save(tmp_path / "pview"))
    assert again.total == pview.total
    assert again.marginal("x").equals(pview.marginal("x"))
    assert again.sample(9, seed=1).equals(pview.sample(9, seed=1))
    assert again.sample(9).schema == {"x": dtype}


@pytest.mark.parametrize("name", ["pview.parquet", "manifest.json"])
def test_a_damaged_file_is_refused(pviews: dict[str, sd.PView], name: str, tmp_path: Path) -> None:
    path = pviews["independent"].save(tmp_path / "pview") / name
    content = bytearray(path.read_bytes())
    at = content.index(b"Female") if name == "manifest.json" else len(content) // 2
    content[at] ^= 1
    path.write_bytes(content)
    with pytest.raises(sd.InputError, match=rf"{name} is damaged.*Copy the whole folder again"):
        sd.PView.open(path.parent)


def test_what_is_no_pview_is_refused_and_a_pview_not_overwritten(
    pviews: dict[str, sd.PView], tmp_path: Path
) -> None:
    with pytest.raises(sd.InputError, match="there is no such file or folder"):
        sd.PView.open(tmp_path / "nowhere")
    folder = pviews["independent"].save(tmp_path / "pview")
    with pytest.raises(sd.InputError):
        sd.PView.open(folder / "pview.parquet")
    with pytest.raises(sd.InputError, match="exists already"):
        pviews["identity"].save(folder)
    assert sd.PView.open(folder).total == pviews["independent"].total
