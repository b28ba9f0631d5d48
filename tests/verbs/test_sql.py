"""A plan in SQL: warehouses publish the rows that we would publish, or none; and nothing in a plan is taken for SQL."""

from __future__ import annotations

import datetime as dt
import random
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pytest
import sqlglot
from sqlglot import exp

import sudare as sd
from sudare.plans.cuts import CutPlan
from sudare.plans.trees import matched
from tests.verbs.plain_rows import Row, published

NUMBER, DAY, TOWN, ILL, NOTE = "num\"ber' --", "day", "Town; DROP TABLE people", "ill", "note"
TOWNS = [
    "Ayr",
    "O'Brien\\",
    "'; DROP TABLE people; --",
    "NULL",
    '簾 "x" `y` ${z} {{a}}',
    "back\\\\slash\n",
    "*",
    "Ayr ",
]
ILLS = ["flu", "'HIV'", "cancer--", None]
QUASI = [NUMBER, DAY, TOWN]
METHODS: dict[str, Any] = {
    "mondrian": "mondrian",
    "blind": sd.methods.Blind(suppress=0.5),
    "full-domain": sd.methods.FullDomain(suppress=0.2),
    "minimal": sd.methods.Minimal(deal=False),
}

SCHEMA = sd.Schema.from_roles(
    identifier=["name"],
    quasi=QUASI,
    sensitive=[ILL],
    other=[NOTE],
    types={NUMBER: "number", DAY: "date", TOWN: "text"},
    hierarchies={
        NUMBER: sd.Hierarchy.intervals([x / 4 for x in range(-40, 41)], width=2.5),
        DAY: {"kind": "dates"},
    },  # type: ignore[dict-item]
)


def people(seed: int, rows: int = 80, values: int = 6) -> pl.DataFrame:
    rng = random.Random(seed)
    numbers = [x / 4 for x in rng.sample(range(-40, 41), values)] + [None]
    days = [dt.date(2024, 1, 1) + dt.timedelta(x) for x in rng.sample(range(900), values)]
    towns = rng.sample(TOWNS, values)
    return pl.DataFrame(
        {
            "name": [f"n{i}" for i in range(rows)],
            NUMBER: [rng.choice(numbers) for _ in range(rows)],
            DAY: [rng.choice(days) for _ in range(rows)],
            TOWN: [rng.choice(towns) for _ in range(rows)],
            ILL: [rng.choice(ILLS) for _ in range(rows)],
            NOTE: [rng.choice([None, -0.5, 2.0, 1e300]) for _ in range(rows)],
        },
        schema={
            "name": pl.String,
            NUMBER: pl.Float64,
            DAY: pl.Date,
            TOWN: pl.String,
            ILL: pl.String,
            NOTE: pl.Float64,
        },
    )


def learned(frame: pl.DataFrame, method: str, k: int = 3, l: int = 2) -> sd.Plan:
    return sd.generalize(sd.read(frame, SCHEMA), [sd.KAnonymity(k), sd.LDiversity(l)], METHODS[method]).plan


Ask = Callable[[pl.DataFrame, sd.Plan, str], list[tuple[Any, ...]]]


def in_duckdb(frame: pl.DataFrame, plan: sd.Plan, unseen: str) -> list[tuple[Any, ...]]:
    with duckdb.connect() as connection:
        connection.register("people", frame)
        return connection.execute(sd.sql(plan, SCHEMA, unseen=unseen)).fetchall()  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def in_postgres(postgres_url: str) -> Iterator[Ask]:
    psycopg = pytest.importorskip("psycopg")
    types = {pl.String: "text", pl.Float64: "double precision", pl.Date: "date"}
    with psycopg.connect(postgres_url, autocommit=True) as connection:

        def ask(frame: pl.DataFrame, plan: sd.Plan, unseen: str) -> list[tuple[Any, ...]]:
            quoted = {name: '"' + name.replace('"', '""') + '"' for name in frame.columns}
            columns = ", ".join(f"{quoted[name]} {types[type(of)]}" for name, of in frame.schema.items())
            connection.execute(f"DROP TABLE IF EXISTS people; CREATE TABLE people ({columns})")
            with connection.cursor() as cursor:
                marks = ", ".join(["%s"] * frame.width)
                cursor.executemany(f"INSERT INTO people VALUES ({marks})", frame.rows())
            made = sd.sql(plan, SCHEMA, dialect="postgres", unseen=unseen)  # type: ignore[arg-type]
            return connection.execute(made.encode()).fetchall()

        yield ask
        connection.execute("DROP TABLE IF EXISTS people")


