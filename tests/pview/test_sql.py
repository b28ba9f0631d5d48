"""SQL on a p-view: the same answers as DuckDB gives on the rows, and clear words for what cannot be asked."""

from __future__ import annotations

import datetime as dt
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sudare as sd
from sudare.errors import InputError
from sudare.pview.domain import Axis, Domain
from sudare.pview.pview import PView
from tests.pview.exact import Exact, points_pview

DAY = dt.date(2024, 1, 30)
# "age" has whole numbers one by one, "score" whole numbers in bins, "born" days, the others values.
AXES = (
    Axis("age", pl.Int64(), None, 18, 26, 8, missing=True),
    Axis("marital-status", pl.String(), ("single", 'it\'s "new"', "Married"), missing=True),
    Axis("born", pl.Date(), None, 19752, 19757, 5),
    Axis("rate", pl.Float64(), (0.5, 1.0, 2.5, -3.0)),
    Axis("well", pl.Boolean(), (False, True), missing=True),
)
ROWS = pl.DataFrame(
    {
        "age": np.random.default_rng(1).integers(18, 26, 400),
        "marital-status": np.random.default_rng(2).choice(AXES[1].values, 400),
        "born": [DAY + dt.timedelta(days=int(d)) for d in np.random.default_rng(3).integers(0, 5, 400)],
        "rate": np.random.default_rng(4).choice(AXES[3].values, 400),
        "well": np.random.default_rng(5).choice([True, False], 400),
    }
).with_columns(
    pl.when(pl.int_range(pl.len()) % 7 != i).then(pl.col(name))
    for i, name in enumerate(["age", "marital-status", "well"])
)  # fmt: skip

DUCKDB = duckdb.connect(config={"default_null_order": "postgres"})


@pytest.fixture(scope="module")
def pview() -> PView:
    assert (DAY - dt.date(1970, 1, 1)).days == 19752
    return points_pview(AXES, ROWS)


def of_duckdb(query: str, rows: pl.DataFrame = ROWS) -> list[tuple[Any, ...]]:
    DUCKDB.register("view", rows.to_arrow())
    return DUCKDB.execute(query).fetchall()


def rows_of(pview: PView, query: str) -> list[tuple[Any, ...]]:
    return pview.sql(query).drop("count_low", "count_high").rows()


# -- Against DuckDB --------------------------------------------------------------------------------

LITERALS = {
    "age": st.one_of(st.integers(18, 25).map(str), st.sampled_from(["19.5", "20.0", "24.25"])),
    '"marital-status"': st.sampled_from(["'single'", "'it''s \"new\"'", "'Married'"]),
    "born": st.integers(0, 4).map(lambda d: f"DATE '{DAY + dt.timedelta(days=d)}'")
    | st.integers(0, 4).map(lambda d: f"'{DAY + dt.timedelta(days=d)}'"),
    "rate": st.sampled_from(["0.5", "1", "2.5", "-3"]),
    "well": st.sampled_from(["TRUE", "false"]),
}
ORDERED = ["age", "born", "rate"]


@st.composite
def comparisons(draw: st.DrawFn) -> str:
    name = draw(st.sampled_from(list(LITERALS)))
    values = draw(st.lists(LITERALS[name], min_size=2, max_size=3))
    form = draw(st.sampled_from(["=", "<>", "in", "not in", "null", "not null", *(["<", "<=", ">", ">=", "between"] * 2 if name in ORDERED else [])]))  # fmt: skip
    if form in ("in", "not in"):
        return f"{name} {form.upper()} ({', '.join(values)})"
    if form in ("null", "not null"):
        return f"{name} IS {form.upper()}"
    if form == "between":
        low, high = sorted(values[:2], key=lambda text: float(text) if name != "born" else text[-11:])
        return f"{name} {draw(st.sampled_from(['', 'NOT ']))}BETWEEN {low} AND {high}"
    return f"{values[0]} {form} {name}" if draw(st.booleans()) else f"{name} {form} {values[0]}"


conditions = st.recursive(
    comparisons(),
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from([" AND ", " OR "]), inner).map(lambda t: f"({''.join(t)})"),
        inner.map(lambda text: f"NOT ({text})"),
    ),
    max_leaves=8,
)


