"""What a file is by its first bytes, whatever its ending says: one clear sentence for each that is something else."""

from __future__ import annotations

import gzip
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from sudare.errors import InputError
from sudare.tables.archives import BROKEN

HEAD = 4096  # bytes that are looked at
OLE_HEAD = 2**20  # of an old Office file, whose parts may be named anywhere

EXPORT = "Export the table as .xlsx, .csv or .parquet"
SAVE_AS = "Open it in a spreadsheet program and save it as .xlsx"
UNPACK = "Unpack it, and name the file that comes out"


@dataclass(frozen=True)
class FileKind:
    """A kind of file: what it is called, with which endings it is read, and what to do if it is not read at all."""

    name: str
    endings: tuple[str, ...] = ()
    advice: str = EXPORT


WORKBOOK = FileKind("an Excel workbook", (".xlsx", ".xlsm"))
ODS = FileKind("an OpenDocument spreadsheet", (".ods",))
ZIP = FileKind("a zip archive", (".zip",))
GZIP = FileKind("a gzipped file", (".gz",))
JSON = FileKind("JSON", (".json", ".jsonl", ".ndjson"))
PROTECTED = FileKind(
    "an Office file that is protected by a password",
    advice="Open it, take the password off, and save it as .xlsx",
)
OLD_EXCEL = FileKind("an Excel workbook of the form before 2007 (.xls)", advice=SAVE_AS)
OLD_OFFICE = FileKind("an Office file of the form before 2007", advice=EXPORT)
R_DATA = FileKind(
    "a data file of R", advice="Write the table in R: write.csv(people, 'people.csv', row.names = FALSE)"
)
TAR = FileKind("a tar archive", advice=UNPACK)
HTML = FileKind("an HTML page", advice=SAVE_AS)

BEGINNINGS: tuple[tuple[bytes, FileKind], ...] = (
    (b"PAR1", FileKind("a Parquet file", (".parquet", ".pq"))),
    (b"ARROW1", FileKind("an Arrow file", (".arrow", ".feather", ".ipc"))),
    (b"FEA1", FileKind("a Feather file of the first version", advice="Write it again as Parquet")),
    (b"<stata_dta>", FileKind("a Stata file", (".dta",))),
    (b"$FL2", FileKind("an SPSS file", (".sav",))),
    (b"$FL3", FileKind("a packed SPSS file", (".zsav",))),
    (
        b"\0" * 12 + bytes.fromhex("c2ea8160b31411cfbd92080009c7318c181f1011"),
        FileKind("a SAS file", (".sas7bdat",)),
    ),
    (b"HEADER RECORD*******LIB", FileKind("a SAS transport file", (".xpt",))),
    (
        b"SQLite format 3\0",
        FileKind("an SQLite database", advice="Read it by its URL: sqlite:///FILE?table=NAME"),
    ),
    (
        b"%PDF-",
        FileKind(
            "a PDF document",
            advice="A page has no table that can be read. Ask for the table as .xlsx or .csv",
        ),
    ),
    (b"\x89PNG\r\n", FileKind("a picture (PNG)")),
    (b"\xff\xd8\xff", FileKind("a picture (JPEG)")),
    (b"GIF8", FileKind("a picture (GIF)")),
    (b"II*\0", FileKind("a picture (TIFF)")),
    (b"MM\0*", FileKind("a picture (TIFF)")),
    (b"{\\rtf", FileKind("a text document (RTF)")),
    (b"BZh", FileKind("a file packed with bzip2", advice=UNPACK)),
    (b"\xfd7zXZ\0", FileKind("a file packed with xz", advice=UNPACK)),
    (b"\x28\xb5\x2f\xfd", FileKind("a file packed with zstd", advice=UNPACK)),
    (b"7z\xbc\xaf\x27\x1c", FileKind("a 7-Zip archive", advice=UNPACK)),
    (b"Rar!\x1a\x07", FileKind("a RAR archive", advice=UNPACK)),
    (b"ORC", FileKind("an ORC file", advice="Write it again as Parquet")),
    (b"Obj\x01", FileKind("an Avro file", advice="Write it again as Parquet")),
    (b"\x89HDF\r\n\x1a\n", FileKind("an HDF5 file", advice="Write the table in it as Parquet")),
    (b"\x93NUMPY", FileKind("an array of NumPy", advice="Write it as Parquet, with a name for every column")),
    (
        b"MATLAB ",
        FileKind(
            "a data file of MATLAB", advice="Write the table in MATLAB: writetable(people, 'people.csv')"
        ),
    ),
    (b"RDX2\n", R_DATA),
    (b"RDX3\n", R_DATA),
    (b"RDA2\n", R_DATA),
    (b"RDA3\n", R_DATA),
    (b"\x7fELF", FileKind("a program")),
    (b"MZ\x90\0", FileKind("a program")),
)
PICKLED = FileKind(
    "a pickle of Python, which can run anything when it is opened",
    advice="Never open one from others. Write the frame as Parquet: frame.to_parquet('people.parquet')",
)
DUCKDB = FileKind("a DuckDB database", advice="Read it by its URL: duckdb:///FILE?table=NAME")
XML = FileKind("an XML file")
OLD_STATA = FileKind("a Stata file", (".dta",))


