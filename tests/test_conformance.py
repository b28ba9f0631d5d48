"""What every verb, with every method and on every engine, must do alike."""

from __future__ import annotations

import stat
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import sudare as sd
from tests.conformance import people

Made = sd.Release | sd.PView
Make = Callable[[sd.Table], Made]

PUBLISHED = ["age", "town", "illness", "note"]
TOWNS = {"Ayr": "north", "Bath": "south", "Cork": "west", "Deal": "south"}
SCHEMA = sd.Schema.from_roles(
    identifier=["name"],
    quasi=["age", "town"],
    sensitive=["illness"],
    other=["note"],
    bounds={"age": (0, 99)},
    domains={
        "town": list(TOWNS),
        "illness": ["flu", "HIV", "cancer"],
        "note": [f"note {i}" for i in range(7)],
    },
    types={"age": "integer"},
    hierarchies={
        "age": sd.Hierarchy.intervals(range(100), width=10, fanout=2),
        "town": sd.Hierarchy.groups(TOWNS),
    },
)
"""It declares all that any verb needs."""

BLOCKS = [sd.KAnonymity(3), sd.LDiversity(2)]
SHARES = [sd.KAnonymity(3), sd.BetaLikeness(2), sd.DeltaDisclosure(2)]
VIEWS = {"ages": ["age"], "towns": ["town"]}


def generalizing(method: Any, asked: Any = BLOCKS) -> Make:
    return lambda table: sd.generalize(table, asked, method)


def viewing(method: Any) -> Make:
    return lambda table: sd.generalize_views(table, VIEWS, sd.MultiViewDiversity(2), method)


def randomizing(**how: Any) -> Make:
    return lambda table: sd.randomize(table, sd.PkAnonymity(4), unsafe_seed=1, **how)


def materializing(method: Any, delta: float = 0.0) -> Make:
    return lambda table: sd.materialize(table, sd.DifferentialPrivacy(2.0, delta), method, unsafe_seed=1)


def applying(make: Make) -> Make:
    """Learn from the table, and apply what was learned to it."""

    def make_again(table: sd.Table) -> Made:
        release = make(table)
        assert isinstance(release, sd.Release)
        return sd.apply(release.plan, table)

    return make_again


DETERMINISTIC: dict[str, Make] = {
    "generalize minimal": generalizing("minimal"),
    "generalize minimal, some left out": generalizing(sd.methods.Minimal(suppress=0.1)),
    "generalize mondrian": generalizing("mondrian"),
    "generalize mondrian, strict": generalizing(sd.methods.Mondrian(strict=True)),
    "generalize full-domain": generalizing("full-domain"),
    "generalize mdav": generalizing("mdav"),
    "generalize minimal, shares": generalizing("minimal", SHARES),
    "generalize full-domain, shares": generalizing("full-domain", SHARES),
    "generalize full-domain, some left out": generalizing(sd.methods.FullDomain(suppress=0.1)),
    "generalize blind": generalizing(sd.methods.Blind(suppress=0.9)),
    "publish": lambda table: sd.publish(table, sd.Policy(l=2, k=3)),
    "generalize_views simultaneous": viewing("simultaneous"),
    "generalize_views sequential": viewing("sequential"),
    "generalize_views all-attributes": viewing("all-attributes"),
    "apply tuples": applying(generalizing("minimal")),
    "apply cuts": applying(generalizing("mondrian")),
    "apply levels": applying(generalizing("full-domain")),
    "apply views": applying(viewing("simultaneous")),
}
RANDOM: dict[str, Make] = {
    "randomize": randomizing(),
    "randomize optimal": randomizing(how={"town": "optimal"}),
    "randomize bits": randomizing(how={"age": "bits"}),
    "apply law": applying(randomizing()),
}
PVIEWS: dict[str, Make] = {
    "materialize pairs": materializing("pairs"),
    "materialize pairs, Gaussian": materializing("pairs", 1e-6),
    "materialize dp-mondrian": materializing(sd.methods.DPMondrian()),
    "materialize independent": materializing("independent"),
    "materialize identity": materializing("identity"),
    "materialize dawa": materializing("dawa"),
    "materialize privbayes": materializing("privbayes"),
    "materialize hdmm": materializing("hdmm"),
}
EVERY = DETERMINISTIC | RANDOM | PVIEWS

