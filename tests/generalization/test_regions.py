"""A table of more tuples than are held at once: learned by regions, counted in pieces, and as safe as any other."""

from __future__ import annotations

import json
import random
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import sudare as sd
from sudare.engines.relational import Relational
from sudare.plans.regions import RegionsPlan
from tests.generalization.adult import adult

pytest.importorskip("duckdb")

HIERARCHIES = {
    "age": sd.Hierarchy.intervals(range(100), width=5),
    "zip": sd.Hierarchy.mask([str(i) for i in range(100, 200)]),
    "sex": sd.Hierarchy.suppress(["f", "m"]),
}
QUASI = list(HIERARCHIES)
REQUIREMENTS = {
    "k": [sd.KAnonymity(4)],
    "distinct": [sd.KAnonymity(3), sd.LDiversity(3)],
    "entropy": [sd.LDiversity(2.5, kind="entropy")],
    "recursive": [sd.LDiversity(2, kind="recursive", c=3.0)],
    "t": [sd.KAnonymity(3), sd.TCloseness(0.3)],
}


def people(rows: int, seed: int = 0) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "age": np.clip(rng.normal(45, 20, rows), 0, 99).astype(int),
            "zip": (100 + rng.integers(0, 100, rows)).astype(str),
            "sex": rng.choice(["f", "m"], rows),
            "illness": rng.choice(["flu", "cold", "gout", "HIV"], rows, p=[0.4, 0.3, 0.2, 0.1]),
            "note": rng.integers(0, 3, rows),
        }
    )


def schema(**more: object) -> sd.Schema:
    return sd.Schema.from_roles(
        quasi=QUASI, sensitive=["illness"], other=["note"], hierarchies=HIERARCHIES, **more
    )


def held_at_once(monkeypatch: pytest.MonkeyPatch, tuples: int) -> None:
    monkeypatch.setattr(Relational, "max_tuples", tuples)


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """No more than 150 tuples are held, and no more than 100 different rows counted, at once."""
    hold_few(monkeypatch)


def hold_few(monkeypatch: pytest.MonkeyPatch) -> None:
    held_at_once(monkeypatch, 150)
    monkeypatch.setattr("sudare.engines.database.MAX_COUNTED", 100)
    monkeypatch.setattr("sudare.tables.file_rows.MAX_COUNTED", 100)
    monkeypatch.setattr("sudare.tables.file_rows.MAX_KEPT", 100)
    monkeypatch.setattr("sudare.tables.file_rows.SAMPLED", 1)


QUICK = [("distinct", "minimal"), ("t", "mondrian")]


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize(
    ("kind", "method"),
    [
        pytest.param(kind, method, marks=[] if (kind, method) in QUICK else [pytest.mark.slow])
        for kind in REQUIREMENTS
        for method in ("minimal", "mondrian")
    ],
)
def test_what_is_asked_for_holds(kind: str, method: str, tmp_path: Path) -> None:
    asked, rows = REQUIREMENTS[kind], 500
    table = sd.read(people(rows), schema(), engine="duckdb")
    release = sd.generalize(table, asked, method)
    assert isinstance(release.plan, RegionsPlan)
    assert release.plan.shelf.count > 3
    assert sd.verify(release.frame(), asked, table.schema).holds  # recounted at once
    folder = release.write(tmp_path / "out")
    assert sd.verify(folder).holds  # and from the files, in pieces
    assert release.frame().height == rows