@pytest.fixture(scope="module")
def in_spark(spark: Any) -> Ask:
    def ask(frame: pl.DataFrame, plan: sd.Plan, unseen: str) -> list[tuple[Any, ...]]:
        spark.createDataFrame(frame.to_arrow()).createOrReplaceTempView("people")
        made = sd.sql(plan, SCHEMA, dialect="spark", unseen=unseen)  # type: ignore[arg-type]
        return [tuple(row) for row in spark.sql(made).collect()]

    return ask


def texts(rows: list[tuple[Any, ...]]) -> list[tuple[str | None, ...]]:
    return [tuple(None if own is None else _text(own) for own in row) for row in rows]


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)  # as databases write it


def by_name(rows: list[tuple[Any, ...]]) -> Counter[tuple[str | None, ...]]:
    return Counter(texts(rows))


def in_whole_numbers(rows: Counter[tuple[str | None, ...]]) -> Counter[tuple[str | None, ...]]:
    """Write -6.0 as -6 where numbers stand, first and last: `apply` reads a column of whole ones as such, a statement has what is there."""
    counted: Counter[tuple[str | None, ...]] = Counter()
    for (number, *others, note), times in rows.items():
        plain_number, plain_note = (own and own.removesuffix(".0") for own in (number, note))
        counted[(plain_number, *others, plain_note)] += times
    return counted


def applied(frame: pl.DataFrame, plan: sd.Plan, unseen: str) -> Counter[tuple[str | None, ...]]:
    """Return what `apply` publishes; nothing where it refuses."""
    try:
        out = sd.apply(plan, sd.read(frame, SCHEMA), unseen).frame()  # type: ignore[arg-type]
    except sd.SudareError:
        return Counter()
    return by_name(out.select(*QUASI, ILL, NOTE).rows())


def again(frame: pl.DataFrame, seed: int, rows: int) -> pl.DataFrame:
    """Other people, with quasi values that somebody had."""
    return frame.sample(rows, with_replacement=True, seed=seed)


def agrees(ask: Ask, seed: int, method: str, tables: int = 3) -> int:
    """Compare what comes out of some tables with `apply`; return how many rows that are."""
    frame = people(seed)
    plan = learned(frame, method)
    compared = 0
    for later in (frame, again(frame, seed, 80), again(frame, seed + 1, 9))[:tables]:
        for unseen in ("refuse", "suppress"):
            rows = ask(later, plan, unseen)
            assert in_whole_numbers(by_name(rows)) == in_whole_numbers(applied(later, plan, unseen))
            compared += len(rows)
    return compared


@pytest.mark.parametrize("method", METHODS)
def test_duckdb_publishes_what_apply_does(method: str, quick: bool) -> None:
    assert sum(agrees(in_duckdb, seed, method) for seed in range(2 if quick else 60)) > 100


@pytest.mark.parametrize("method", METHODS)
def test_postgres_publishes_what_apply_does(method: str, in_postgres: Ask, quick: bool) -> None:
    assert sum(agrees(in_postgres, seed, method) for seed in range(1 if quick else 30)) > 70


@pytest.mark.parametrize(
    "method",
    [one if one == "mondrian" else pytest.param(one, marks=pytest.mark.slow) for one in METHODS],
)
def test_spark_publishes_what_apply_does(method: str, in_spark: Ask, quick: bool) -> None:
    tables = 1 if quick else 3
    assert sum(agrees(in_spark, seed, method, tables) for seed in range(1 if quick else 4)) > 50


