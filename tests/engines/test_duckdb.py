"""Rows that DuckDB holds: the same tables, releases and faults as in memory."""

from __future__ import annotations

import datetime as dt
import stat
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import polars as pl
import pytest

import sudare as sd
from sudare.engines.duckdb import DuckDB
from sudare.engines.relational import Relational
from tests.plans.worlds import World

SEEDS = [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 8))]


def both(source: Any, schema: sd.Schema | None) -> tuple[sd.Table, sd.Table]:
    return sd.read(source, schema), sd.read(source, schema, engine="duckdb")


def assert_same_release(one: sd.Release, other: sd.Release) -> None:
    assert list(one.frames()) == list(other.frames())
    for name, frame in one.frames().items():
        assert frame.schema == other.frames()[name].schema
        assert frame.equals(other.frames()[name], null_equal=True)
    assert one.certificate.measured == other.certificate.measured
    assert one.certificate.utility == other.certificate.utility
    assert one.certificate.attacks == other.certificate.attacks
    assert one.holder == other.holder


def outcome(make: Any, table: sd.Table) -> sd.Release | str:
    try:
        return make(table)
    except sd.SudareError as error:
        return str(error)


MAKERS: dict[str, Any] = {
    "minimal": lambda t: sd.generalize(t, [sd.KAnonymity(3), sd.LDiversity(2)]),
    "mondrian": lambda t: sd.generalize(t, sd.KAnonymity(3), "mondrian"),
    "suppressing": lambda t: sd.generalize(t, sd.KAnonymity(4), suppress=0.2),
    "full-domain": lambda t: sd.generalize(t, sd.KAnonymity(3), "full-domain", suppress=0.2),
    "closeness": lambda t: sd.generalize(t, sd.TCloseness(0.4), "mondrian"),
}


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
@pytest.mark.parametrize("seed", SEEDS)
def test_random_tables_give_the_same_release(seed: int, make: Any) -> None:
    world = World.random(Random(seed))
    memory, duckdb = both(world.frame(), world.schema())
    assert memory.digest() == duckdb.digest()
    one, other = outcome(make, memory), outcome(make, duckdb)
    if isinstance(one, str):
        assert one == other
        return
    assert isinstance(other, sd.Release)
    assert_same_release(one, other)


@pytest.mark.parametrize("ending", ["csv", "parquet", "jsonl"])
@pytest.mark.parametrize("seed", SEEDS)
def test_files_are_the_same_table(seed: int, ending: str, tmp_path: Path) -> None:
    world = World.random(Random(seed))
    path = tmp_path / f"people.{ending}"
    frame = world.frame()
    {"csv": frame.write_csv, "parquet": frame.write_parquet, "jsonl": frame.write_ndjson}[ending](path)
    memory, duckdb = both(path, world.schema())
    assert memory.digest() == duckdb.digest()
    for name in memory.columns:
        assert memory[name].values.equals(duckdb[name].values)
        assert memory[name].values.dtype == duckdb[name].values.dtype
        assert memory[name].missing == duckdb[name].missing
    names = list(memory.columns)
    one, other = memory.counts(names), duckdb.counts(names)
    assert np.array_equal(one.codes, other.codes)
    assert np.array_equal(one.weights, other.weights)
    assert one.sizes == other.sizes


SPECIAL = pl.DataFrame(
    {
        "float": [0.0, -0.0, float("nan"), None, 0.1, 1e300],
        "text": ['a"b', "it's", "", None, "ü\n2", "--; DROP"],
        "day": [
            dt.date(1999, 1, 1),
            None,
            dt.date(1, 1, 1),
            dt.date(9999, 12, 31),
            None,
            dt.date(2000, 2, 29),
        ],
        "time": [dt.datetime(2020, 1, 1, 12, 0, 0, 5), None, dt.datetime(1970, 1, 1), None, None, None],
        "flag": [True, False, None, True, True, False],
        "large": [2**63 - 1, -(2**63), 0, None, 1, 1],
        "enum": pl.Series(["x", "y", "x", None, "y", "x"], dtype=pl.Enum(["y", "x", "z"])),
        "small": pl.Series([0.1, 0.2, None, -0.0, 0.0, 0.1], dtype=pl.Float32),
    }
)