@pytest.mark.slow
def test_no_piece_is_empty_though_blocks_are_few(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sudare.engines.database.MAX_COUNTED", 1)
    monkeypatch.setattr("sudare.tables.file_rows.MAX_COUNTED", 1)
    monkeypatch.setattr("sudare.tables.file_rows.MAX_KEPT", 1)
    monkeypatch.setattr("sudare.tables.file_rows.SAMPLED", 1)
    table = sd.read(people(400), schema(), engine="duckdb")
    release = sd.generalize(table, [sd.KAnonymity(40), sd.LDiversity(2)], "mondrian")
    blocks = release.frame().select(QUASI).n_unique()
    pieces = list(release.handed_over.frames["data"].pieces([*QUASI, "illness"], QUASI))
    assert 1 < len(pieces) <= blocks
    assert all(piece.rows.height for piece in pieces)
    assert sd.verify(release.write(tmp_path / "out")).holds


@pytest.mark.usefixtures("reports")
@pytest.mark.usefixtures("few")
def test_everything_that_is_said_is_what_all_at_once_says() -> None:
    """The same rows, published by the same plan: figures do not depend on how many are looked at at a time."""
    table = sd.read(people(500), schema(), engine="duckdb")
    asked = [sd.KAnonymity(3), sd.LDiversity(2), sd.TCloseness(0.6)]
    by_regions = sd.generalize(table, asked)
    pieces = sum(1 for _ in by_regions.handed_over.frames["data"].pieces([*QUASI, "illness"], QUASI))
    at_once = sd.apply(by_regions.plan, sd.read(people(500), schema()))
    assert pieces > 3
    assert by_regions.frame().equals(at_once.frame())
    assert by_regions.verification == at_once.verification
    for figures in ("measured", "attacks", "utility", "records"):
        assert getattr(by_regions.certificate, figures) == getattr(at_once.certificate, figures)
    one, other = by_regions.holder, at_once.holder
    assert one["records"] == other["records"]
    assert one["attacks"] == other["attacks"]
    for name in ("distortion", "blocks", "discernibility", "ncp", "non_uniform_entropy"):
        assert one["utility"][name] == pytest.approx(other["utility"][name], rel=1e-12)
    assert one["utility"]["query_error"]["mean"] == pytest.approx(other["utility"]["query_error"]["mean"])
    assert "For the holder of the data only" in by_regions.report


@pytest.mark.slow
@pytest.mark.parametrize("method", [pytest.param("minimal", marks=pytest.mark.slow), "mondrian"])
def test_regions_cost_little(method: str, data_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = adult(data_folder)
    there = sd.read(table.frame(), table.schema, engine="duckdb")
    asked = [sd.KAnonymity(5), sd.LDiversity(3)]
    at_once = sd.generalize(there, asked, method)
    held_at_once(monkeypatch, 4_000)
    by_regions = sd.generalize(there, asked, method)
    assert isinstance(by_regions.plan, RegionsPlan)
    cost = [release.holder["utility"]["distortion"] for release in (by_regions, at_once)]
    assert cost[0] <= 1.05 * cost[1]


@pytest.mark.usefixtures("few")
def test_a_saved_plan_is_applied_to_the_same_rows_and_to_others(tmp_path: Path) -> None:
    table = sd.read(people(500), schema(), engine="duckdb")
    release = sd.generalize(table, sd.KAnonymity(4))
    plan = sd.Plan.open(release.plan.save(tmp_path / "plan"))
    shuffled = people(500).sample(fraction=1, shuffle=True, seed=1)
    for engine in ("memory", "duckdb"):
        assert sd.apply(plan, sd.read(shuffled, schema(), engine=engine)).frame().equals(release.frame())
    others = people(1_000, seed=5)
    for engine in ("memory", "duckdb"):
        there = sd.read(others, schema(), engine=engine)
        with pytest.raises(sd.InputError, match=r"the plan does not cover [\d,]+ of 1,000 records"):
            sd.apply(plan, there)


@pytest.mark.usefixtures("few")
def test_new_rows_have_blocks_among_cuts(tmp_path: Path) -> None:
    table = sd.read(people(700), schema(), engine="duckdb")
    plan = sd.generalize(table, sd.KAnonymity(4), "mondrian").plan
    more = pl.concat([people(700), people(100, seed=5)])
    engines = [
        sd.apply(plan, sd.read(more, schema(), engine=engine), unseen="suppress")
        for engine in ("memory", "duckdb")
    ]
    assert engines[0].frame().equals(engines[1].frame())
    assert 700 < engines[0].frame().height <= 800


@pytest.mark.usefixtures("few")
def test_who_is_left_out_is_no_more_than_was_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    folk = people(2_000)
    same = folk.with_columns(
        age=pl.col("age") // 20 * 20, zip=pl.lit("1") + pl.col("zip").str.slice(1, 1) + "0"
    )
    alone = folk[:9].with_columns(
        age=pl.Series(range(3, 93, 10)), zip=pl.Series([f"1{i}9" for i in range(9)])
    )
    table = sd.read(pl.concat([same, alone]), schema(), engine="duckdb")
    monkeypatch.setattr(Relational, "max_tuples", 60)
    release = sd.generalize(table, [sd.KAnonymity(8)], suppress=0.05)
    assert isinstance(release.plan, RegionsPlan)
    assert 0 < release.holder["records"]["suppressed"] <= 100
    assert release.certificate.measured["k"] >= 8


@pytest.mark.usefixtures("few")
def test_what_needs_all_tuples_is_refused(tmp_path: Path) -> None:
    table = sd.read(people(700), schema(), engine="duckdb")
    with pytest.raises(sd.ParameterError, match="'predict' is measured tuple by tuple"):
        sd.generalize(table, sd.KAnonymity(4), "mondrian", predict="illness")
    with pytest.raises(sd.ParameterError, match="'full-domain' compares choices for all tuples together"):
        sd.generalize(table, sd.KAnonymity(4), "full-domain")
    release = sd.generalize(table, sd.KAnonymity(4), "mondrian")
    with pytest.raises(
        sd.ParameterError, match=r"A ledger compares blocks .* are too many to be held at once"
    ):
        release.write(tmp_path / "out", ledger=sd.Ledger(tmp_path / "ledger.db"))
    assert not (tmp_path / "out").exists()


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize("suppress", [0.05, pytest.param(0.0, marks=pytest.mark.slow)])
def test_a_ledger_knows_the_blocks_that_were_published(
    suppress: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is recorded takes less memory than what is learned from: some tables that are learned by regions can be."""
    held_at_once(monkeypatch, 300)
    folk = people(700).drop("note")
    own = sd.Schema.from_roles(quasi=QUASI, sensitive=["illness"], hierarchies=HIERARCHIES)
    table = sd.read(folk, own, engine="duckdb")
    asked, ledger = [sd.KAnonymity(8), sd.LDiversity(2)], sd.Ledger(tmp_path / "ledger.db")
    release = sd.generalize(table, asked, sd.methods.Minimal(suppress=suppress, deal=False))
    assert isinstance(release.plan, RegionsPlan)
    release.write(tmp_path / "out", ledger=ledger)
    places = release.plan.locate(table)
    located, published = places.at_once("Each tuple is looked at", 1), places.rewriting.joined()
    labels = [
        published.tuples[:, at] if (label := published.published[name]) is None else label.of_tuple
        for at, name in enumerate(QUASI)
    ]
    one_by_one = dict(zip(map(tuple, published.tuples.tolist()), zip(*labels, strict=True), strict=True))
    covered = located.counts.codes[located.covered].tolist()
    seen = located.rewriting.blocks_by(QUASI)
    pairs = {(block, one_by_one[tuple(codes)]) for block, codes in zip(seen.tolist(), covered, strict=True)}
    assert len(covered) == len(one_by_one)
    assert len(located.counts) == len(covered) or suppress > 0
    assert len(pairs) == len({block for block, _ in pairs}) == len({label for _, label in pairs})
    with pytest.raises(sd.RequirementError, match="would break what release 1 promises"):
        sd.generalize(sd.read(folk, own), asked).write(tmp_path / "again", ledger=ledger)


def test_regions_are_no_larger_than_what_is_held(monkeypatch: pytest.MonkeyPatch) -> None:
    held_at_once(monkeypatch, 500)
    table = sd.read(people(5_000), schema(), engine="duckdb")
    release = sd.generalize(table, sd.KAnonymity(2), "mondrian")
    sizes = [len(piece.counts) for piece in release.plan.locate(table).pieces()]  # type: ignore[attr-defined]
    assert sum(sizes) > 4_000
    assert max(sizes) <= 500
    assert len(sizes) < 4 * sum(sizes) / 500


def test_a_table_that_cannot_be_cut_is_one_region_and_it_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    held_at_once(monkeypatch, 10)
    table = sd.read(people(60), schema(), engine="duckdb")
    release = sd.generalize(table, sd.KAnonymity(40), "mondrian")
    assert release.certificate.measured["k"] >= 40
    assert "1 of 1 regions have more combinations than the 10 that" in release.holder["warnings"][0]
    assert "up to 60: no further cut keeps what was asked for" in release.holder["warnings"][0]


@pytest.mark.slow
@pytest.mark.parametrize("nodes", [4, 30])
@pytest.mark.parametrize("method", ["mondrian", pytest.param("minimal", marks=pytest.mark.slow)])
def test_what_coarse_counts_leave_too_large_is_cut_again(
    method: str, nodes: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So few tuples of nodes are listed at once that the first cuts, and those after them, leave regions too large."""
    held_at_once(monkeypatch, 200)
    monkeypatch.setattr("sudare.generalization.region_cuts.MAX_LISTED", nodes)
    monkeypatch.setattr("sudare.plans.regions.MAX_LISTED", nodes)
    table = sd.read(people(3_000), schema(), engine="duckdb")
    asked = [sd.KAnonymity(3), sd.LDiversity(2)]
    release = sd.generalize(table, asked, method)
    assert isinstance(release.plan, RegionsPlan)
    assert release.holder["warnings"] == []
    sizes = [len(piece.counts) for piece in release.plan.locate(table).pieces()]
    assert max(sizes) <= 200
    assert sd.verify(release.frame(), asked, table.schema).holds
    plan = sd.Plan.open(release.plan.save(tmp_path / "plan"))
    for engine in ("memory", "duckdb"):
        assert sd.apply(plan, sd.read(people(3_000), schema(), engine=engine)).frame().equals(release.frame())


def test_people_whom_no_cut_reaches_are_left_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """A crowd that has everything but a sensitive value in common can be cut no further than that value is spread."""
    held_at_once(monkeypatch, 50)
    crowd = people(400).with_columns(age=pl.lit(30), sex=pl.lit("f"), illness=pl.lit("flu"))
    rest = people(400, seed=1).with_columns(age=pl.lit(60), sex=pl.lit("m"))
    table = sd.read(
        pl.concat([crowd[:-1], rest, crowd[-1:].with_columns(illness=pl.lit("HIV"))], how="vertical_relaxed"),
        schema(),
        engine="duckdb",
    )
    release = sd.generalize(table, [sd.KAnonymity(3), sd.LDiversity(2)], "mondrian")
    assert release.certificate.measured["l_distinct"] >= 2
    [said] = release.holder["warnings"]
    assert said.startswith("1 of ")


def _without_a_region(folder: Path) -> None:
    next(folder.glob("region.00001.*")).unlink()


def _with_another_region(folder: Path) -> None:
    (folder / "region.00001.tuples.parquet").write_bytes(
        (folder / "region.00000.tuples.parquet").read_bytes()
    )


def _of_more_regions(folder: Path) -> None:
    head = json.loads((folder / "plan.json").read_text())
    head["regions"] += 1
    (folder / "plan.json").write_text(json.dumps(head))


def _with_other_promises(folder: Path) -> None:
    head = json.loads((folder / "plan.json").read_text())
    head["plan"]["promises"] = head["plan"]["promises"][:1]
    (folder / "plan.json").write_text(json.dumps(head))


def _with_flipped_bytes(folder: Path) -> None:
    for seed, path in enumerate(sorted(folder.glob("region.*"))):
        content, place = bytearray(path.read_bytes()), random.Random(seed)
        for _ in range(3):
            content[place.randrange(len(content))] ^= 1 << place.randrange(8)
        path.write_bytes(bytes(content))


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A plan that was learned by regions."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        hold_few(monkeypatch)
        table = sd.read(people(300), schema(), engine="duckdb")
        plan = sd.generalize(table, [sd.KAnonymity(3), sd.LDiversity(2)]).plan
        return plan.save(tmp_path_factory.mktemp("saved") / "plan")


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize(
    "change",
    [_without_a_region, _with_another_region, _of_more_regions, _with_other_promises, _with_flipped_bytes],
)
def test_a_changed_plan_is_refused_or_keeps_its_promise(
    change: Callable[[Path], None], saved: Path, tmp_path: Path
) -> None:
    folder = shutil.copytree(saved, tmp_path / "plan")
    change(folder)
    with pytest.raises((sd.InputError, sd.RequirementError)):
        sd.apply(sd.Plan.open(folder), sd.read(people(300), schema()))


def files_of(plan: sd.Plan, folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in plan.save(folder).iterdir()}


def learned_elsewhere(*_: object) -> None:
    raise AssertionError("a region was learned here")


@pytest.mark.slow
@pytest.mark.usefixtures("few")
@pytest.mark.parametrize(
    ("method", "suppress"), [("mondrian", 0.0), pytest.param("minimal", 0.05, marks=pytest.mark.slow)]
)
def test_spark_learns_regions_in_tasks_as_duckdb_does_here(
    method: str, suppress: float, spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = [sd.KAnonymity(3), sd.LDiversity(2)]
    here = sd.generalize(sd.read(people(700), schema(), engine="duckdb"), asked, method, suppress=suppress)
    monkeypatch.setattr("sudare.engines.spark.one_after_the_other", learned_elsewhere)
    there = sd.generalize(sd.read(people(700), schema(), engine=spark), asked, method, suppress=suppress)
    assert isinstance(there.plan, RegionsPlan)
    assert there.plan.shelf.count > 2
    assert files_of(there.plan, tmp_path / "there") == files_of(here.plan, tmp_path / "here")
    assert there.frame().equals(here.frame())
    assert there.certificate.attacks == here.certificate.attacks
    assert there.holder["records"] == here.holder["records"]
    assert there.holder["warnings"] == []


@pytest.mark.slow
@pytest.mark.usefixtures("few")
def test_where_executors_lack_sudare_regions_are_learned_here_and_it_is_said(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bare = tmp_path / "python"
    bare.write_text(f'#!/bin/sh\nexec "{sys.executable}" -S "$@"\n')  # without any package
    bare.chmod(0o700)
    monkeypatch.setenv("PYSPARK_PYTHON", str(bare))
    monkeypatch.setattr(spark.sparkContext, "pythonExec", str(bare))
    release = sd.generalize(sd.read(people(700), schema(), engine=spark), sd.KAnonymity(3), "mondrian")
    assert isinstance(release.plan, RegionsPlan)
    [said] = release.holder["warnings"]
    assert (
        "learned here, one after the other. Spark's executors do not run Sudare (Spark: ModuleNotFoundError"
        in said
    )
    assert "pip install" in said


@pytest.mark.usefixtures("few")
def test_a_plan_to_start_from_is_refused_where_tuples_are_too_many() -> None:
    table = sd.read(people(600), schema(), engine="duckdb")
    start = sd.generalize(sd.read(people(600), schema()), sd.KAnonymity(4), "mondrian").plan
    with pytest.raises(sd.ParameterError, match="A plan to start from is looked up for all tuples together"):
        sd.generalize(table, sd.KAnonymity(4), start=start)