@settings(max_examples=300)
@given(where=conditions)
def test_any_condition_counts_what_duckdb_counts(pview: PView, where: str) -> None:
    query = f"SELECT COUNT(*) FROM view WHERE {where}"
    assert pview.sql(query)["count"][0] == pytest.approx(of_duckdb(query)[0][0], abs=1e-6)


@settings(max_examples=100)
@given(where=conditions, by=st.lists(st.sampled_from(list(LITERALS)), min_size=1, max_size=3, unique=True))
def test_groups_of_any_condition_are_duckdbs(pview: PView, where: str, by: list[str]) -> None:
    columns = ", ".join(by)
    query = f"SELECT {columns}, COUNT(*) AS n FROM view WHERE {where} GROUP BY {columns} HAVING COUNT(*) >= 1"
    ours = {row[:-1]: round(row[-1], 6) for row in rows_of(pview, query)}
    assert ours == {row[:-1]: row[-1] for row in of_duckdb(query)}


@pytest.mark.parametrize(
    "rest",
    [
        "ORDER BY age DESC NULLS LAST, 2 DESC",
        "ORDER BY age DESC, born LIMIT 9",
        "ORDER BY COUNT(*) DESC, age, born LIMIT 5",
        "ORDER BY n, born, age LIMIT 3",
        "HAVING COUNT(*) BETWEEN 6 AND 11 AND NOT COUNT(*) IN (8) ORDER BY age, born",
        "HAVING 10 < COUNT(*) OR COUNT(*) <= 6 ORDER BY born DESC, age NULLS FIRST",
        "HAVING COUNT(*) IS NOT NULL ORDER BY 1, 2 LIMIT 0",
    ],
)
def test_order_having_and_limit_are_duckdbs(pview: PView, rest: str) -> None:
    query = f"SELECT age, born, COUNT(*) AS n FROM view GROUP BY 1, born {rest}"
    assert rows_of(pview, query) == of_duckdb(query)


def test_having_may_use_the_name_of_the_count(pview: PView) -> None:
    query = "SELECT age, COUNT(*) AS n FROM view GROUP BY age HAVING {} > 50"
    assert pview.sql(query.format("n")).equals(pview.sql(query.format("COUNT(*)")))


# -- Bins ------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def binned() -> PView:
    axes = (
        Axis("pay", pl.Float64(), None, 0, 100, 10, missing=True),
        Axis("age", pl.Int64(), None, 18, 28, 4),
    )
    rows = pl.DataFrame({"pay": [*([15.0] * 100), None], "age": [*([18] * 50), *([27] * 51)]})
    return points_pview(axes, rows, error=3.0)


@pytest.mark.parametrize(
    ("where", "count"),
    [
        ("pay < 13", 30),
        ("NOT pay < 13", 70),
        ("NOT (pay < 13 OR pay IS NULL)", 70),
        ("pay > 12 AND pay < 17", 50),
        ("pay > 12 AND pay < 17 AND pay <> 15", 0),
        ("pay < 12 OR pay > 17", 50),
        ("pay < 14 OR pay > 11", 100),
        ("pay BETWEEN 12 AND 17 AND NOT pay BETWEEN 14 AND 15", 40),
        ("pay = 11", 100),
        ("pay <> 11", 0),
        ("pay = 11 AND pay < 15", 50),
        ("pay BETWEEN 11 AND 11", 100),
        ("pay IN (11, 95)", 100),
        ("pay <= 0", 0),
        ("pay IS NULL", 1),
        ("pay IS NULL OR pay < 15", 51),
        ("age IS NULL", 0),
        ("age IS NOT NULL", 101),
        ("pay < 15 AND age = 18", 50 / 2 / 3),  # of 18, 19 and 20
        ("age < 18", 0),
        ("age > 27", 0),
        ("age = 18.5", 0),
        ("age IN (18, 19, 20)", 50),
    ],
)
def test_bins_are_taken_in_part(binned: PView, where: str, count: float) -> None:
    assert binned.sql(f"SELECT COUNT(*) FROM view WHERE {where}")["count"][0] == pytest.approx(count)


def test_groups_by_bins_have_labels_in_their_order(binned: PView) -> None:
    answer = binned.sql(
        "SELECT pay, COUNT(*) FROM view WHERE pay < 25 OR pay IS NULL GROUP BY pay ORDER BY pay DESC"
    )
    assert answer["pay"].to_list() == [None, "[20.0, 30.0)", "[10.0, 20.0)", "[0.0, 10.0)"]
    assert answer["count"].to_list() == [1, 0, 100, 0]
    assert binned.sql("SELECT age, COUNT(*) FROM view GROUP BY age")["age"].to_list() == [
        "[18, 21)", "[21, 23)", "[23, 26)", "[26, 28)",
    ]  # fmt: skip


