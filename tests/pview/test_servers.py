"""A p-view on a server: whoever asks there gets what the p-view itself answers."""

from __future__ import annotations

import datetime as dt
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import polars as pl
import psycopg
import pytest

from sudare.errors import InputError
from sudare.pview.boxes import Boxes
from sudare.pview.domain import Axis, Domain
from sudare.pview.pview import PView
from sudare.pview.servers import MARK, publish_pview
from tests.conftest import PASSWORD
from tests.pview.exact import Exact, blocks_pview

# One attribute of every kind, with names that are hard to write, and that the SQL itself uses.
AXES = (
    Axis("age", pl.Int64(), None, 18, 96, 78, missing=True),
    Axis("marital-status", pl.String(), ("single", 'it\'s "new" \\ $1', "", "既婚"), missing=True),
    Axis("pay", pl.Float64(), None, 0, 1000, 7, missing=True),
    Axis("weight", pl.Int32(), None, 30, 200, 9),
    Axis("born", pl.Date(), None, 0, 1000, 13, missing=True),
    Axis("seen", pl.Datetime("us"), None, 0, 1e6, 5),
    Axis("cell", pl.Float64(), (1.0, 2.5, -3.0)),
    Axis("d", pl.Boolean(), (False, True), missing=True),
    Axis('s"x', pl.Date(), (dt.date(2024, 1, 1), dt.date(2024, 3, 1))),
    Axis("s", pl.UInt8(), (1, 2, 3), missing=True),
)
QUESTIONS: list[dict[str, Any]] = [
    {},
    {"age": (20, 39)},
    {"age": (20, None), "d": True},
    {"marital-status": 'it\'s "new" \\ $1'},
    {"marital-status": "", "pay": (None, 321.5)},
    {"marital-status": "既婚", "d": False},
    {"pay": (100, 100)},
    {"pay": (1000, 1000)},
    {"pay": (0, 1000)},
    {"weight": (41, 55), "cell": (1, 3)},
    {"weight": (41.5, 55.5)},
    {"born": (dt.date(1970, 2, 3), dt.date(1971, 5, 6)), 's"x': (dt.date(2024, 2, 1), None)},
    {"seen": (dt.datetime(1970, 1, 2, 3, 4, 5), dt.datetime(1970, 1, 9))},
    {"s": (2, 3), "age": (18, 50), "pay": (50, 500)},
]


def points_pview(n: int) -> PView:
    rng, domain = np.random.default_rng(1), Domain(AXES)
    codes = rng.integers(0, domain.sizes, size=(n, len(AXES))).astype(np.int32)
    return PView(domain, Exact(Boxes.of(codes, codes, rng.normal(2, 1, n), domain.sizes)))


@pytest.fixture(scope="module", params=["points", "blocks"])
def pview(request: pytest.FixtureRequest) -> PView:
    return points_pview(500) if request.param == "points" else blocks_pview(AXES, 200, seed=5)


Ask = Callable[..., Any]


def parameters(question: dict[str, Any]) -> dict[str, Any]:
    named = {}
    for name, asked in question.items():
        if isinstance(asked, tuple):
            named |= {
                f"{name}_{end}": v for end, v in zip(("low", "high"), asked, strict=True) if v is not None
            }
        else:
            named[name] = asked
    return named


def call(name: str, question: dict[str, Any], mark: str) -> tuple[str, list[Any]]:
    given = parameters(question)
    arguments = ", ".join(f'"{key.replace(chr(34), chr(34) * 2)}" => {mark}' for key in given)
    return f'SELECT "{name}_count"({arguments})', list(given.values())


# -- Both ------------------------------------------------------------------------------------------


