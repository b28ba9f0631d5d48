"""A large table is written in parts: the same files by every engine, and none that is not as it was certified."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import sudare as sd
from sudare.attacks.attack import attack, attack_all
from sudare.privacy.certificate import Certificate
from sudare.release.certify import HandedOver
from sudare.tables import file_rows, parts, runs
from sudare.tables.file_rows import FileRows
from sudare.tables.runs import Runs
from tests.conformance import people
from tests.release.hand_over import certified
from tests.test_conformance import DETERMINISTIC, ENGINES, SCHEMA, Make

PART_ROWS = 16  # 60 people: three full parts, and one with the rest
PARTS = [f"data.0000{number}.parquet" for number in (1, 2, 3, 4)]
ALIKE = ["generalize minimal", "generalize mondrian", "generalize_views simultaneous"]


@pytest.fixture(autouse=True)
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts, "PART_ROWS", PART_ROWS)


@pytest.fixture(params=["kept", "read again"])
def rows_are(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Whether the rows of files stay in memory."""
    if request.param == "read again":
        monkeypatch.setattr(file_rows, "MAX_KEPT", 0)
        monkeypatch.setattr(file_rows, "SLICE", 11)
        monkeypatch.setattr(runs, "SLICE", 13)
    return str(request.param)


@pytest.fixture(scope="module")
def release() -> sd.Release:
    return sd.generalize(sd.read(people(), SCHEMA), sd.KAnonymity(3))


@pytest.fixture(scope="module")
def handed_over(release: sd.Release, tmp_path_factory: pytest.TempPathFactory) -> Path:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parts, "PART_ROWS", PART_ROWS)
        return release.write(tmp_path_factory.mktemp("release") / "out", csv=True) / "hand-over"


@pytest.fixture
def written(handed_over: Path, tmp_path: Path) -> Path:
    """What is handed over of a generalized table, to be changed."""
    return Path(shutil.copytree(handed_over, tmp_path / "hand-over"))


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.name != "certificate.json"}


def checked(release: sd.Release, folder: Path) -> Path:
    """Write a release in parts, look at each of them, and return what is handed over."""
    written = release.write(folder, csv=True) / "hand-over"
    assert sd.verify(written).holds
    for name, frame in release.frames().items():
        files = [written / file for file in parts.part_names(name, frame.height)]
        assert len(files) > 1
        assert pl.concat(map(pl.read_parquet, files)).equals(frame)
        assert {pl.read_parquet(file).height for file in files[:-1]} == {PART_ROWS}
        assert (written / f"{name}.csv").read_text().count("\n") == frame.height + 1
    return written


@pytest.mark.parametrize(
    "make",
    [
        DETERMINISTIC[ALIKE[0]],
        *(pytest.param(DETERMINISTIC[name], marks=pytest.mark.slow) for name in ALIKE[1:]),
    ],
    ids=ALIKE,
)
def test_every_engine_writes_the_same_parts(make: Make, rows_are: str, tmp_path: Path) -> None:
    made = {engine: make(read(people())) for engine, read in ENGINES.items()}
    folders = [checked(made[engine], tmp_path / engine) for engine in ENGINES]  # type: ignore[arg-type]
    assert all(contents(folder) == contents(folders[0]) for folder in folders)


@pytest.mark.parametrize("engine", ["memory", pytest.param("duckdb", marks=pytest.mark.slow)])
def test_parts_depend_on_nothing_but_the_rows(engine: str, rows_are: str, tmp_path: Path) -> None:
    release = sd.randomize(ENGINES[engine](people()), sd.PkAnonymity(4), unsafe_seed=1)
    in_memory = HandedOver({"data": Runs.of(release.frame())}, release.handed_over.law)
    again = replace(release, handed_over=in_memory)
    assert contents(checked(release, tmp_path / "one")) == contents(checked(again, tmp_path / "other"))


def test_a_table_of_one_part_has_no_number_and_a_csv_file(
    release: sd.Release, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parts, "PART_ROWS", 60)
    assert set(contents(release.write(tmp_path / "one") / "hand-over")) == {"data.parquet", "data.csv"}
    without = release.write(tmp_path / "without", csv=False) / "hand-over"
    assert set(contents(without)) == {"data.parquet"}
    monkeypatch.setattr(parts, "PART_ROWS", 59)
    several = release.write(tmp_path / "several") / "hand-over"
    assert set(contents(several)) == {"data.00001.parquet", "data.00002.parquet"}
    assert sd.verify(several).holds