class Wide(Exact):
    """Errs more the more cells a box has."""

    def errors(self, low: Any, high: Any) -> Any:
        return np.sqrt(np.prod(high - low + 1.0, axis=1))


def test_intervals_are_those_of_the_pview(binned: PView) -> None:
    pview = PView(binned.domain, Wide(binned.model.boxes))  # type: ignore[arg-type]
    asked = "SELECT {} FROM view WHERE pay BETWEEN 0 AND 55 AND {}"
    for cell, ages in enumerate([(18, 20), (21, 22), (23, 25), (26, 27)]):
        expected = pview.count(pay=(0, 55), age=ages)
        alone = pview.sql(asked.format("COUNT(*)", f"age BETWEEN {ages[0]} AND {ages[1]}")).row(0)
        group = pview.sql(asked.format("age, COUNT(*)", "age > 0 GROUP BY age")).row(cell)[1:]
        assert alone == pytest.approx((expected.value, expected.low, expected.high))
        assert group == pytest.approx(alone)


def test_the_error_of_disjoint_parts_adds_up(binned: PView) -> None:
    pview = PView(binned.domain, Wide(binned.model.boxes))  # type: ignore[arg-type]
    # 5 of 11 cells of pay, all 4 of age; and 2 of age with the other 6.
    answer = pview.sql("SELECT COUNT(*) FROM view WHERE pay < 50 OR age < 23")
    reach = (answer["count_high"] - answer["count"])[0]
    assert reach == pytest.approx(1.96 * np.sqrt(5 * 4 + 2 * 6), abs=0.01)


PARTS = pl.DataFrame({"offset": np.arange(10) + 0.5}).join(pl.DataFrame({"sixth": range(6)}), how="cross")


@pytest.fixture(scope="module")
def spread() -> tuple[PView, pl.DataFrame]:
    """A p-view of 40 people in bins, and everybody as 60 sixtieths, spread evenly over the bins."""
    rng = np.random.default_rng(7)
    axes = (
        Axis("pay", pl.Float64(), None, 0, 100, 10, missing=True),
        Axis("age", pl.Int64(), None, 18, 28, 4),
    )
    domain = Domain(axes)
    people = domain.decode(rng.integers(0, domain.sizes, size=(40, 2)), rng)
    pview = points_pview(axes, people)
    ages = [range(18, 21), range(21, 23), range(23, 26), range(26, 28)]
    inside = pl.Series(
        [[bin[s % len(bin)] for s in range(6)] for age in people["age"] for bin in ages if age in bin]
    )
    rows = people.with_columns(ages=inside, pay=pl.col("pay") // 10 * 10).join(PARTS, how="cross")
    return pview, rows.select(
        pay=pl.col("pay") + pl.col("offset"), age=pl.col("ages").list.get(pl.col("sixth"))
    )


ranges = st.one_of(
    st.builds("pay {} {}".format, st.sampled_from(["<", "<=", ">", ">="]), st.integers(0, 100)),
    st.builds("age {} {}".format, st.sampled_from(["<", "<=", ">", ">=", "=", "<>"]), st.integers(18, 27)),
    st.tuples(st.integers(0, 99), st.integers(1, 9)).map(
        lambda t: f"pay BETWEEN {t[0]} AND {min(sum(t), 100)}"
    ),
    st.tuples(st.integers(18, 27), st.integers(0, 5)).map(lambda t: f"age NOT BETWEEN {t[0]} AND {sum(t)}"),
    st.sampled_from(["pay IS NULL", "pay IS NOT NULL", "age IN (18, 22, 27)", "age NOT IN (19, 20)"]),
)
trees = st.recursive(
    ranges,
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from([" AND ", " OR "]), inner).map(lambda t: f"({''.join(t)})"),
        inner.map(lambda text: f"NOT ({text})"),
    ),
    max_leaves=8,
)


@settings(max_examples=300)
@given(where=trees)
def test_parts_of_bins_are_as_if_spread_evenly(spread: tuple[PView, pl.DataFrame], where: str) -> None:
    pview, rows = spread
    query = f"SELECT COUNT(*) FROM view WHERE {where}"
    assert pview.sql(query)["count"][0] == pytest.approx(of_duckdb(query, rows)[0][0] / 60, abs=1e-6)


