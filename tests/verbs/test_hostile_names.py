"""Columns of any name: what libraries take for patterns, words of SQL or names of their own is a name like others."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import sudare as sd
from sudare.verbs.draft import draft
from tests.conformance import people

COLUMNS = ["name", "age", "town", "illness", "note"]
NAMES = {
    "half patterns": ["^.*", "a$", "a*", "**", "^^"],
    "signs": ['"', "'", "a.b", "--; DROP TABLE", "{x}"],
    "our own": ["row", "weight", "value", "count", "block"],
    "libraries'": ["literal", "len", "rowid", "all", "0"],
}
QUICK = ("our own",)
TOWNS = {"Ayr": "north", "Bath": "south", "Cork": "west", "Deal": "south"}
ENGINES: list[Any] = ["memory", "duckdb"]


def table_of(names: list[str], engine: Any) -> sd.Table:
    """The same table as ever, under other names."""
    _, age, town, illness, note = names
    schema = sd.Schema.from_roles(
        identifier=names[:1],
        quasi=[age, town],
        sensitive=[illness],
        other=[note],
        bounds={age: (0, 99)},
        domains={town: list(TOWNS), illness: ["flu", "HIV", "cancer"], note: [f"note {i}" for i in range(7)]},
        types={age: "integer"},
        hierarchies={
            age: sd.Hierarchy.intervals(range(100), width=10, fanout=2),
            town: sd.Hierarchy.groups(TOWNS),
        },
    )
    frame = people()
    frame.columns = names
    return sd.read(frame, schema, engine=engine)


def released(release: sd.Release, folder: Path) -> list[pl.DataFrame]:
    """What a release has in memory, in its Parquet files, and in its CSV files."""
    written = release.write(folder)
    assert sd.verify(written).holds
    assert release.report
    frames = list(release.frames().values())
    files = [pl.read_parquet(path) for path in sorted(written.glob("hand-over/*.parquet"))]
    texts = [pl.read_csv(path, infer_schema=False) for path in sorted(written.glob("hand-over/*.csv"))]
    return [*frames, *files, *texts]


def generalized(table: sd.Table, folder: Path) -> list[pl.DataFrame]:
    assert str(sd.assess(table, l=[2]))
    release = sd.generalize(table, [sd.KAnonymity(3), sd.LDiversity(2)], suppress=0.1)
    assert str(sd.attack(release.frame(), table.schema, kind="homogeneity"))
    return released(release, folder)


def cut(table: sd.Table, folder: Path) -> list[pl.DataFrame]:
    release = sd.generalize(table, sd.TCloseness(0.4), "mondrian")
    sd.apply(release.plan, table).write(folder / "applied")
    plan = sd.Plan.open(folder / "applied")
    return [*released(release, folder / "out"), sd.apply(plan, table).frame()]


def viewed(table: sd.Table, folder: Path) -> list[pl.DataFrame]:
    age, town = table.names("quasi")
    views = {"ages": [age], "towns": [town]}
    return released(sd.generalize_views(table, views, sd.MultiViewDiversity(2)), folder)


def randomized(table: sd.Table, folder: Path) -> list[pl.DataFrame]:
    (_, town), (illness,) = table.names("quasi"), table.names("sensitive")
    joint = {"^.*$": [town, illness]}
    apart = sd.randomize(table, sd.PkAnonymity(4), unsafe_seed=1)
    together = sd.randomize(table, sd.PkAnonymity(4), unsafe_seed=1, joint=joint)
    estimates = [sd.reconstruct(apart, illness).frame(), sd.reconstruct(apart, [town, illness]).frame()]
    return [*released(apart, folder / "apart"), *released(together, folder / "together"), *estimates]


def materialized(table: sd.Table, folder: Path) -> list[pl.DataFrame]:
    frames = []
    for method in ("pairs", "dp-mondrian"):
        pview = sd.materialize(table, sd.DifferentialPrivacy(2.0), method, unsafe_seed=1)
        opened = sd.PView.open(pview.write(folder / method))
        frames += [pview.model.frame(), opened.model.frame()]
    return frames


VERBS: dict[str, Callable[[sd.Table, Path], list[pl.DataFrame]]] = {
    "minimal": generalized,
    "mondrian": cut,
    "views": viewed,
    "randomize": randomized,
    "materialize": materialized,
}


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[list[tuple[Any, ...]]]]:
    table = table_of(COLUMNS, "memory")
    return {
        name: [frame.rows() for frame in verb(table, tmp_path_factory.mktemp("expected") / name)]
        for name, verb in VERBS.items()
    }


@pytest.mark.usefixtures("reports")
@pytest.mark.parametrize("engine", ["memory", pytest.param("duckdb", marks=pytest.mark.slow)])
@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize(
    "names",
    [
        pytest.param(names, id=id_, marks=[] if id_ in QUICK else [pytest.mark.slow])
        for id_, names in NAMES.items()
    ],
)
def test_names_change_nothing(
    names: list[str],
    verb: str,
    engine: str,
    tmp_path: Path,
    expected: dict[str, list[list[tuple[Any, ...]]]],
) -> None:
    made = VERBS[verb](table_of(names, engine), tmp_path / "out")
    if (verb, engine) == ("randomize", "duckdb"):  # rows are drawn in another order
        assert [len(rows) for rows in map(pl.DataFrame.rows, made)] == [*map(len, expected[verb])]
        return
    assert [frame.rows() for frame in made] == expected[verb]


@pytest.mark.parametrize(
    ("names", "engine"),
    [
        pytest.param(
            names,
            engine,
            id=f"{id_}-{engine}",
            marks=[] if engine == "memory" or id_ in QUICK else [pytest.mark.slow],
        )
        for engine in ENGINES
        for id_, names in NAMES.items()
    ],
)
def test_names_are_read_from_files(names: list[str], engine: Any, tmp_path: Path) -> None:
    frame = people()
    frame.columns = names
    for ending, write in {"csv": frame.write_csv, "parquet": frame.write_parquet}.items():
        path = tmp_path / f"people.{ending}"
        write(path)
        table = sd.read(path, engine=engine)
        assert table.columns == tuple(names)
        assert table.frame().sort(pl.nth(0)).rows() == people().sort("name").rows()
        roles = tmp_path / "sudare.toml"
        roles.write_text(draft(path).text)
        assert set(sd.read(path, roles, engine=engine).schema.attributes) == set(names)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", ["^a$", "^.*$", "*", "^$"])
def test_a_pattern_is_no_name(name: str, engine: Any, tmp_path: Path) -> None:
    frame = people().rename({"town": name})
    frame.write_csv(tmp_path / "people.csv")
    frame.write_parquet(tmp_path / "people.parquet")
    for source in (frame, frame.to_pandas(), tmp_path / "people.csv", tmp_path / "people.parquet"):
        with pytest.raises(sd.InputError, match="no column can be called"):
            sd.read(source, engine=engine)
    with pytest.raises(sd.InputError, match="attributes cannot be called"):
        sd.Schema.from_roles(quasi=[name])
    with pytest.raises(sd.RequirementError, match="which the schema does not mention"):
        sd.verify(
            frame, sd.KAnonymity(2), sd.Schema.from_roles(quasi=["age"], other=["name", "note", "illness"])
        )


def test_columns_that_duckdb_takes_for_one_another_are_refused(tmp_path: Path) -> None:
    frame = people().rename({"town": "AGE"})
    frame.write_csv(tmp_path / "people.csv")
    frame.write_parquet(tmp_path / "people.parquet")
    for source in (frame, tmp_path / "people.csv", tmp_path / "people.parquet"):
        with pytest.raises(sd.InputError, match="does not tell the columns 'age', 'AGE' apart"):
            sd.read(source, engine="duckdb")
        assert sd.read(source).columns == tuple(frame.columns)


@pytest.mark.parametrize(
    ("lost", "ending"),
    [
        pytest.param(lost, ending, marks=[] if (at + place) % 3 == 0 else [pytest.mark.slow])
        for at, lost in enumerate([None, "", " \t", "?", " ? "])
        for place, ending in enumerate(["csv", "parquet", "jsonl"])
    ],
)
def test_columns_without_a_value_are_refused_alike(lost: str | None, ending: str, tmp_path: Path) -> None:
    frame = people(5).with_columns(note=pl.Series([lost, None, lost, lost, None], dtype=pl.String))
    path = tmp_path / f"people.{ending}"
    {"csv": frame.write_csv, "parquet": frame.write_parquet, "jsonl": frame.write_ndjson}[ending](path)
    roles = {"identifier": ["name"], "quasi": ["age", "town"], "sensitive": ["illness"], "other": ["note"]}
    said = []
    for engine in ENGINES:
        for missing in (None, ["", "?"]):
            try:
                sd.read(path, sd.Schema.from_roles(**roles, missing_values=missing), engine=engine)  # type: ignore[arg-type]
                said.append("read")
            except sd.InputError as error:
                said.append(str(error))
    assert said[:2] == said[2:]
    assert "every value is missing" in said[1]