def plain(frame: pl.DataFrame, plan: Any, unseen: str) -> Counter[tuple[str | None, ...]]:
    rows: list[Row] = [
        {name: None if own is None else str(own) for name, own in row.items()}
        for row in frame.iter_rows(named=True)
    ]
    return published(plan, rows, [ILL, NOTE], 3, 2, ILL, suppress=unseen == "suppress")


@pytest.mark.parametrize("method", METHODS)
def test_strangers_are_left_out_or_nothing_comes_out(method: str, quick: bool) -> None:
    """With values and combinations that nobody had, each row is what a plain walk through the plan says."""
    some = 0
    for seed in range(1 if quick else 60):
        frame = people(seed)
        plan = learned(frame, method)
        mixed = pl.concat([frame, people(seed + 5000, 20)])
        shuffled = frame.with_columns(frame[TOWN].shuffle(seed), frame[DAY].shuffle(seed + 1))
        for later in (mixed, pl.concat([frame, shuffled])):
            for unseen in ("refuse", "suppress"):
                rows = by_name(in_duckdb(later, plan, unseen))
                assert rows == plain(later, plan, unseen)
                some += rows.total()
    assert some > 20


@pytest.mark.parametrize("method", METHODS)
def test_what_comes_out_is_recounted_by_receivers(method: str) -> None:
    frame = people(3)
    with duckdb.connect() as connection:
        connection.register("people", frame)
        made = connection.execute(sd.sql(learned(frame, method), SCHEMA, unseen="suppress"))
        names = [own[0] for own in made.description or ()]
        out = pl.DataFrame(made.fetchall(), schema=names, orient="row")
    asked = [sd.KAnonymity(3), sd.LDiversity(2)]
    assert sd.verify(out, asked, sd.Schema.from_roles(quasi=QUASI, sensitive=[ILL], other=[NOTE])).holds
    assert names == [*QUASI, ILL, NOTE]
    assert out.equals(out.sort(names, nulls_last=True))  # so that no order is left that somebody had


@pytest.mark.parametrize("method", METHODS)
def test_a_requirement_that_fails_lets_nothing_out(method: str) -> None:
    frame = people(4)
    plan = learned(frame, method)
    assert in_duckdb(frame[:1], plan, "suppress") == []
    one_ill = frame.with_columns(pl.lit("flu").alias(ILL))
    assert method == "minimal" or in_duckdb(one_ill, plan, "suppress") == []


def in_plain(text: str) -> str:
    """What a literal is, if it is hexadecimal digits."""
    try:
        return bytes.fromhex(text).decode()
    except ValueError:
        return text


@pytest.mark.parametrize("dialect", ["bigquery", "snowflake", "spark", "postgres", "duckdb"])
@pytest.mark.parametrize("method", METHODS)
def test_every_dialect_reads_what_was_meant(dialect: Any, method: str) -> None:
    """What is written in a dialect is read again by its parser, has all texts of the plan as they are, and gives the same rows."""
    frame = people(8)
    plan = learned(frame, method)
    read_again = sqlglot.parse(sd.sql(plan, SCHEMA, dialect=dialect), dialect=dialect)
    assert len(read_again) == 1
    assert isinstance(read_again[0], exp.Select)
    found = {in_plain(one.this) for one in read_again[0].find_all(exp.Literal) if one.is_string}
    assert {leaf for leaf in plan.trees[TOWN].leaves if leaf is not None} <= found  # type: ignore[attr-defined]
    assert {NUMBER, DAY, TOWN, ILL, NOTE} <= {one.name for one in read_again[0].find_all(exp.Identifier)}
    with duckdb.connect() as connection:
        connection.register("people", frame)
        if dialect in (
            "duckdb",
            "snowflake",
        ):  # others write what is run on them elsewhere, or what duckdb has no words for
            rows = connection.execute(read_again[0].sql("duckdb")).fetchall()
            assert by_name(rows) == by_name(in_duckdb(frame, plan, "refuse"))


