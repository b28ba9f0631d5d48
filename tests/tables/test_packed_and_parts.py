"""Zipped CSV files, arrays of JSON objects, and folders of parts."""

from __future__ import annotations

import gzip
import io
import zipfile
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import sudare as sd
from sudare.tables import archives

CSV = b"age,sex\n30,f\n40,m\n"
ROWS = [(30, "f"), (40, "m")]


def archive(path: Path, contents: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in contents.items():
            file.writestr(name, content)
    return path


def refused(source: Any, **how: Any) -> str:
    with pytest.raises(sd.InputError) as error:
        sd.read(source, **how)
    return str(error.value)


# -- zip -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
def test_a_zipped_csv_file(tmp_path: Path, engine: Any) -> None:
    beside = {"__MACOSX/._p.csv": b"\0", "docs/": b"", "docs/.DS_Store": b"\0", "read me.md": b"x"}
    path = archive(tmp_path / "p.zip", {**beside, "data/p.csv": CSV})
    assert sd.read(path, engine=engine).frame().rows() == ROWS


def test_one_of_several_files(tmp_path: Path) -> None:
    path = archive(tmp_path / "p.csv.zip", {"a.csv": CSV, "b.tsv": b"x\ty\n1\t2\n"})
    assert (
        "there are several CSV files in it, 'a.csv', 'b.tsv'. Name one: sheet = 'a.csv' in the schema"
        in refused(path)
    )
    assert sd.read(path, sheet="b.tsv").frame().rows() == [(1, 2)]
    assert "there is no file 'c.csv' in it. There are 'a.csv', 'b.tsv'." in refused(path, sheet="c.csv")


def test_a_zip_archive_without_a_csv_file(tmp_path: Path) -> None:
    assert "there is no CSV file in it, but 'a.md'. Unpack it" in refused(
        archive(tmp_path / "p.zip", {"a.md": b""})
    )
    assert "there is no CSV file in it, but nothing." in refused(archive(tmp_path / "q.zip", {}))


def test_a_name_that_leads_elsewhere_leads_nowhere(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    path = archive(tmp_path / "in" / "p.zip", {"../../evil.csv": CSV})
    assert sd.read(path).frame().rows() == ROWS
    assert [file.name for file in tmp_path.rglob("*")] == ["in", "p.zip"]


def test_a_zip_archive_that_unpacks_to_far_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = archive(tmp_path / "p.zip", {"a.csv": b"a\n" + b"1\n" * 500_000})
    assert len(sd.read(path)) == 500_000
    monkeypatch.setattr(archives, "UNPACKED_FLOOR", 999_999)
    monkeypatch.setattr(archives, "UNPACKED_PER_BYTE", 2)
    assert "the file unpacks to more than 999,999 bytes" in refused(path)


def test_a_zip_archive_that_lies_about_its_size(tmp_path: Path) -> None:
    """No more is unpacked than it says, and the checksum then tells."""
    path = archive(tmp_path / "p.zip", {"a.csv": b"a\n" + b"1\n" * 5_000})
    content = path.read_bytes()
    path.write_bytes(content.replace((10_002).to_bytes(4, "little"), (100).to_bytes(4, "little")))
    assert "p.zip: the file cannot be unpacked: Bad CRC-32 for file 'a.csv'" in refused(path)


def test_a_locked_zip_archive(tmp_path: Path) -> None:
    path = archive(tmp_path / "p.zip", {"a.csv": CSV})
    content = bytearray(path.read_bytes())
    content[content.index(b"PK\x01\x02") + 8] |= 1
    path.write_bytes(content)
    assert "'a.csv' in it is protected by a password. Unpack it yourself." in refused(path)


def test_very_many_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives, "MAX_MEMBERS", 3)
    path = archive(tmp_path / "p.zip", {f"{i}.csv": CSV for i in range(4)})
    assert "it has more than 3 files in it" in refused(path)


def test_a_damaged_zip_archive(tmp_path: Path) -> None:
    path = archive(tmp_path / "p.zip", {"a.csv": CSV})
    path.write_bytes(path.read_bytes()[:-10])
    assert "p.zip: the file cannot be unpacked: File is not a zip file. Ask for it again." in refused(path)


# -- JSON ----------------------------------------------------------------------------------------------


def test_an_array_of_objects(tmp_path: Path) -> None:
    path = tmp_path / "p.json"
    path.write_bytes(b'\xef\xbb\xbf [{"age": 30, "w": 1},\n {"age": 40, "w": 1.5, "late": "x"}, {}]')
    assert sd.read(path).frame().rows() == [(30, 1.0, None), (40, 1.5, "x"), (None, None, None)]


def test_json_lines_that_are_called_json(tmp_path: Path) -> None:
    (tmp_path / "p.json").write_text('{"age": 30}\n{"age": 40}\n')
    assert sd.read(tmp_path / "p.json").frame().rows() == [(30,), (40,)]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ('[{"a": 1}, {"a": "x"}]', "column 'a': it mixes numbers and texts"),
        ('[{"a": true}, {"a": 1}]', "column 'a': it mixes numbers and truth values"),
        ('[{"a": {"b": 1}}]', "column 'a': a cell holds Struct"),
        ('[{"a": [1]}]', "column 'a': a cell holds List"),
        ('[{"a": 1, "a": 2}]', "the key 'a' stands twice"),
        ('[{"a": NaN}]', "'NaN' is no number"),
        ('[{"a": 1}', "not a valid JSON file"),
        ("[]", "the table is empty"),
        ("[" * 100, "nested more than 64 deep"),
        ('[{"a": 1' + "0" * 250 + "}]", "numbers beyond all that can be counted with"),
    ],
)
def test_an_array_that_is_no_table(tmp_path: Path, text: str, sentence: str) -> None:
    (tmp_path / "p.json").write_text(text)
    assert sentence in refused(tmp_path / "p.json")