ENGINES: dict[str, Callable[[Any], sd.Table]] = {
    "memory": lambda source: sd.read(source, SCHEMA),
    "duckdb": lambda source: sd.read(source, SCHEMA, engine="duckdb"),
}
"""How each engine reads a table."""
ON_OTHERS = [
    "randomize",
    "generalize_views simultaneous",
    "apply cuts",
    "materialize pairs",
]
"""What is tried on other engines than memory in the quick run: one of each verb that others are made of. All of it is tried
in the long one."""


@pytest.fixture
def read(request: pytest.FixtureRequest) -> Callable[[Any], sd.Table]:
    if request.param == "spark":
        session = request.getfixturevalue("spark")
        return lambda source: sd.read(source, SCHEMA, engine=session)
    return ENGINES[request.param]


def each(makers: dict[str, Make]) -> pytest.MarkDecorator:
    """Try all makers on all engines; in the quick run all in memory, and a few on DuckDB."""
    return _cases(makers, [*ENGINES, "spark"], on_duckdb=ON_OTHERS)


def each_in_memory(makers: dict[str, Make]) -> pytest.MarkDecorator:
    """Try what hardly depends on who holds the rows: in memory, and on DuckDB in the long run."""
    return _cases(makers, [*ENGINES], on_duckdb=[])


def _cases(makers: dict[str, Make], engines: list[str], on_duckdb: list[str]) -> pytest.MarkDecorator:
    quick = {"memory": list(makers), "duckdb": on_duckdb, "spark": []}
    cases = [
        pytest.param(
            make, engine, id=f"{engine}-{name}", marks=[] if name in quick[engine] else [pytest.mark.slow]
        )
        for engine in engines
        for name, make in makers.items()
    ]
    return pytest.mark.parametrize(("make", "read"), cases, indirect=["read"])


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Make, Any], tuple[Made, Path]]:
    """Makes and writes what several tests only look at, once."""

    @cache
    def made(make: Make, read: Any) -> tuple[Made, Path]:
        release = make(read(people()))
        return release, release.write(tmp_path_factory.mktemp("made") / "out")

    return made


def frames(made: Made) -> dict[str, pl.DataFrame]:
    return made.frames() if isinstance(made, sd.Release) else {"model": made.model.frame()}


@pytest.mark.usefixtures("reports")
@each(EVERY)
def test_what_is_written_verifies_itself(make: Make, read: Any, written: Any) -> None:
    _, folder = written(make, read)
    assert sd.verify(folder).holds
    assert sorted(path.name for path in folder.iterdir()) == ["hand-over", "keep"]
    assert stat.S_IMODE((folder / "keep").stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in (folder / "keep").iterdir()} == {0o600}
    assert {"holder.json", "plan.json", "report.html"} <= {path.name for path in (folder / "keep").iterdir()}


@pytest.mark.parametrize(
    "make",
    [EVERY[ON_OTHERS[0]], *(pytest.param(EVERY[name], marks=pytest.mark.slow) for name in ON_OTHERS[1:])],
    ids=ON_OTHERS,
)
def test_spark_hands_over_the_same_files(make: Make, spark: Any, tmp_path: Path) -> None:
    handed_over = {}
    for name, engine in {"memory": "memory", "spark": spark}.items():
        make(sd.read(people(), SCHEMA, engine=engine)).write(tmp_path / name)
        files = (tmp_path / name / "hand-over").iterdir()
        handed_over[name] = {file.name: file.read_bytes() for file in files}
    assert sd.verify(tmp_path / "spark").holds
    memory, of_spark = handed_over.values()
    assert memory.keys() == of_spark.keys()
    drawn = make in RANDOM.values()  # rows are drawn in another order; the law is the same
    same = [name for name in memory if name == "law.json" or (name.endswith(".parquet") and not drawn)]
    assert same
    for name in same:
        assert memory[name] == of_spark[name]


@each_in_memory(EVERY)
def test_there_is_a_certificate_to_hand_over_and_a_record_to_keep(
    make: Make, read: Any, written: Any
) -> None:
    made, _ = written(make, read)
    assert made.certificate.measured
    assert made.certificate.requirements
    assert made.holder["records"]["read"] == 60