def test_parts_answer_as_the_table_does(rows_are: str, written: Path) -> None:
    files = [written / name for name in PARTS]
    whole, rows = pl.concat(map(pl.read_parquet, files)), FileRows(files)
    assert (rows.columns, rows.height, rows.schema) == (whole.columns, 60, whole.schema)
    assert rows.frame().equals(whole)
    for names in (["town"], ["illness", "age"], whole.columns):
        assert rows.counted(names).frame().sort(pl.all()).equals(whole.select(names).sort(pl.all()))
    assert attack_all(written, SCHEMA) == attack_all(whole, SCHEMA)


def test_views_in_parts_are_attacked_together(rows_are: str, tmp_path: Path) -> None:
    release = sd.generalize_views(
        sd.read(people(), SCHEMA),
        {"ages": ["age"], "towns": ["town"]},
        sd.MultiViewDiversity(2),
        "simultaneous",
    )
    known = people().select("age", "town")
    expected = attack(release.frames(), SCHEMA, kind="intersection", known=known)
    folder = release.write(tmp_path / "out")
    assert attack(folder, SCHEMA, kind="intersection", known=known) == expected
    with pytest.raises(sd.InputError, match=r"this folder has views, 'ages\.00001\.parquet'"):
        attack(folder, SCHEMA)


def test_a_randomized_table_in_parts_is_reconstructed_and_attacked(rows_are: str, tmp_path: Path) -> None:
    release = sd.randomize(sd.read(people(), SCHEMA), sd.PkAnonymity(4), unsafe_seed=1)
    folder = release.write(tmp_path / "out")
    assert "data.00002.parquet" in contents(folder / "hand-over")
    for names in ("town", ["town", "illness"]):
        there, here = sd.reconstruct(folder, names).frame(), sd.reconstruct(release, names).frame()
        assert there.equals(here)
    of_folder = attack(folder, kind="law")
    assert of_folder == attack(release.frame(), kind="law", law=release.plan.to_json())


# -- What was changed ------------------------------------------------------------------------------------


def missing(folder: Path) -> None:
    (folder / PARTS[1]).unlink()


def last_missing(folder: Path) -> None:
    (folder / PARTS[3]).unlink()


def only_one_left(folder: Path) -> None:
    for name in PARTS[1:]:
        (folder / name).unlink()


def repeated(folder: Path) -> None:
    shutil.copy(folder / PARTS[0], folder / PARTS[1])


def one_more(folder: Path) -> None:
    shutil.copy(folder / PARTS[3], folder / "data.00005.parquet")


def reordered(folder: Path) -> None:
    (folder / PARTS[0]).rename(folder / "x")
    (folder / PARTS[1]).rename(folder / PARTS[0])
    (folder / "x").rename(folder / PARTS[1])


def foreign(folder: Path) -> None:
    shutil.copy(folder / PARTS[0], folder / "other.00001.parquet")


def beside_the_whole(folder: Path) -> None:
    rows = pl.concat(pl.read_parquet(folder / name) for name in PARTS)
    rows.write_parquet(folder / "data.parquet")


def other_type(folder: Path) -> None:
    frame = pl.read_parquet(folder / PARTS[3])
    frame.with_columns(pl.col("illness").cast(pl.Enum(["HIV", "cancer", "flu"]))).write_parquet(
        folder / PARTS[3]
    )


def other_columns(folder: Path) -> None:
    pl.read_parquet(folder / PARTS[2]).drop("note").write_parquet(folder / PARTS[2])


def columns_reordered(folder: Path) -> None:
    pl.read_parquet(folder / PARTS[2])[["town", "age", "illness", "note"]].write_parquet(folder / PARTS[2])


def cut_elsewhere(folder: Path) -> None:
    rows = pl.concat(pl.read_parquet(folder / name) for name in PARTS)
    for name, (start, stop) in zip(PARTS, [(0, 15), (15, 32), (32, 48), (48, 60)], strict=True):
        rows[start:stop].write_parquet(folder / name)


def last_one_empty(folder: Path) -> None:
    pl.read_parquet(folder / PARTS[3]).clear().write_parquet(folder / PARTS[3])


def numbered_otherwise(folder: Path) -> None:
    (folder / PARTS[3]).rename(folder / "data.4.parquet")