def test_a_value_that_is_not_declared_lets_nothing_out() -> None:
    frame = pl.DataFrame({"age": [20, 20, 30, 30], "ill": ["a", "b", "a", "b"], "pay": [1, 2, 3, 4]})
    schema = sd.Schema.from_roles(
        quasi=["age"],
        sensitive=["ill"],
        other=["pay"],
        domains={"ill": ["a", "b"]},
        bounds={"pay": (0, 9)},
        missing="refuse",
    )
    plan = sd.generalize(sd.read(frame, schema), sd.KAnonymity(2), "mondrian").plan
    made = sd.sql(plan, schema, unseen="suppress", table="given")

    def out(given: pl.DataFrame) -> int:
        with duckdb.connect() as connection:
            connection.register("given", given)
            return len(connection.execute(made).fetchall())

    assert out(frame) == 4
    assert out(frame.with_columns(ill=pl.Series(["a", "b", "a", "HIV"]))) == 0
    assert out(frame.with_columns(pay=pl.Series([1, 2, 3, 10]))) == 0
    assert out(frame.with_columns(pay=pl.Series([1, 2, 3, None]))) == 0
    assert out(frame.with_columns(ill=pl.Series(["a", "b", "a", None]))) == 0


TYPES = [
    ("integer", pl.Series([1, 2, 3, 4]), ["BIGINT", "DOUBLE", "SMALLINT"]),
    ("number", pl.Series([0.1, 0.5, 1e-7, 3.0]), ["DOUBLE"]),
    (None, pl.Series([1, 2, 3, 4]), ["BIGINT", "VARCHAR", "UTINYINT"]),
    (None, pl.Series([True, False, True, False]), ["BOOLEAN"]),
    ("text", pl.Series(["007", "7", "7.0", " 7"]), ["VARCHAR"]),
    ("text", pl.Series(["01005", "01006", "02001", "02002"]), ["VARCHAR"]),  # all are codes, and no numbers
    ("text", pl.Series(["1.50", "2.50", "3.50", "4.50"]), ["VARCHAR"]),
    (None, pl.Series(["01005", "01006", "02001", "02002"]), ["VARCHAR"]),
    ("date", pl.Series([dt.date(2024, 1, i) for i in (1, 2, 3, 4)]), ["DATE", "TIMESTAMP"]),
    ("datetime", pl.Series([dt.datetime(2024, 1, 1, i, 0, 0, 5) for i in (1, 2, 3, 4)]), ["TIMESTAMP"]),
]


@pytest.mark.parametrize(("kind", "values", "stored"), TYPES, ids=lambda own: str(own)[:12])
def test_values_of_all_types_are_found(kind: Any, values: pl.Series, stored: list[str]) -> None:
    frame = pl.DataFrame({"v": values, "ill": ["a", "b", "c", "d"]})
    types = {"v": kind} if kind else {}
    schema = sd.Schema.from_roles(quasi=["v"], sensitive=["ill"], types=types)
    plan = sd.generalize(sd.read(frame, schema), sd.KAnonymity(2), "mondrian").plan
    expected = by_name(sd.apply(plan, sd.read(frame, schema)).frame().rows())
    for of in stored:
        with duckdb.connect() as connection:
            connection.register("given", frame)
            connection.execute(f"CREATE TABLE people AS SELECT CAST(v AS {of}) AS v, ill FROM given")
            assert by_name(connection.execute(sd.sql(plan, schema)).fetchall()) == expected


def test_codes_that_look_like_numbers_keep_their_hierarchy(tmp_path: Path) -> None:
    """Postcodes of a file, each with a zero in front: read as numbers, none of them would be in the hierarchy."""
    (tmp_path / "codes.csv").write_text("01005;01***;*\n01006;01***;*\n02001;02***;*\n02002;02***;*\n")
    frame = pl.DataFrame({"postcode": ["01005", "01006", "02001", "02002"] * 2, "ill": list("abcdbcda")})
    codes = sd.Hierarchy.from_csv(tmp_path / "codes.csv")
    for types in ({}, {"postcode": "text"}):
        schema = sd.Schema.from_roles(
            quasi=["postcode"],
            sensitive=["ill"],
            types=types,  # type: ignore[arg-type]
            hierarchies={"postcode": codes},
        )
        release = sd.generalize(sd.read(frame, schema), [sd.KAnonymity(3), sd.LDiversity(2)], "full-domain")
        with duckdb.connect() as connection:
            connection.register("people", frame)
            assert by_name(connection.execute(sd.sql(release.plan, schema)).fetchall()) == by_name(
                release.frame().rows()
            )