@each_in_memory(EVERY)
def test_identifiers_are_nowhere_in_what_is_handed_over(make: Make, read: Any, written: Any) -> None:
    made, folder = written(make, read)
    for frame in frames(made).values():
        assert "name" not in frame.columns
    for file in (folder / "hand-over").iterdir():
        assert b"person 17" not in file.read_bytes()


@each_in_memory(EVERY)
def test_an_existing_folder_is_refused_and_left_alone(
    make: Make, read: Any, written: Any, tmp_path: Path
) -> None:
    made, _ = written(make, read)
    (tmp_path / "mine").write_text("keep me")
    with pytest.raises(sd.InputError, match="exists already"):
        made.write(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]


@each_in_memory(EVERY)
def test_the_plan_can_be_opened_again(make: Make, read: Any, written: Any) -> None:
    _, folder = written(make, read)
    plan = sd.Plan.open(folder)
    assert sd.apply(plan, read(people()), unseen="suppress").certificate.requirements


@_cases(DETERMINISTIC, [*ENGINES, "spark"], on_duckdb=["apply cuts"])
def test_the_order_of_rows_and_their_source_change_nothing(make: Make, read: Any, tmp_path: Path) -> None:
    plain = people()
    shuffled = plain.to_pandas().sample(frac=1, random_state=1)
    plain.write_parquet(tmp_path / "people.parquet")
    first = make(read(plain))
    for source in (shuffled, plain.select(reversed(plain.columns)), tmp_path / "people.parquet"):
        again = make(read(source))
        assert again.certificate.utility == first.certificate.utility
        for name, frame in frames(first).items():
            columns = frame.columns
            other = frames(again)[name].select(columns)
            assert other.sort(columns, nulls_last=True).equals(frame.sort(columns, nulls_last=True))


@each(DETERMINISTIC | PVIEWS | {"randomize bins": randomizing(how={"age": "bins"})})
def test_missing_values_are_no_obstacle(make: Make, read: Any) -> None:
    some = people().with_columns(
        age=pl.when(pl.int_range(60) % 5 == 0).then(None).otherwise(pl.col("age")),
        illness=pl.when(pl.int_range(60) % 6 == 0).then(None).otherwise(pl.col("illness")),
    )
    assert make(read(some)).certificate.measured


@each_in_memory(EVERY)
def test_the_callers_frame_is_left_as_it_was(make: Make, read: Any) -> None:
    source, copy = people().to_pandas(), people().to_pandas()
    make(read(source))
    pd.testing.assert_frame_equal(source, copy)


@each(DETERMINISTIC | RANDOM)
def test_only_what_may_be_published_is(make: Make, read: Any, written: Any) -> None:
    release, _ = written(make, read)
    assert isinstance(release, sd.Release)
    for name, frame in release.frames().items():
        allowed = PUBLISHED if name == "data" else [*VIEWS[name], "illness"]
        assert [column for column in PUBLISHED if column in frame.columns] == frame.columns
        assert set(frame.columns) <= set(allowed)


VERBS: dict[str, Callable[[Any], Any]] = {
    "generalize": lambda table: sd.generalize(table, sd.KAnonymity(2)),
    "generalize_views": lambda table: sd.generalize_views(table, VIEWS, sd.MultiViewDiversity(2)),
    "randomize": lambda table: sd.randomize(table, sd.PkAnonymity(2)),
    "materialize": lambda table: sd.materialize(table, sd.DifferentialPrivacy(1.0)),
    "publish": lambda table: sd.publish(table, sd.Policy(l=2)),
    "assess": lambda table: sd.assess(table, l=2),
    "apply": lambda table: sd.apply(sd.generalize(sd.read(people(), SCHEMA), sd.KAnonymity(2)).plan, table),
}


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize(
    "wrong", [people(), "people.csv", None, np.zeros(3)], ids=["frame", "path", "None", "array"]
)
def test_what_is_no_table_is_refused_at_once(verb: str, wrong: Any) -> None:
    with pytest.raises(sd.ParameterError, match=f"^{verb} needs a table that was read: sd.read"):
        VERBS[verb](wrong)