def from_zero(folder: Path) -> None:
    for number, name in enumerate(PARTS):
        (folder / name).rename(folder / f"data.{number:05}.parquet")


def mixed_across_a_border(folder: Path) -> None:
    first, second = (pl.read_parquet(folder / name) for name in PARTS[:2])
    pl.concat([first[:8], second[:8]]).write_parquet(folder / PARTS[0])
    pl.concat([first[8:], second[8:]]).write_parquet(folder / PARTS[1])


def a_note_in_one(folder: Path) -> None:
    pl.read_parquet(folder / PARTS[2]).write_parquet(folder / PARTS[2], metadata={"who": "Ann"})


def packed_otherwise(folder: Path) -> None:
    pl.read_parquet(folder / PARTS[2]).write_parquet(folder / PARTS[2], compression="gzip")


def all_in_one(folder: Path) -> None:
    rows = pl.concat(pl.read_parquet(folder / name) for name in PARTS)
    for name in PARTS:
        (folder / name).unlink()
    rows.write_parquet(folder / "data.parquet", row_group_size=2**18)


CHANGES: list[tuple[Callable[[Path], None], str]] = [
    (missing, "part 2 of the table 'data' is missing"),
    (last_missing, "data.csv does not have the same rows"),
    (only_one_left, "one part of the table 'data', and the others are missing"),
    (repeated, "data.csv does not have the same rows"),
    (one_more, "this part has 12 rows"),
    (reordered, "data.csv does not have the same rows"),
    (foreign, "one part of the table 'other', and the others are missing"),
    (beside_the_whole, "a part of the table 'data', which data.parquet beside it has as a whole"),
    (other_type, "other columns, or other types, than data.00001.parquet"),
    (other_columns, "other columns, or other types, than data.00001.parquet"),
    (columns_reordered, "other columns, or other types, than data.00001.parquet"),
    (cut_elsewhere, "this part has 15 rows"),
    (last_one_empty, "this part has 0 rows"),
    (numbered_otherwise, "data.csv does not have the same rows"),
    (from_zero, "data.csv does not have the same rows"),
    (mixed_across_a_border, "data.csv does not have the same rows"),
    (a_note_in_one, "data.00003.parquet has notes beside its rows: 'who'"),
    (packed_otherwise, "data.00003.parquet has other bytes than a release writes"),
    (all_in_one, "data.parquet is not cut into the parts"),
]
IN_ROWS = {  # what only the CSV file beside it tells so far, as long as there is one
    last_missing: "The certificate claims",
    repeated: "do not stand in the order",
    reordered: "do not stand in the order",
    numbered_otherwise: "There are several views",
    from_zero: "There are several views",
    mixed_across_a_border: "do not stand in the order",
}


@pytest.mark.parametrize("change", [change for change, _ in CHANGES])
def test_what_was_changed_is_not_what_was_certified(
    change: Callable[[Path], None], rows_are: str, written: Path
) -> None:
    change(written)
    with pytest.raises(
        sd.RequirementError, match=r"is missing: the certificate|not named by|its hash differs"
    ):
        sd.verify(written)


@pytest.mark.parametrize(("change", "message"), CHANGES)
@pytest.mark.parametrize("csv", [True, False], ids=["with csv", "without csv"])
def test_a_forger_who_makes_the_hashes_right_is_refused(
    change: Callable[[Path], None], message: str, csv: bool, rows_are: str, written: Path
) -> None:
    certificate = Certificate.open(written / "certificate.json")
    change(written)
    if not csv:
        (written / "data.csv").unlink()
        message = IN_ROWS.get(change, message)
    certified(written, certificate)
    with pytest.raises((sd.RequirementError, sd.InputError), match=message):
        sd.verify(written)


def test_a_single_part_is_no_table(written: Path) -> None:
    attempts: list[Callable[[Path], Any]] = [
        lambda path: sd.verify(path, sd.KAnonymity(3), SCHEMA),
        lambda path: attack(path, SCHEMA, kind="homogeneity"),
    ]
    for attempt in attempts:
        with pytest.raises(sd.InputError, match="one part of the table 'data', and the others are missing"):
            attempt(written / PARTS[0])
        with pytest.raises(sd.InputError, match="part 1 of the table 'data' is missing"):
            attempt(written / PARTS[2])