@pytest.mark.parametrize("kind", ["frame", "parquet"])
def test_special_values_are_told_apart_as_in_memory(kind: str, tmp_path: Path) -> None:
    path = tmp_path / 'odd "name".parquet'
    SPECIAL.write_parquet(path)
    memory, duckdb = both(SPECIAL if kind == "frame" else path, None)
    assert memory.digest() == duckdb.digest()
    for name in memory.columns:
        assert memory[name].values.equals(duckdb[name].values)  # NaN is itself here
        if memory[name].values.dtype.is_float():  # and -0.0 is not 0.0
            signs = [np.signbit(table[name].values.to_numpy()).tolist() for table in (memory, duckdb)]
            assert signs[0] == signs[1]
        assert memory[name].values.dtype == duckdb[name].values.dtype
        assert np.array_equal(memory.counts([name]).weights, duckdb.counts([name]).weights)


def test_faults_are_told_where_they_are(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text("age,town,ill\n30,Ayr,flu\nx,Bath,cold\n40,Nowhere,flu\n200,Ayr,\n")
    schema = sd.Schema.from_roles(
        quasi=["age", "town"], sensitive=["ill"], types={"age": "integer"}, bounds={"age": (0, 120)},
        domains={"town": ["Ayr", "Bath"]},
    )  # fmt: skip
    with pytest.raises(sd.InputError) as memory:
        sd.read(path, schema)
    with pytest.raises(sd.InputError) as duckdb:
        sd.read(path, schema, engine="duckdb")
    assert str(duckdb.value) == str(memory.value)


def test_several_files_are_one_table(tmp_path: Path) -> None:
    people = sd.datasets.health_survey(300).select("age", "sex", "diagnosis")
    for part in range(3):
        people[100 * part : 100 * (part + 1)].write_parquet(tmp_path / f"people-{part}.parquet")
    schema = sd.Schema.from_roles(quasi=["age", "sex"], sensitive=["diagnosis"])
    table = sd.read(str(tmp_path / "people-*.parquet"), schema, engine="duckdb", memory="500MB")
    assert len(table) == 300
    assert table.digest() == sd.read(people, schema).digest()
    with pytest.raises(sd.InputError, match="there is no such file"):
        sd.read(str(tmp_path / "nobody-*.parquet"), schema, engine="duckdb")


def test_a_law_is_the_same_given_the_same_seed() -> None:
    schema = sd.Schema.from_roles(
        sensitive=["diagnosis"],
        quasi=["sex"],
        domains={
            name: sorted(set(sd.datasets.health_survey(500)[name].drop_nulls()))
            for name in ("sex", "diagnosis")
        },
    )
    people = sd.datasets.health_survey(500).select("sex", "diagnosis")
    memory, duckdb = both(people, schema)
    one, other = (
        sd.randomize(t, sd.PkAnonymity(5), how={"sex": "optimal"}, unsafe_seed=3) for t in (memory, duckdb)
    )
    assert one.handed_over.law == other.handed_over.law
    assert other.frame().height == 500
    views = [sd.materialize(t, sd.DifferentialPrivacy(1.0), unsafe_seed=3) for t in (memory, duckdb)]
    assert views[0].model.frame().equals(views[1].model.frame())


def test_what_is_on_disk_is_the_owners_alone_and_goes_with_the_table() -> None:
    table = sd.read(SPECIAL, engine="duckdb")
    rows = table.rows
    assert isinstance(rows, Relational)
    database = rows._database
    assert isinstance(database, DuckDB)
    folder = Path(database.frame("SELECT current_setting('temp_directory')").item()).parent
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    del table, rows, database
    assert not folder.exists()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"engine": "oracle"}, "'engine' parameter of read"),
        ({"engine": "duckdb", "memory": "much"}, "'memory' must be"),
    ],
)
def test_wrong_parameters_are_refused(given: dict[str, str], said: str) -> None:
    with pytest.raises(sd.ParameterError, match=said):
        sd.read(SPECIAL, **given)  # type: ignore[arg-type]


def test_types_that_it_does_not_count_are_refused() -> None:
    frame = pl.DataFrame({"gap": [dt.timedelta(days=1)]})
    with pytest.raises(sd.InputError, match="does not count"):
        sd.read(frame, engine="duckdb")


