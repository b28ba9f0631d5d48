"""A source that is too large for memory is read by DuckDB, and that is said."""

from __future__ import annotations

import os
from pathlib import Path

import polars as pl
import pytest

import sudare as sd
from sudare.engines import sizes
from sudare.engines.memory import Memory
from sudare.engines.relational import Relational
from tests.conformance import SCHEMA, people


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "people.csv"
    people().write_csv(path)
    return path


@pytest.fixture
def little_memory(source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    room = sizes.PER_CSV_BYTE * source.stat().st_size - 1
    monkeypatch.setattr(sizes, "free_memory", lambda: room)


def test_a_source_that_fits_stays_in_memory(source: Path) -> None:
    table = sd.read(source, SCHEMA)
    assert isinstance(table.rows, Memory)
    assert table.source.notes == ()


@pytest.mark.usefixtures("little_memory")
def test_a_source_that_does_not_fit_goes_to_duckdb_and_a_note_says_so(source: Path) -> None:
    table = sd.read(source, SCHEMA)
    assert isinstance(table.rows, Relational)
    (note,) = table.source.notes
    assert 'read with engine="duckdb"' in note
    chosen = sd.read(source, SCHEMA, engine="memory")
    assert isinstance(chosen.rows, Memory)
    assert chosen.source.notes == ()
    assert chosen.digest() == table.digest()


@pytest.mark.usefixtures("little_memory")
def test_without_duckdb_only_what_may_fit_is_read(source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sizes, "find_spec", lambda name: None)
    table = sd.read(source, SCHEMA)
    assert isinstance(table.rows, Memory)
    (note,) = table.source.notes
    assert "If it does not fit" in note
    assert 'pip install "sudare[duckdb]"' in note
    monkeypatch.setattr(sizes, "free_memory", lambda: 1)
    with pytest.raises(sd.InputError, match=r"DuckDB, which keeps rows on disk, can read it: install it"):
        sd.read(source, SCHEMA)


def test_the_memory_that_is_given_is_what_a_source_must_fit_in(source: Path) -> None:
    assert isinstance(sd.read(source, SCHEMA, memory="1GB").rows, Memory)
    assert sizes.fit(source, "10KB").engine == "duckdb"
    with pytest.raises(sd.ParameterError, match="'memory' must be a size"):
        sd.read(source, SCHEMA, memory="much")


def test_several_files_are_for_duckdb(tmp_path: Path) -> None:
    for part in range(2):
        people(10, part).write_parquet(tmp_path / f"people-{part}.parquet")
    table = sd.read(str(tmp_path / "people-*.parquet"), SCHEMA)
    assert isinstance(table.rows, Relational)
    assert len(table) == 20
    people(7).write_parquet(tmp_path / "people-[1].parquet")
    assert len(sd.read(tmp_path / "people-[1].parquet", SCHEMA)) == 7


def test_what_sources_need(tmp_path: Path) -> None:
    frame = pl.DataFrame({"a": range(1000), "b": [1] * 1000})
    frame.write_parquet(tmp_path / "a.parquet")
    frame.write_csv(tmp_path / "a.csv")
    assert sizes.needed(tmp_path / "a.parquet") == 2000 * sizes.PER_VALUE
    assert sizes.needed(tmp_path / "a.csv") == (tmp_path / "a.csv").stat().st_size * sizes.PER_CSV_BYTE
    frame.write_ndjson(tmp_path / "a.jsonl")
    assert sizes.needed(tmp_path / "a.jsonl") == 0  # read as a whole by any engine
    assert sizes.needed(frame) == sizes.needed("sqlite:///a.db?table=a") == sizes.needed("nowhere.csv") == 0


def test_free_memory_is_the_machines_and_the_containers(tmp_path: Path) -> None:
    proc, group = tmp_path / "proc", tmp_path / "cgroup"
    proc.mkdir()
    (group / "memory").mkdir(parents=True)
    whole = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    assert sizes.free_memory(proc, group) == whole
    (proc / "meminfo").write_text("MemTotal:  9000 kB\nMemAvailable:   5000 kB\nBuffers: 1 kB\n")
    assert sizes.free_memory(proc, group) == 5000 * 1024
    (group / "memory.max").write_text("max\n")
    (group / "memory.current").write_text("1000\n")
    (group / "memory.stat").write_text("anon 5\ninactive_file 300\n")
    assert sizes.free_memory(proc, group) == 5000 * 1024
    (group / "memory.max").write_text("4000\n")
    assert sizes.free_memory(proc, group) == 3300
    (group / "memory" / "memory.limit_in_bytes").write_text("2000\n")
    (group / "memory" / "memory.usage_in_bytes").write_text("500\n")
    (group / "memory" / "memory.stat").write_text("total_inactive_file 1\n")
    assert sizes.free_memory(proc, group) == 1501