@pytest.fixture(params=["postgres", "duckdb"])
def server(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[str, Ask]:
    """A place to publish to, and how to ask there."""
    if request.param == "duckdb":
        path = tmp_path / "pviews.duckdb"

        def ask_duckdb(query: str, values: list[Any] | None = None) -> Any:
            with duckdb.connect(str(path)) as connection:
                return connection.execute(query, values or []).fetchall()

        return f"duckdb:{path}", ask_duckdb
    url = request.getfixturevalue("pviews_url")

    def ask_postgres(query: str, values: list[Any] | None = None) -> Any:
        with psycopg.connect(url) as connection:
            cursor = connection.execute(query, values)
            return cursor.fetchall() if cursor.description else []

    return url, ask_postgres


def test_the_function_counts_as_the_pview_does(pview: PView, server: tuple[str, Ask]) -> None:
    to, ask = server
    publish_pview(pview, to, "people")
    mark = "?" if to.startswith("duckdb") else "%s"
    for question in QUESTIONS:
        [[count]] = ask(*call("people", question, mark))
        assert count == pytest.approx(pview.where(question).value, rel=1e-9, abs=1e-9), question


def test_the_pview_is_weighted_rows(server: tuple[str, Ask]) -> None:
    to, ask = server
    pview = points_pview(500)
    names = publish_pview(pview, to, "people")
    assert names == {
        "view": "people", "rows": "people_points", "domain": "people_domain", "function": "people_count",
    }  # fmt: skip
    [[weight]] = ask(
        'SELECT sum(weight_) FROM people WHERE age BETWEEN 20 AND 39 AND "marital-status" IS NULL'
    )
    asked = 'SELECT COUNT(*) FROM view WHERE age BETWEEN 20 AND 39 AND "marital-status" IS NULL'
    assert weight == pytest.approx(pview.sql(asked)["count"][0])
    [[empty, lost]] = ask(
        "SELECT sum(weight_) FILTER (WHERE \"marital-status\" = ''), sum(weight_) FILTER (WHERE d IS NULL) FROM people"
    )
    assert empty == pytest.approx(pview.where({"marital-status": ""}).value)
    assert lost == pytest.approx(pview.where({"d": None}).value)
    # A bin has its lowest and its highest value; of whole numbers and days both belong to it.
    [row] = ask("SELECT min(weight_low), max(weight_high), min(born_low), max(born_high), min(pay_low), max(pay_high), max(seen_high) FROM people")  # fmt: skip
    last = dt.date(1970, 1, 1) + dt.timedelta(days=999)
    assert row == (30, 199, dt.date(1970, 1, 1), last, 0, 1000, dt.datetime(1970, 1, 12, 13, 46, 40))


def test_blocks_have_ends_and_counts(server: tuple[str, Ask]) -> None:
    to, ask = server
    pview = blocks_pview(AXES, 200, seed=5)
    assert publish_pview(pview, to, "people")["rows"] == "people_blocks"
    [[total, low, high, missing]] = ask(
        "SELECT sum(count), min(age_low), max(age_high), sum(CASE WHEN age_missing THEN 1 ELSE 0 END) FROM people"
    )
    boxes = pview.model.boxes
    assert boxes is not None
    assert total == pytest.approx(pview.total)
    assert (low, high, missing) == (18, 95, (boxes.high[:, 0] == 78).sum())


def test_the_domain_lists_every_cell(pview: PView, server: tuple[str, Ask]) -> None:
    to, ask = server
    publish_pview(pview, to, "people")
    cells = ask("SELECT attribute, label FROM people_domain ORDER BY position, cell")
    assert cells == [(axis.name, label) for axis in AXES for label in axis.labels()]


def test_only_what_is_ours_is_replaced_and_only_with_force(server: tuple[str, Ask]) -> None:
    to, ask = server
    first, second = points_pview(50), blocks_pview(AXES[:3], 20, seed=2)
    publish_pview(first, to, "people")
    with pytest.raises(InputError, match=r"'people.* is there already. Nothing was written.*--force"):
        publish_pview(second, to, "people")
    assert ask("SELECT people_count()")[0][0] == pytest.approx(first.total)
    publish_pview(second, to, "people", force=True)
    assert ask("SELECT people_count()")[0][0] == pytest.approx(second.total)
    with pytest.raises((psycopg.Error, duckdb.Error)):
        ask("SELECT * FROM people_points")  # the first p-view's


@pytest.mark.parametrize(
    "foreign", ["CREATE TABLE people (x INTEGER)", "CREATE TABLE people_domain AS SELECT 1 AS x", "CREATE VIEW people AS SELECT 1 AS x"],
)  # fmt: skip
def test_a_table_of_somebody_else_is_never_replaced(server: tuple[str, Ask], foreign: str) -> None:
    to, ask = server
    ask(foreign)
    with pytest.raises(InputError, match=r"was not published by Sudare, and force does not replace it"):
        publish_pview(points_pview(5), to, "people", force=True)
    assert len(ask("SELECT table_name FROM information_schema.tables WHERE table_name LIKE 'people%'")) == 1


@pytest.mark.parametrize("name", ["we\"ird -- na'me", "Two Words", "select"])
def test_names_are_quoted(server: tuple[str, Ask], name: str) -> None:
    to, ask = server
    pview = points_pview(50)
    publish_pview(pview, to, name, force=True)
    quoted = name.replace('"', '""')
    assert ask(f'SELECT "{quoted}_count"(age_low => 30)')[0][0] == pytest.approx(
        pview.count(age=(30, None)).value
    )


def test_a_failure_leaves_what_was_there(server: tuple[str, Ask], monkeypatch: pytest.MonkeyPatch) -> None:
    to, ask = server
    first = points_pview(50)
    publish_pview(first, to, "people")
    monkeypatch.setattr("sudare.pview.servers._mark", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        publish_pview(points_pview(10), to, "people", force=True)
    assert ask("SELECT people_count()")[0][0] == pytest.approx(first.total)


# -- What is refused -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("to", "message"),
    [
        (
            "mysql://me:geheim@host/db",
            r"mysql://host/db: a p-view cannot be published there. Give a postgresql:// URL",
        ),
        ("somewhere", "somewhere: a p-view cannot be published there"),
        ("postgresql://me:geheim@localhost:1/db", r"postgresql://localhost:1/db: PostgreSQL refused"),
        ("duckdb:/no/such/folder/x.duckdb", "DuckDB refused"),
    ],
)
def test_where_nothing_can_be_published(to: str, message: str) -> None:
    with pytest.raises(InputError, match=message) as refused:
        publish_pview(points_pview(5), to)
    assert "geheim" not in str(refused.value)


def test_a_new_file_does_not_stay_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sudare.pview.servers._mark", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        publish_pview(points_pview(5), str(tmp_path / "new.duckdb"))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("form", ["{}", "duckdb:{}", "duckdb:///{}"])
def test_how_a_duckdb_file_is_named(tmp_path: Path, form: str) -> None:
    path = tmp_path / "pviews.duckdb"
    publish_pview(points_pview(5), form.format(path))
    with duckdb.connect(str(path)) as connection:
        assert connection.execute(
            "SELECT comment FROM duckdb_views() WHERE view_name = 'view'"
        ).fetchall() == [(MARK,)]


def test_a_model_without_boxes(tmp_path: Path) -> None:
    pview = points_pview(5)
    without = type("Without", (Exact,), {"boxes": None, "kind": "product", "__init__": lambda self: None})()
    with pytest.raises(InputError, match="kind 'product' has no points or blocks to write to a database"):
        publish_pview(PView(pview.domain, without), str(tmp_path / "x.duckdb"))
    with pytest.raises(InputError, match="A p-view needs a name"):
        publish_pview(pview, str(tmp_path / "x.duckdb"), "")


def test_limits_of_postgresql(pviews_url: str) -> None:
    def ones(*names: str) -> PView:
        domain = Domain(tuple(Axis(name, pl.Int64(), (1, 2)) for name in names))
        codes = np.zeros((1, len(names)), np.int32)
        return PView(domain, Exact(Boxes.in_order(codes, codes, np.ones(1), domain.sizes)))

    with pytest.raises(InputError, match="longer than the 63 bytes") as refused:
        publish_pview(ones("é" * 30), pviews_url)
    assert PASSWORD not in str(refused.value)
    with pytest.raises(InputError, match="would have 102 parameters, and PostgreSQL takes 100"):
        publish_pview(ones(*(f"x{i}" for i in range(51))), pviews_url)
    publish_pview(ones(*(f"x{i}" for i in range(50))), pviews_url, "people_fifty", force=True)


def test_two_attributes_that_a_database_takes_for_one(tmp_path: Path) -> None:
    axes = [Axis(name, pl.Int64(), (1, 2)) for name in ("age", "AGE", "age_low", "weight")]
    codes = np.zeros((1, 4), np.int32)
    pview = PView(Domain(tuple(axes)), Exact(Boxes.in_order(codes, codes, np.ones(1), (2, 2, 2, 2))))
    publish_pview(pview, str(tmp_path / "x.duckdb"), "people")
    with duckdb.connect(str(tmp_path / "x.duckdb")) as connection:
        columns = [name for name, *_ in connection.execute("DESCRIBE people").fetchall()]
    assert columns == ["age", "AGE_", "age_low", "weight", "weight_"]


def test_a_large_pview_is_published_and_asked_quickly(server: tuple[str, Ask]) -> None:
    to, ask = server
    rng, axes = (
        np.random.default_rng(1),
        tuple(Axis(f"a{i}", pl.Int64(), None, 0, 100, 100) for i in range(15)),
    )
    codes = rng.integers(0, 100, size=(200_000, 15)).astype(np.uint8)
    pview = PView(Domain(axes), Exact(Boxes.in_order(codes, codes, rng.random(len(codes)), (100,) * 15)))
    start = time.perf_counter()
    publish_pview(pview, to, "people_large", force=True)
    published = time.perf_counter()
    [[count]] = ask("SELECT people_large_count(a0_low => 20, a0_high => 39, a7_low => 5, a9_high => 60)")
    print(
        f"{to[:8]} published in {published - start:.2f} s, asked in {time.perf_counter() - published:.3f} s"
    )
    assert count == pytest.approx(pview.count(a0=(20, 39), a7=(5, None), a9=(None, 60)).value)