def test_objects_of_which_each_has_another_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "p.json").write_text("[" + ",".join(f'{{"a{i}": 1}}' for i in range(2000)) + "]")
    monkeypatch.setattr("sudare.tables.parquet_files.VALUES_FLOOR", 10**6)
    assert "it has 2,000 rows of 2,000 columns, where" in refused(tmp_path / "p.json")


# -- Folders ---------------------------------------------------------------------------------------------


def folder_of(folder: Path, contents: dict[str, bytes]) -> Path:
    folder.mkdir()
    for name, content in contents.items():
        (folder / name).write_bytes(content)
    return folder


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
def test_a_folder_of_csv_files(tmp_path: Path, engine: Any) -> None:
    contents = {
        "part-0.csv": b"age,sex\n",
        "part-1.csv": CSV,
        "part-2.csv": b"age,sex\n50,f\n",
        "_SUCCESS": b"",
        ".x.crc": b"x",
    }
    folder = folder_of(tmp_path / "people", contents)
    assert sd.read(folder, engine=engine).frame().rows() == [*ROWS, (50, "f")]
    (folder / "part-2.csv").write_bytes(b"age,sex\n50,f\nold,f\n")
    schema = sd.Schema.from_roles(quasi=["age", "sex"], types={"age": "integer"})
    message = refused(folder, schema=schema, engine=engine)
    assert "people, part-2.csv, line 3, column 'age': 'old' is not a whole number" in message


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
def test_a_folder_of_parquet_files(tmp_path: Path, engine: Any) -> None:
    parts = {}
    for name, rows in (("a.parquet", [1, 2]), ("b.parquet", [3])):
        file = io.BytesIO()
        pl.DataFrame({"n": rows}).write_parquet(file)
        parts[name] = file.getvalue()
    folder = folder_of(tmp_path / "people", parts)
    assert sorted(sd.read(folder, engine=engine).frame()["n"].to_list()) == [1, 2, 3]


def test_a_folder_of_gzipped_and_of_zipped_files(tmp_path: Path) -> None:
    gz = folder_of(tmp_path / "gz", {"a.csv.gz": gzip.compress(CSV), "b.csv.gz": gzip.compress(CSV)})
    assert sd.read(gz).frame().rows() == ROWS * 2
    packed = folder_of(tmp_path / "zip", {})
    for name in ("a.zip", "b.zip"):
        archive(packed / name, {"p.csv": CSV})
    assert sd.read(packed).frame().rows() == ROWS * 2


def test_where_a_wrong_value_stands_in_a_folder(tmp_path: Path) -> None:
    folder = folder_of(tmp_path / "p", {"a.json": b'[{"n": "1"}]', "b.json": b'[{"n": "2"}, {"n": "x"}]'})
    schema = sd.Schema.from_roles(quasi=["n"], types={"n": "integer"})
    assert "p, b.json, row 2, column 'n': 'x' is not a whole number" in refused(folder, schema=schema)


@pytest.mark.parametrize(
    ("contents", "sentence"),
    [
        (
            {"a.csv": CSV, "b.parquet": b""},
            "files of several kinds, '.csv', '.parquet', and the parts of a table are of one.",
        ),
        (
            {"a.csv": CSV, "b.csv": b"age,height\n1,2\n"},
            "b.csv: it has the columns 'age', 'height', and a.csv has 'age', 'sex'.",
        ),
        (
            {"a.json": b'[{"n": 1}]', "b.json": b'[{"n": "x"}]'},
            "b.json: its columns have other types than those of a.json.",
        ),
        ({"a.csv": CSV, "b.csv": b"%PDF-1.7"}, "b.csv: this is a PDF document."),
        ({}, "the folder has no files in it."),
        (
            {"a.csv": b"age\n", "b.csv": b"age\n"},
            "a.csv: the table is empty; there is no record after the header.",
        ),
    ],
)
def test_a_folder_that_is_no_table(tmp_path: Path, contents: dict[str, bytes], sentence: str) -> None:
    assert sentence in refused(folder_of(tmp_path / "p", contents))


def test_links_and_folders_in_a_folder(tmp_path: Path) -> None:
    folder = folder_of(tmp_path / "p", {"a.csv": CSV})
    (folder / "b.csv").symlink_to("/etc/passwd")
    assert "b.csv is a link, and a folder of parts has plain files alone." in refused(folder)
    (folder / "b.csv").unlink()
    (folder / "b.csv").mkdir()
    assert "b.csv is a folder, and a folder of parts has plain files alone." in refused(folder)


def test_lines_with_ever_new_keys_are_refused_before_they_are_compared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def compare(*_: object, **__: object) -> None:
        raise AssertionError("the keys of every line are compared with all before")

    monkeypatch.setattr(pl, "scan_ndjson", compare)
    (tmp_path / "people.jsonl").write_text("\n".join(f'{{"key {i}": {i}}}' for i in range(10_001)))

    assert "its objects have 10,001 keys" in refused(tmp_path / "people.jsonl")