def test_texts_with_several_meanings_need_a_type() -> None:
    frame = pl.DataFrame({"v": [1.5, 2.5, 3.5, 4.5]})
    schema = sd.Schema.from_roles(quasi=["v"])
    plan = sd.generalize(sd.read(frame, schema), sd.KAnonymity(2), "mondrian").plan
    with pytest.raises(sd.InputError, match="Say in the schema what it is"):
        sd.sql(plan, schema)


def law_plan() -> sd.Plan:
    schema = sd.Schema.from_roles(sensitive=["ill"], domains={"ill": ["a", "b"]})
    return sd.Randomizer.from_schema(schema, sd.DifferentialPrivacy(1.0, per="record")).plan


def dealt_plan() -> sd.Plan:
    frame = pl.DataFrame({"a": [1] * 20 + [2] * 2, "b": ["x"] * 20 + ["y"] * 2})
    return sd.generalize(
        sd.read(frame, sd.Schema.from_roles(quasi=["a", "b"])), sd.KAnonymity(3), "minimal"
    ).plan


def views_plan() -> sd.Plan:
    frame = pl.DataFrame({"a": [1, 2] * 8, "b": ["x", "y"] * 8, "ill": ["f", "g", "h", "i"] * 4})
    schema = sd.Schema.from_roles(quasi=["a", "b"], sensitive=["ill"])
    return sd.generalize_views(
        sd.read(frame, schema), {"v": ["a"], "w": ["b"]}, sd.MultiViewDiversity(2)
    ).plan


def design() -> sd.Plan:
    schema = sd.Schema.from_roles(sensitive=["ill"], domains={"ill": ["a", "b"]})
    return sd.PViewDesign.of(schema, sd.DifferentialPrivacy(1.0))