def test_groups_that_are_excluded_are_left_out(pview: PView) -> None:
    query = "SELECT age, COUNT(*) FROM view WHERE age < 21 AND born = '2024-01-31' GROUP BY age"
    assert pview.sql(query)["age"].to_list() == [18, 19, 20]
    assert pview.sql("SELECT age, COUNT(*) FROM view WHERE age < 18 GROUP BY age").is_empty()


def test_the_answer_has_the_columns_asked_for(pview: PView) -> None:
    query = 'SELECT COUNT(*) AS "how many", born AS day, well FROM view GROUP BY well, born, "marital-status"'
    answer = pview.sql(query)
    assert answer.columns == ["how many", "day", "well", "count_low", "count_high"]
    assert answer.schema["day"] == pl.Date
    assert answer.height == 4 * 5 * 3


def test_names_without_quotes_may_be_written_large(pview: PView) -> None:
    assert pview.sql("select count(*) from View where AGE < 20 and view.Rate = 1").height == 1


@pytest.mark.parametrize(
    ("where", "count"),
    [
        ("seen = TIMESTAMP '2024-01-30 12:00'", 2),
        ("seen = '2024-01-30T12:00:00'", 2),
        ("seen > DATE '2024-01-30'", 3),
        ("seen >= '2024-01-30'", 4),
        ("seen BETWEEN DATE '2024-01-30' AND TIMESTAMP '2024-01-30 12:00:00'", 3),
        ("seen <> DATE '2024-01-30'", 3),
    ],
)
def test_times(where: str, count: int) -> None:
    times = [dt.datetime(2024, 1, 30), *[dt.datetime(2024, 1, 30, 12)] * 2, dt.datetime(2024, 1, 31)]
    axis = Axis("seen", pl.Datetime("us"), tuple(sorted(set(times))))
    query = f"SELECT COUNT(*) FROM view WHERE {where}"
    rows = pl.DataFrame({"seen": times})
    assert points_pview([axis], rows).sql(query)["count"][0] == of_duckdb(query, rows)[0][0] == count


