"""Files that are something else than their ending says, or that nobody can read: one clear sentence each."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import os
import pickle
import sqlite3
import struct
import tarfile
import zipfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import duckdb
import numpy as np
import openpyxl
import polars as pl
import pyreadstat
import pytest

import sudare as sd
from tests.tables.sas import SasColumn, sas_file

PEOPLE = pl.DataFrame({"age": [30, 40], "sex": ["f", "m"]})


def zipped(*names: str, **contents: bytes) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name in names:
            archive.writestr(name, contents.get(name, b""))
        for name, content in contents.items():
            archive.writestr(name, content)
    return file.getvalue()


def written(write: Callable[[Path], object], name: str) -> Callable[[Path], bytes]:
    def content(folder: Path) -> bytes:
        write(folder / name)
        return (folder / name).read_bytes()

    return content


def workbook(path: Path) -> None:
    book = openpyxl.Workbook()
    book.active.append(["age", "sex"])
    book.active.append([30, "f"])
    book.save(path)


def tarred(path: Path) -> None:
    with tarfile.open(path, "w") as archive:
        archive.addfile(tarfile.TarInfo("people.csv"))


def sqlite_file(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE people (age)")


def duckdb_file(path: Path) -> None:
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE people (age INTEGER)")


def old_office(*parts: str) -> bytes:
    return (
        bytes.fromhex("d0cf11e0a1b11ae1") + b"\0" * 504 + b"".join(part.encode("utf-16-le") for part in parts)
    )


def stata(path: Path) -> None:
    pyreadstat.write_dta(PEOPLE, str(path))


def old_stata(path: Path) -> None:
    pyreadstat.write_dta(PEOPLE, str(path), version=8)


def spss(path: Path) -> None:
    pyreadstat.write_sav(PEOPLE, str(path))


def sas_transport(path: Path) -> None:
    pyreadstat.write_xport(PEOPLE, str(path))


WRONG: dict[str, tuple[str, bytes | Callable[[Path], bytes], str]] = {
    "xlsx as csv": (
        "p.csv",
        written(workbook, "w.xlsx"),
        "this is an Excel workbook (.xlsx), whatever its ending says. Rename it to p.xlsx.",
    ),
    "xlsx as ods": (
        "p.ods",
        written(workbook, "w.xlsx"),
        "this is an Excel workbook (.xlsx), whatever its ending says. Rename it to p.xlsx.",
    ),
    "ods as xlsx": (
        "p.xlsx",
        zipped(mimetype=b"application/vnd.oasis.opendocument.spreadsheet"),
        "this is an OpenDocument spreadsheet (.ods), whatever its ending says. Rename it to p.ods.",
    ),
    "xls": (
        "p.xls",
        old_office("Root Entry", "Workbook"),
        "this is an Excel workbook of the form before 2007 (.xls). Open it in a",
    ),
    "xls as xlsx": (
        "p.xlsx",
        old_office("Root Entry", "Book"),
        "form before 2007 (.xls). Open it in a spreadsheet program and save it as .xlsx.",
    ),
    "doc": (
        "p.csv",
        old_office("Root Entry", "WordDocument"),
        "this is an Office file of the form before 2007. Export the table as",
    ),
    "protected": (
        "p.xlsx",
        old_office("Root Entry", "EncryptionInfo", "EncryptedPackage"),
        "this is an Office file that is protected by a password. Open it, take the password off, and save it as .xlsx.",
    ),
    "xlsb": (
        "p.xlsx",
        zipped("xl/workbook.bin"),
        "this is a binary Excel workbook (.xlsb). Open it in a spreadsheet program",
    ),
    "docx": (
        "p.xlsx",
        zipped("word/document.xml"),
        "this is an Office document that is no spreadsheet. Copy its table",
    ),
    "numbers": (
        "p.numbers",
        zipped("Index/Document.iwa"),
        "this is a document of Apple's Numbers or Pages. Export it as .xlsx.",
    ),
    "zip as csv": (
        "p.csv",
        zipped("a.csv"),
        "this is a zip archive (.zip), whatever its ending says. Rename it to p.zip.",
    ),
    "gzip as csv": (
        "p.csv",
        gzip.compress(b"a\n1\n"),
        "this is a gzipped file (.gz), whatever its ending says. Rename it to p.gz.",
    ),
    "csv as gzip": ("p.csv.gz", b"a,b\n1,2\n", "the file cannot be read: Not a gzipped file"),
    "bzip2": (
        "p.csv",
        bz2.compress(b"a\n1\n"),
        "this is a file packed with bzip2. Unpack it, and name the file that comes out.",
    ),
    "xz": ("p.csv", lzma.compress(b"a\n1\n"), "this is a file packed with xz. Unpack it"),
    "7z": ("p.csv", b"7z\xbc\xaf\x27\x1c\0\4", "this is a 7-Zip archive. Unpack it"),
    "rar": ("p.csv", b"Rar!\x1a\x07\x01\0", "this is a RAR archive. Unpack it"),
    "tar": ("p.csv", written(tarred, "t.tar"), "this is a tar archive. Unpack it"),
    "tar.gz": (
        "p.csv.gz",
        lambda folder: gzip.compress(written(tarred, "t.tar")(folder)),
        "this is a tar archive. Unpack it",
    ),
    "parquet as csv": (
        "p.csv",
        written(PEOPLE.write_parquet, "q.parquet"),
        "this is a Parquet file (.parquet), whatever its ending says.",
    ),
    "arrow as parquet": (
        "p.parquet",
        written(PEOPLE.write_ipc, "q.arrow"),
        "this is an Arrow file (.arrow), whatever its ending says.",
    ),
    "stata as sav": (
        "p.sav",
        written(stata, "q.dta"),
        "this is a Stata file (.dta), whatever its ending says. Rename it to p.dta.",
    ),
    "old stata as csv": (
        "p.csv",
        written(old_stata, "q.dta"),
        "this is a Stata file (.dta), whatever its ending says.",
    ),
    "spss as csv": (
        "p.csv",
        written(spss, "q.sav"),
        "this is an SPSS file (.sav), whatever its ending says. Rename it to p.sav.",
    ),
    "sas as dta": (
        "p.dta",
        sas_file([SasColumn("a", [1.0])]),
        "this is a SAS file (.sas7bdat), whatever its ending says.",
    ),
    "xpt as csv": (
        "p.csv",
        written(sas_transport, "q.xpt"),
        "this is a SAS transport file (.xpt), whatever its ending says.",
    ),
    "sqlite": (
        "p.csv",
        written(sqlite_file, "q.db"),
        "this is an SQLite database. Read it by its URL: sqlite:///FILE?table=NAME.",
    ),
    "duckdb": (
        "p.db",
        written(duckdb_file, "q.duckdb"),
        "this is a DuckDB database. Read it by its URL: duckdb:///FILE?table=NAME.",
    ),
    "pdf": ("p.csv", b"%PDF-1.7\n", "this is a PDF document. A page has no table that can be read."),
    "png": ("p.csv", b"\x89PNG\r\n\x1a\n", "this is a picture (PNG). Export the table as"),
    "jpeg": ("p.jpg", b"\xff\xd8\xff\xe0", "this is a picture (JPEG). Export the table as"),
    "html as xls": (
        "p.xls",
        b"<html><table><tr><td>1",
        "this is an HTML page. Open it in a spreadsheet program and save it as .xlsx.",
    ),
    "html as csv": ("p.csv", b"\xef\xbb\xbf\n<!DOCTYPE html>", "this is an HTML page."),
    "xml": ("p.csv", b'<?xml version="1.0"?><a/>', "this is an XML file. Export the table as"),
    "rtf": ("p.csv", b"{\\rtf1", "this is a text document (RTF)."),
    "pickle": (
        "p.csv",
        pickle.dumps({"a": [1]}),
        "this is a pickle of Python, which can run anything when it is opened. Never open",
    ),
    "RData": (
        "p.csv",
        gzip.compress(b"RDX3\nX\n"),
        "this is a data file of R. Write the table in R: write.csv(",
    ),
    "rds": ("p.rds", gzip.compress(b"X\n\0\0\0\3"), "this is a data file of R."),
    "numpy": (
        "p.npy",
        written(lambda path: np.save(path, np.zeros(3)), "q.npy"),
        "this is an array of NumPy. Write it as Parquet",
    ),
    "json as csv": (
        "p.csv",
        json.dumps([{"a": 1}]).encode(),
        "this is JSON (.json), whatever its ending says. Rename it to p.json.",
    ),
    "hdf5": ("p.csv", b"\x89HDF\r\n\x1a\n", "this is an HDF5 file. Write the table in it as Parquet."),
    "text as xlsx": (
        "p.xlsx",
        b"a,b\n1,2\n",
        "this is not an Excel workbook, whatever its ending says: it is plain text. Rename it to .csv if",
    ),
    "text as dta": (
        "p.dta",
        b"a,b\n1,2\n",
        "this is not a Stata file, whatever its ending says: it is plain text.",
    ),
    "empty xlsx": (
        "p.xlsx",
        b"",
        "this is not an Excel workbook, whatever its ending says: it is empty. Ask for the file again.",
    ),
    "noise as xlsx": (
        "p.xlsx",
        bytes(range(200, 256)),
        "whatever its ending says: its first bytes are of no known kind. Ask for the file again.",
    ),
    "noise as csv": (
        "p.csv",
        struct.pack("<8d", *range(8)) + b"\xff\xfe",
        "this is no CSV file, but a binary one of no known kind. Export",
    ),
    "zeros": ("p.csv", b"\0" * 1000, "this is no CSV file, but a binary one of no known kind. Export"),
    "utf-16 without its mark": (
        "p.csv",
        "age,sex\n30,female\n".encode("utf-16-le"),
        'this looks like UTF-16 text without its mark. Say which encoding the file has: encoding = "utf-16-le" under [csv] in the schema',
    ),
    "latin-1": (
        "p.csv",
        "name\nJosé\n".encode("latin-1"),
        "p.csv, line 2, byte 4 of the line: 0xE9 is not UTF-8 (near 'Jos\\\\xe9\\n'). Say which encoding the file has: "
        'encoding = "cp1252" under [csv] in the schema, sudare init --encoding cp1252, or in Python csv=CsvFormat(encoding="cp1252"),'
        " if that is what it is, or export it as UTF-8.",
    ),
    "one JSON object": (
        "p.json",
        b'{"data":\n [{"a": 1}]}',
        "this is one JSON object, and a table is an array of them: [{...}, {...}].",
    ),
    "a FHIR bundle": (
        "p.json",
        b'{"id": "1",\n "resourceType" : "Bundle",\n "entry": []}',
        "this is a FHIR bundle, whose resources refer to each other. Make one row of each patient first",
    ),
    "a FHIR bundle on one line": ("p.json", b'{"resourceType":"Bundle","entry":[]}', "this is a FHIR bundle"),
    "a JSON number": ("p.json", b"5", "this is no JSON array of objects: it must begin with [."),
    "an array of numbers": ("p.json", b"[1, 2]", "the array has 1 in it, and must have objects alone"),
}


@pytest.mark.parametrize("kind", WRONG)
def test_a_wrong_file(tmp_path: Path, kind: str) -> None:
    name, content, sentence = WRONG[kind]
    path = tmp_path / name
    made = content if isinstance(content, bytes) else content(tmp_path)
    path.write_bytes(made)
    with pytest.raises(sd.InputError) as refused:
        sd.read(path)
    assert sentence in str(refused.value)
    assert name in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_file_that_begins_as_another_kind_in_its_text(tmp_path: Path) -> None:
    """What begins with letters of a kind's mark, but is text, is read."""
    for name in ("ORCID", "BZh", "PAR1", "GIF8", "MZ", "<id>", "[x]"):
        text = f"{name},b\n1,2\n"
        (tmp_path / "p.csv").write_text(text)
        assert len(sd.read(tmp_path / "p.csv").columns) == 2


def test_utf_32_with_its_mark(tmp_path: Path) -> None:
    (tmp_path / "p.csv").write_bytes("name\nJosé\n".encode("utf-32"))
    assert sd.read(tmp_path / "p.csv").frame().rows() == [("José",)]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
@pytest.mark.parametrize("name", ["people.csv", "people.json", "people.xlsx", "people.zip"])
def test_a_pipe_is_refused_and_not_waited_for(name: str, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / name)

    with pytest.raises(sd.InputError, match="is no plain file"):
        sd.read(tmp_path / name)