def test_columns_may_have_the_names_that_queries_use() -> None:
    names = ["k0", "key", "code", "weight", "c0", "n0", "v1", "listed", "number", "rowid2", "base", "select"]
    frame = pl.DataFrame(
        {name: [f"{name} {i % (2 + at % 3)}" for i in range(30)] for at, name in enumerate(names)}
    )
    schema = sd.Schema.from_roles(quasi=names[:6], sensitive=names[6:7], other=names[7:])
    memory, duckdb = both(frame, schema)
    assert memory.digest() == duckdb.digest()
    for suppress in (0.0, 0.3):
        one, other = (sd.generalize(t, sd.KAnonymity(4), suppress=suppress) for t in (memory, duckdb))
        assert_same_release(one, other)


def test_duckdb_itself_tells_what_files_from_elsewhere_are(tmp_path: Path) -> None:
    SPECIAL.write_parquet(tmp_path / "people.parquet")
    table = sd.read((tmp_path / "people.parquet").as_uri(), engine="duckdb")
    assert table.digest() == sd.read(SPECIAL).digest()
    assert table.name == (tmp_path / "people.parquet").as_uri()


def said(error: BaseException | None) -> list[str]:
    """What an error says, and every other one that it came from."""
    return [] if error is None else [str(error), *said(error.__cause__ or error.__context__)]


def test_what_a_url_keeps_secret_is_not_shown() -> None:
    url = "https://ann:geheim@127.0.0.1:1/people.parquet?signature=geheim"  # where nobody listens
    with pytest.raises(
        sd.InputError, match=r"^https://127.0.0.1:1/people.parquet: DuckDB: .*INSTALL httpfs"
    ) as error:
        sd.read(url, engine="duckdb")
    assert all("geheim" not in words for words in said(error.value))
    assert "ann" not in str(error.value).replace("cannot", "")


SECRET_URL = "s3://ann:geheim@bucket/people.parquet?key=geheim"


@pytest.mark.parametrize(
    "query",
    [
        f"SELECT error('{SECRET_URL} is gone') AS x",
        # It fails once a batch was handed over: what Arrow raises then is no error of DuckDB's.
        f"SELECT CASE WHEN i < 1500000 THEN 'x' ELSE error('{SECRET_URL} is gone') END AS x FROM range(2000000) AS r(i)",
    ],
)
def test_what_fails_in_the_middle_shows_no_secret_and_hides_none_behind_it(query: str) -> None:
    with pytest.raises(sd.InputError, match=r"s3://bucket/people\.parquet is gone") as raised:
        for _ in DuckDB().batches(query):
            pass
    assert all("geheim" not in words for words in said(raised.value))


def test_elsewhere_needs_an_engine_that_reads_there() -> None:
    with pytest.raises(sd.InputError, match='Parquet files elsewhere are read with engine="duckdb"'):
        sd.read("s3://bucket/people.parquet", engine="memory")


def test_published_rows_are_counted_by_no_column_too() -> None:
    people = sd.datasets.health_survey(50).select("age", "diagnosis")
    schema = sd.Schema.from_roles(quasi=["age"], sensitive=["diagnosis"])
    for table in both(people, schema):
        rows = sd.generalize(table, sd.KAnonymity(5)).handed_over.frames["data"]
        assert rows.counted([]).height == 50


def test_identifiers_stay_where_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    people = pl.DataFrame(
        {"name": [f"person {i}" for i in range(500)], "age": [i % 9 for i in range(498)] + [50, 60]}
    )
    schema = sd.Schema.from_roles(identifier=["name"], quasi=["age"])
    heights, really = [], DuckDB.frame

    def frame(self: DuckDB, query: str) -> pl.DataFrame:
        answer = really(self, query)
        heights.append(answer.height)
        return answer

    monkeypatch.setattr(DuckDB, "frame", frame)
    table, method = sd.read(people, schema, engine="duckdb"), sd.methods.FullDomain(suppress=0.1)
    release = sd.generalize(table, sd.KAnonymity(5), method)
    assert release.frame().height == 498  # two were left out
    assert 0 < max(heights) <= people["age"].n_unique()