def refuse_other_kind(path: Path, *endings: str) -> None:
    """Refuse a file whose first bytes say that it is not of a kind with these endings; what says nothing may be text.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "people.csv"
    >>> _ = path.write_bytes(b"%PDF-1.7")
    >>> refuse_other_kind(path, ".csv")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    sudare.errors.InputError: ...people.csv: this is a PDF document. A page has no table that can be read. Ask for the table as .xlsx or .csv.
    """
    kind = kind_of(path)
    if kind is None or any(ending in kind.endings for ending in endings):
        return
    if kind.endings:
        ending = kind.endings[0]
        raise InputError(
            f"{path}: this is {kind.name} ({ending}), whatever its ending says. Rename it to {path.stem}{ending}."
        )
    raise InputError(f"{path}: this is {kind.name}. {kind.advice}.")


def refuse_text(path: Path, what: str) -> None:
    """Refuse a file of which no kind is known where it should be `what`, which always begins as its kind does."""
    if kind_of(path) is None:
        head = _head(path, HEAD)
        is_text = b"\0" not in head and head.isascii()
        found = (
            "it is empty"
            if not head
            else "it is plain text"
            if is_text
            else "its first bytes are of no known kind"
        )
        advice = "Rename it to .csv if that is what it is" if head and is_text else "Ask for the file again"
        raise InputError(f"{path}: this is not {what}, whatever its ending says: {found}. {advice}.")


def kind_of(path: Path) -> FileKind | None:
    """Return what a file is, as far as its first bytes tell."""
    head = _head(path, HEAD)
    is_text = not any(sign in head for sign in range(9))
    for beginning, kind in BEGINNINGS:
        is_word = beginning.replace(b" ", b"").isalnum()  # with which a text can begin, too: ORCID, PAR1
        if head.startswith(beginning) and not (is_word and is_text):
            return kind
    if head.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return _in_zip(path)
    return next((kind for is_so, kind in LOOKS if is_so(head)), None) or _in_parts(path, head)


def _in_parts(path: Path, head: bytes) -> FileKind | None:
    if head.startswith(bytes.fromhex("d0cf11e0a1b11ae1")):
        return _in_ole(_head(path, OLE_HEAD))
    return _in_gzip(path) if head.startswith(b"\x1f\x8b") else None


def _head(path: Path, most: int) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(most)
    except (OSError, ValueError) as error:  # a path with a NUL character is a ValueError
        raise InputError(
            f"{path}: the file cannot be read: {getattr(error, 'strerror', None) or error}."
        ) from None


def _looks_like_html(head: bytes) -> bool:
    return _opening(head).startswith((b"<!doctype html", b"<html", b"<table", b"<head"))


def _looks_like_json(head: bytes) -> bool:
    opening = b"".join(_opening(head).split())
    return opening.startswith((b"[{", b'{"')) and b":" in opening


def _opening(head: bytes) -> bytes:
    return head.removeprefix(b"\xef\xbb\xbf").lstrip().lower()


def _is_pickled(head: bytes) -> bool:
    # Of protocol 2 and later: the number, and then a frame, or a name, a tuple, a dictionary, ...
    return head[:1] == b"\x80" and head[1:2] in b"\x02\x03\x04\x05" and head[2:3] in b"\x95c}](\x8c\x58"


def _is_old_stata(head: bytes) -> bool:
    # The version, the order of bytes, the kind of file, and a byte that is not used.
    return (
        len(head) > 4 and head[0] in range(104, 116) and head[1] in (1, 2) and head[2] == 1 and head[3] == 0
    )


LOOKS: tuple[tuple[Callable[[bytes], bool], FileKind], ...] = (
    (_is_pickled, PICKLED),
    (_is_old_stata, OLD_STATA),
    (lambda head: head[8:12] == b"DUCK", DUCKDB),
    (lambda head: head[257:262] == b"ustar", TAR),
    (_looks_like_html, HTML),
    (lambda head: _opening(head).startswith(b"<?xml"), XML),
    (_looks_like_json, JSON),
)


def _in_zip(path: Path) -> FileKind:
    """Tell by its parts what a zip archive is."""
    try:
        with zipfile.ZipFile(path) as archive:
            names = set(archive.namelist())
            mimetype = archive.open("mimetype").read(100) if "mimetype" in names else b""
    except BROKEN:
        return ZIP
    if "xl/workbook.xml" in names:
        return WORKBOOK
    if "xl/workbook.bin" in names:
        return FileKind("a binary Excel workbook (.xlsb)", advice=SAVE_AS)
    if mimetype.startswith(b"application/vnd.oasis.opendocument.spreadsheet"):
        return ODS
    if mimetype.startswith(b"application/vnd.oasis.opendocument") or names & {
        "word/document.xml",
        "ppt/presentation.xml",
    }:
        return FileKind(
            "an Office document that is no spreadsheet",
            advice="Copy its table into a spreadsheet, and save it as .xlsx",
        )
    if any(name.endswith(".iwa") for name in names):
        return FileKind("a document of Apple's Numbers or Pages", advice="Export it as .xlsx")
    return ZIP


def _in_ole(content: bytes) -> FileKind:
    """Tell by the names of its parts, which are in UTF-16, what an old Office file is."""

    def has(part: str) -> bool:
        return part.encode("utf-16-le") in content

    if has("EncryptedPackage"):
        return PROTECTED
    return OLD_EXCEL if has("Workbook") or has("Book") else OLD_OFFICE


def _in_gzip(path: Path) -> FileKind:
    try:
        with gzip.open(path) as file:
            head = file.read(512)
    except (OSError, EOFError, zlib.error):
        return GZIP
    if head.startswith((b"RDX", b"RDA", b"X\n\0\0\0")):
        return R_DATA
    return TAR if head[257:262] == b"ustar" else GZIP