# -- What is refused -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("query", "what"),
    [
        ("", "An empty query"),
        ("hello there", "not SQL|is not supported"),
        ("SELECT COUNT(*) FROM view WHERE", "not SQL"),
        ("SELECT COUNT(*) FROM view WHERE age = 'a", "not SQL"),
        ("SELECT COUNT(*) FROM view; SELECT COUNT(*) FROM view", "More than one statement"),
        ("DELETE FROM view", "DELETE FROM view is not supported"),
        ("SELECT COUNT(*)", "without FROM view"),
        ("SELECT COUNT(*) FROM people", "There is no table 'people'. The only one is 'view'"),
        ("SELECT COUNT(*) FROM s.view", "DB in s.view"),
        ("SELECT COUNT(*) FROM view v", "ALIAS in view AS v"),
        ("SELECT COUNT(*) FROM view TABLESAMPLE (10)", "TABLESAMPLE"),
        ("SELECT COUNT(*) FROM (SELECT 1) AS x", "A subquery"),
        ("SELECT COUNT(*) FROM view, view", "A join"),
        ("SELECT COUNT(*) FROM view JOIN view USING (age)", "A join"),
        ("SELECT COUNT(*) FROM view UNION SELECT COUNT(*) FROM view", "UNION"),
        ("WITH a AS (SELECT 1) SELECT COUNT(*) FROM view", "WITH"),
        ("SELECT DISTINCT COUNT(*) FROM view", "DISTINCT"),
        ("SELECT COUNT(DISTINCT age) FROM view", "where a column is expected"),
        ("SELECT COUNT(age) FROM view", "where a column is expected"),
        ("SELECT AVG(age) FROM view", "where a column is expected"),
        ("SELECT COUNT(*) FILTER (WHERE age = 20) FROM view", "where a column is expected"),
        ("SELECT COUNT(*) OVER () FROM view", "where a column is expected"),
        ("SELECT *, COUNT(*) FROM view", "where a column is expected"),
        ("SELECT COUNT(*) + 1 FROM view", "where a column is expected"),
        ("SELECT COUNT(*), COUNT(*) AS n FROM view", r"More than one COUNT\(\*\)"),
        ("SELECT age FROM view GROUP BY age", r"A query without COUNT\(\*\)"),
        ("SELECT age, COUNT(*) FROM view", "not in GROUP BY. Add GROUP BY age"),
        ("SELECT age, COUNT(*) AS age FROM view GROUP BY age", "Two columns of the answer have the name 'age'"),
        ("SELECT age AS count_low, COUNT(*) FROM view GROUP BY age", "'count_low'. Rename one with AS"),
        ("SELECT COUNT(*) FROM view GROUP BY ALL", "ALL"),
        ("SELECT COUNT(*) FROM view GROUP BY ROLLUP (age)", "is not supported"),
        ("SELECT COUNT(*) FROM view GROUP BY age + 1", "where a column is expected"),
        ("SELECT COUNT(*) FROM view GROUP BY 1", "GROUP BY the count"),
        ("SELECT COUNT(*) FROM view GROUP BY 2", "There is no column 2"),
        ("SELECT COUNT(*) FROM view ORDER BY age", "ORDER BY what is not in GROUP BY"),
        ("SELECT COUNT(*) FROM view ORDER BY 3", "There is no column 3"),
        ("SELECT COUNT(*) FROM view ORDER BY lower(age)", "where a column is expected"),
        ("SELECT COUNT(*) FROM view GROUP BY age HAVING age > 20", "HAVING age"),
        ("SELECT COUNT(*) FROM view HAVING SUM(age) > 20", r"HAVING SUM\(age\)"),
        ("SELECT COUNT(*) FROM view LIMIT 1 + 1", "LIMIT"),
        ("SELECT COUNT(*) FROM view OFFSET 1", "OFFSET"),
        ("SELECT COUNT(*) FROM view FETCH FIRST 1 ROW ONLY", "FETCH"),
        ("SELECT COUNT(*) FROM view WHERE age = rate", "A comparison with something else than a value, age = rate"),
        ("SELECT COUNT(*) FROM view WHERE 1 = 1", "1 where a column is expected"),
        ("SELECT COUNT(*) FROM view WHERE age + 1 = 20", "where a column is expected"),
        ("SELECT COUNT(*) FROM view WHERE age = 10 + 10", "A comparison with something else"),
        ("SELECT COUNT(*) FROM view WHERE well", "The condition well"),
        ("SELECT COUNT(*) FROM view WHERE well IS TRUE", "The condition well IS TRUE"),
        ("SELECT COUNT(*) FROM view WHERE age IN (SELECT 1)", "QUERY in age IN"),
        ("SELECT COUNT(*) FROM view WHERE age IN (20, age)", "where a value is expected"),
        ("SELECT COUNT(*) FROM view WHERE age BETWEEN SYMMETRIC 25 AND 20", "SYMMETRIC"),
        ("SELECT COUNT(*) FROM view WHERE EXISTS (SELECT 1)", "The condition EXISTS"),
        ("SELECT COUNT(*) FROM view WHERE \"marital-status\" LIKE 's%'", "The condition"),
        ("SELECT COUNT(*) FROM view WHERE age = CAST('20' AS INT)", "where a value is expected"),
        ("SELECT COUNT(*) FROM view WHERE age = NULL", "Write IS NULL or IS NOT NULL"),
        ("SELECT COUNT(*) FROM view WHERE people.age = 20", "There is no table 'people'"),
        ("SELECT COUNT(*) FROM view WHERE weight = 20", "no attribute 'weight'. There are 'age', 'marital-status'"),
        ('SELECT COUNT(*) FROM view WHERE "AGE" = 20', "no attribute 'AGE'"),
        ("SELECT COUNT(*) FROM view WHERE marital-status = 'single'", "where a column is expected"),
        ("SELECT COUNT(*) FROM view WHERE \"marital-status\" = 'divorced'", "no value 'divorced'. There are 'single'"),
        ("SELECT COUNT(*) FROM view WHERE \"marital-status\" < 'single'", "has no order"),
        ("SELECT COUNT(*) FROM view WHERE age = 30", "30 is outside its domain, 18 to 25"),
        ("SELECT COUNT(*) FROM view WHERE age <> 30", "outside its domain"),
        ("SELECT COUNT(*) FROM view WHERE age < 10", "10 is outside its domain"),
        ("SELECT COUNT(*) FROM view WHERE age >= 26", "26 is outside its domain"),
        ("SELECT COUNT(*) FROM view WHERE age BETWEEN 30 AND 40", "30 is outside its domain"),
        ("SELECT COUNT(*) FROM view WHERE age BETWEEN 22 AND 20", "BETWEEN 22 AND 20 is the wrong way round"),
        ("SELECT COUNT(*) FROM view WHERE rate BETWEEN 2 AND 1", "BETWEEN 2 AND 1 is the wrong way round"),
        ("SELECT COUNT(*) FROM view WHERE rate > 7", "has no value 7"),
        ("SELECT COUNT(*) FROM view WHERE age = 'old'", "'old' is not of its type, Int64"),
        ("SELECT COUNT(*) FROM view WHERE age < 'nan'", "'nan' is not a number"),
        ("SELECT COUNT(*) FROM view WHERE age = TRUE", "true is not of its type"),
        ("SELECT COUNT(*) FROM view WHERE age = DATE '2024-01-31'", "2024-01-31 is not of its type"),
        ("SELECT COUNT(*) FROM view WHERE born = 5", "5 is not of its type, Date"),
        ("SELECT COUNT(*) FROM view WHERE born = '31.1.2024'", "'31.1.2024' is not a date such as '2025-03-31'"),
        ("SELECT COUNT(*) FROM view WHERE born = DATE '2024-02-31'", "'2024-02-31' is not a date"),
        ("SELECT COUNT(*) FROM view WHERE born = '2025-01-01'", "'2025-01-01' is outside its domain, 2024-01-30 to"),
        (f"SELECT COUNT(*) FROM view WHERE {'(' * 3000}age = 20{')' * 3000}", "nested too deeply"),
    ],
)  # fmt: skip
def test_what_is_refused_and_why(pview: PView, query: str, what: str) -> None:
    with pytest.raises(InputError, match=what) as refused:
        pview.sql(query)
    if "is not supported" in str(refused.value):
        assert "A p-view answers SELECT" in str(refused.value)