def linked_plan() -> sd.Plan:
    frame = pl.DataFrame({"hid": [i // 2 for i in range(16)], "age": [1, 2] * 8})
    schema = sd.Schema.from_roles(household="hid", quasi=["age"], linked={"hid": True})
    return sd.generalize(sd.read(frame, schema), sd.KAnonymity(2), "minimal").plan


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (law_plan, "kind 'randomization'"),
        (dealt_plan, "deals records"),
        (views_plan, "kind 'views'"),
        (design, "kind 'p-view design'"),
        (linked_plan, "kind 'compositions'"),
    ],
)
def test_plans_that_cannot_be_a_statement_are_refused(make: Callable[[], sd.Plan], why: str) -> None:
    with pytest.raises(sd.ParameterError, match=why):
        sd.sql(make(), SCHEMA)


def test_what_a_statement_could_not_recount_is_refused() -> None:
    frame = pl.DataFrame({"age": [1, 1, 2, 2] * 4, "ill": ["a", "b"] * 8, "hid": range(16)})
    schema = sd.Schema.from_roles(quasi=["age"], sensitive=["ill"], other=["hid"])
    for asked in (
        sd.LDiversity(2, "entropy"),
        sd.TCloseness(0.9),
        sd.BetaLikeness(9),
        sd.DeltaDisclosure(9),
        sd.LDiversity(1, harmless=["a"]),
    ):
        plan = sd.generalize(sd.read(frame, schema), asked, "mondrian").plan
        with pytest.raises(sd.ParameterError, match="cannot be recounted in SQL"):
            sd.sql(plan, schema)
    plan = sd.generalize(sd.read(frame, schema), sd.KAnonymity(2), "mondrian").plan
    with pytest.raises(sd.ParameterError, match="protects all rows of one 'hid'"):
        sd.sql(plan, sd.Schema.from_roles(quasi=["age"], sensitive=["ill"], household="hid"))
    with pytest.raises(sd.ParameterError, match="missing_values"):
        sd.sql(plan, schema.model_copy(update={"missing_values": ("NA",)}))
    with pytest.raises(sd.InputError, match="quasi attributes 'age', and the schema has 'ill'"):
        sd.sql(plan, sd.Schema.from_roles(quasi=["ill"]))
    clipped = sd.Schema.from_roles(
        quasi=["age"], sensitive=["ill"], other=["hid"], bounds={"hid": (0, 5)}, outside={"hid": "clip"}
    )
    with pytest.raises(sd.ParameterError, match="are to be clipped"):
        sd.sql(plan, clipped)


def test_a_plan_that_lies_is_refused() -> None:
    """Its file may be anybody's: that a requirement holds can be counted, and that a label is true cannot."""
    frame = pl.DataFrame({"age": [20, 25, 31, 38] * 2})
    schema = sd.Schema.from_roles(
        quasi=["age"],
        types={"age": "integer"},
        hierarchies={"age": sd.Hierarchy.intervals(range(99), width=10)},
    )
    plan = sd.generalize(sd.read(frame, schema), sd.KAnonymity(3), "mondrian").plan
    assert isinstance(plan, CutPlan)
    tree = plan.trees["age"]
    labels = tuple(tuple("[50, 60)" if own == "[20, 30)" else own for own in level) for level in tree.labels)
    lying = replace(plan, trees={"age": replace(tree, labels=labels)})
    with pytest.raises(sd.InputError, match="not true by the schema"):
        sd.sql(lying, schema)


@pytest.mark.parametrize(
    "table",
    [
        "people; DROP TABLE x",
        "(SELECT 1)",
        "a JOIN b",
        "people AS p, q",
        "",
        "f(x)",
        "people WHERE 1=1",
        "people -- x\n, y",
    ],
)
def test_a_table_is_a_name_and_nothing_else(table: str) -> None:
    frame = people(1)
    with pytest.raises(sd.ParameterError, match="must be the name of a table"):
        sd.sql(learned(frame, "mondrian"), SCHEMA, table=table)


def test_names_that_a_database_does_not_tell_apart_are_refused() -> None:
    frame = pl.DataFrame({"age": [1, 1, 2, 2], "AGE ": ["a"] * 4, "Note": ["b"] * 4, "note": ["c"] * 4})
    schema = sd.Schema.from_roles(quasi=["age"], other=["AGE ", "Note", "note"])
    plan = sd.generalize(
        sd.read(frame.select("age"), sd.Schema.from_roles(quasi=["age"])), sd.KAnonymity(2), "mondrian"
    ).plan
    with pytest.raises(sd.RequirementError, match="looks like"):
        sd.sql(plan, schema)
    frame = pl.DataFrame({"a`b": [1, 1, 2, 2]})
    schema = sd.Schema.from_roles(quasi=["a`b"])
    plan = sd.generalize(sd.read(frame, schema), sd.KAnonymity(2), "mondrian").plan
    with pytest.raises(sd.InputError, match="has no column with the name"):
        sd.sql(plan, schema, dialect="bigquery")


def test_values_are_matched_as_plans_match_them() -> None:
    """30 and 30.0 are one number where the schema says number; a text is only itself."""
    assert matched(["30"], sd.read(pl.DataFrame({"v": [30.0]})), "v").tolist() == [0]
    frame = pl.DataFrame({"v": [30, 40] * 3})
    schema = sd.Schema.from_roles(quasi=["v"], types={"v": "number"})
    plan = sd.generalize(sd.read(frame, schema), sd.KAnonymity(3), "mondrian").plan
    with duckdb.connect() as connection:
        connection.execute(
            "CREATE TABLE people AS SELECT * FROM (VALUES (30.0), (40), (30), (40.00), (30), (40)) t(v)"
        )
        assert len(connection.execute(sd.sql(plan, schema)).fetchall()) == 6