def test_a_long_chain_of_conditions(pview: PView) -> None:
    where = " OR ".join(f"age = {18 + i % 8} AND rate = 1 AND born <> '2024-01-31'" for i in range(1000))
    query = f"SELECT COUNT(*) FROM view WHERE {where}"
    assert pview.sql(query)["count"][0] == of_duckdb(query)[0][0]


def test_conditions_that_fall_into_too_many_parts_are_refused() -> None:
    axes = [Axis(f"x{i}", pl.Int64(), tuple(range(20))) for i in range(6)]
    pview = points_pview(axes, pl.DataFrame({axis.name: [0] for axis in axes}))
    where = " OR ".join(" AND ".join(f"x{i} = {(v * (i + 1) + i) % 20}" for i in range(6)) for v in range(20))
    assert pview.sql(f"SELECT COUNT(*) FROM view WHERE {where}").height == 1
    odd = " OR ".join(f"(x{i} IN ({', '.join(str(v) for v in range(20) if v >> b & 1)}) AND x{(i + 1 + b) % 6} IN ({b}, {b + 3}))" for i in range(6) for b in range(5))  # fmt: skip
    with pytest.raises(InputError, match=r"too many parts. Ask several simpler questions"):
        pview.sql(f"SELECT COUNT(*) FROM view WHERE {odd}")


def test_groups_that_are_too_many_are_refused() -> None:
    axes = [Axis(f"x{i}", pl.Int64(), tuple(range(200))) for i in range(3)]
    pview = points_pview(axes, pl.DataFrame({axis.name: [0] for axis in axes}))
    with pytest.raises(InputError, match=r"more than 1,000,000 rows. Group by fewer"):
        pview.sql("SELECT COUNT(*) FROM view GROUP BY x0, x1, x2")


def test_a_column_that_is_called_as_a_word_of_sql_stands_in_quotes() -> None:
    schema = sd.Schema.from_roles(quasi=["alter"], bounds={"alter": (0, 99)}, missing="refuse")
    table = sd.read(pl.DataFrame({"alter": [20, 30] * 50}), schema)
    pview = sd.materialize(table, sd.DifferentialPrivacy(1.0), unsafe_seed=1)
    with pytest.raises(sd.InputError, match='write "alter"'):
        pview.sql("SELECT COUNT(*) FROM view WHERE alter BETWEEN 20 AND 39")
    assert pview.sql('SELECT COUNT(*) FROM view WHERE "alter" BETWEEN 20 AND 39').height == 1
