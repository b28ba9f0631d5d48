"""What is handed over, file by file: which files may be there, whether they are what was certified, what they hold.

Every file is read; nothing is taken on trust because it lies beside something that was checked.
"""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import polars as pl

from sudare.engines.sources import Asked, frame_of
from sudare.errors import InputError, RequirementError
from sudare.privacy.certificate import Certificate
from sudare.tables.copies import COPY_ENDINGS, LABELLED, is_copy_of, labels_of
from sudare.tables.csv_rows import CsvRows, as_meant
from sudare.tables.exact import exact
from sudare.tables.file_rows import FileRows
from sudare.tables.folders import CERTIFICATE, LAW
from sudare.tables.outputs import BROKEN, column_names, is_csv, is_written_as, write_parquet
from sudare.tables.parts import in_parts, part_names, tables_of
from sudare.tables.runs import PublishedRows, Runs
from sudare.tables.schema import Schema
from sudare.tables.spreadsheets import unguarded
from sudare.tables.text import listed
from sudare.tables.text_files import parse_json, read_bytes
from sudare.verification.columns import refuse_columns
from sudare.verification.csv_copies import as_csv

DATA_ENDINGS = (".parquet", ".csv", *COPY_ENDINGS)
READ = 2**20  # bytes at a time
OTHER_VERSION = (
    "{} was written by {}, and here is {}: whether it holds bytes beside its rows was not looked at. Verify it with that "
    "version"
)


@dataclass(frozen=True, eq=False)
class PublishedTable:
    """One published table: a frame, or what a file holds, its values as a receiver can distinguish them."""

    where: str
    rows: PublishedRows
    from_csv: bool = False

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return self.rows.columns

    def counted(self, names: Sequence[str]) -> Runs:
        """Return how often rows occur in some columns; without names, all rows are alike."""
        return self.rows.counted(names) if names else Runs(_one_row(), pl.Series([self.rows.height]))

    def pieces(self, names: Sequence[str], together: Sequence[str]) -> Iterator[Runs]:
        """Count rows by some columns; those that are alike in the columns `together` come in one piece."""
        return self.rows.pieces(names, together) if names else iter([self.counted(names)])

    def values(self, name: str) -> pl.Series:
        """Return what a column holds; equal values may stand there several times."""
        return self.meant(self.rows.counted([name]).rows[name])

    def meant(self, column: pl.Series) -> pl.Series:
        """Return what the values of a column mean: in a CSV file, without what guards them in a spreadsheet."""
        return unguarded(column) if self.from_csv else column


def _one_row() -> pl.DataFrame:
    return pl.DataFrame({"all": [0]})


def open_table(output: pl.DataFrame | PublishedRows | Sequence[Path], schema: Schema) -> PublishedTable:
    """Take a frame, or open the files of a table, and refuse columns and types that must not be published."""
    if isinstance(output, pl.DataFrame | PublishedRows):
        refuse_columns(output.columns, schema)
        table = PublishedTable("The output", Runs.of(output) if isinstance(output, pl.DataFrame) else output)
    elif output[0].suffix in COPY_ENDINGS:
        table = _open_single_copy(output[0], schema)
    elif is_csv(output[0]):
        refuse_columns(column_names(output[0]), schema, output[0].name)
        table = PublishedTable(output[0].name, CsvRows(output[0]), from_csv=True)
    else:
        rows = FileRows(output)
        table = PublishedTable(
            " to ".join(path.name for path in dict.fromkeys((output[0], output[-1]))), rows
        )
        refuse_columns(rows.columns, schema, table.where)
        _refuse_more_than_rows(rows, table)
    if table.rows.height == 0:
        raise InputError(f"{table.where} is empty; there is nothing to verify.")
    for name in table.columns:
        exact(table.values(name))  # refuses what cannot be compared
    return table


def _open_single_copy(path: Path, schema: Schema) -> PublishedTable:
    """Open a copy that lies there without the Parquet files of its table."""
    frame, _ = frame_of(path, Asked.of(schema, None, None))
    refuse_columns(frame.columns, schema, path.name)
    rows = Runs.of(frame)
    if not is_copy_of(path, rows, labels_of(schema, [rows])):
        raise _other_bytes(path)
    return PublishedTable(path.name, rows)


def _refuse_more_than_rows(rows: FileRows, table: PublishedTable) -> None:
    """Refuse what Parquet files say beside their rows: notes of their writer, and values that no row has."""
    for path in rows.paths:
        try:
            notes = [key for key in pl.read_parquet_metadata(path) if key != "ARROW:schema"]
        except BROKEN as error:
            raise InputError(f"{path}: the output cannot be read: {error}.") from None
        if notes:
            raise RequirementError(
                f"{path.name} has notes beside its rows: {listed(notes)}. They may reveal something about the original. Write "
                "the file without them."
            )
    for name, dtype in rows.schema.items():
        if isinstance(dtype, pl.Enum):
            unused = set(dtype.categories) - set(table.values(name).cast(pl.String).drop_nulls())
            if unused:
                raise RequirementError(
                    f"{table.where}: the type of column '{name}' lists {len(unused):,} values that no row has. They "
                    "may be those of people who were left out. Publish it as text."
                )
        elif isinstance(dtype, pl.Categorical):
            raise RequirementError(
                f"{table.where}: column '{name}' is categorical, and such a file may list values that no row has. "
                "Publish it as text."
            )


# -- A folder ----------------------------------------------------------------------------------------


def files_in(folder: Path) -> dict[str, Path]:
    """Return the files of a folder that is handed over, by name; refuse what should not be there."""
    try:
        paths = sorted(folder.iterdir())
    except OSError as error:
        raise InputError(f"{folder}: the folder cannot be read: {error.strerror}.") from None
    for path in paths:
        refuse_unplain(path)
        if path.name not in (CERTIFICATE, LAW) and path.suffix not in DATA_ENDINGS:
            raise RequirementError(
                f"{path} is no part of a release: it is neither data ({', '.join(DATA_ENDINGS)}), {LAW} nor {CERTIFICATE}. Take "
                "it out, or name the file that you want verified."
            )
    return {path.name: path for path in paths}


def refuse_unplain(path: Path) -> None:
    """Refuse what is no plain file."""
    if path.is_symlink() or not path.is_file():
        kind = "a link" if path.is_symlink() else "a folder" if path.is_dir() else "not a plain file"
        raise RequirementError(f"{path} is {kind}. Only plain files are handed over. Take it out.")


def refuse_changed(files: Mapping[str, Path], certificate: Certificate) -> None:
    """Refuse a folder whose files are not exactly those that were certified."""
    for name in certificate.output:
        if name not in files:
            of_views = any(
                promise.get("requirement") == "MultiViewDiversity" for promise in certificate.promises
            )
            one_view = (
                ", or verify the view that you were given by its file: verify hand-over/VIEW.parquet"
                if of_views
                else ""
            )
            raise RequirementError(
                f"'{name}' is missing: the certificate names it. Ask for the folder again{one_view}."
            )
    for name, path in files.items():
        if name == CERTIFICATE:
            continue
        if name not in certificate.output:
            raise RequirementError(f"{path} is not named by the certificate. Take it out.")
        if _sha256(path) != certificate.output[name]:
            raise RequirementError(
                f"{path} is not the file that was certified: its hash differs. Ask for it again."
            )


def refuse_rewritten(
    files: Mapping[str, Path], tables: Mapping[str, list[PublishedTable]], versions: Mapping[str, str]
) -> list[str]:
    """Refuse an order of rows, or bytes, that a release does not write; return what could not be compared."""
    notes = []
    for name, copies in tables_in(files).items():
        table = tables[name][0]
        rows = table.rows
        if table.from_csv:
            rows = as_meant(rows)
        else:
            refuse_order(table)
        notes += [refuse_other_files(name, paths, rows, versions.get("polars")) for paths in copies]
    return notes


def tables_in(files: Mapping[str, Path]) -> dict[str, list[list[Path]]]:
    """Return the files of each table, by its name, for each copy of it: the parts of the Parquet one first."""
    tables = {name: [parts] for name, parts in tables_of(files.values()).items()}
    for path in files.values():
        if path.suffix == ".csv":
            tables.setdefault(path.stem, []).append([path])
    return tables


def refuse_other_copies(
    files: Mapping[str, Path],
    tables: Mapping[str, list[PublishedTable]],
    schema: Schema,
    versions: Mapping[str, str],
) -> list[str]:
    """Refuse copies in other formats that are not what a release writes for the rows of their table; return what was not compared.

    Such a copy keeps apart whatever the table does, and has nothing else: so what the table promises, it does.
    """
    notes = []
    for path in files.values():
        if path.suffix not in COPY_ENDINGS or path.name in (CERTIFICATE, LAW):
            continue
        if path.stem not in tables or tables[path.stem][0].from_csv:
            raise RequirementError(
                f"{path.name} lies there without the Parquet files of its table, which it is a copy of. Ask for the folder again."
            )
        rows = tables[path.stem][0].rows
        here, there = _version("pyreadstat"), versions.get("pyreadstat")
        same_writer = path.suffix not in LABELLED or there in (None, here)
        if not is_copy_of(path, rows, labels_of(schema, [rows]), to_the_byte=same_writer):
            raise _other_bytes(path)
        if not same_writer:
            notes.append(OTHER_VERSION.format(path.name, f"pyreadstat {there}", here))
    return notes


def _version(library: str) -> str | None:
    try:
        return version(library)
    except PackageNotFoundError:
        return None


def open_copies(copies: Sequence[Sequence[Path]], schema: Schema) -> list[PublishedTable]:
    """Open all copies of one table, and refuse those that do not have the same rows."""
    first, *others = copies
    table = open_table(first, schema)
    return [table, *(_open_copy(table, path, schema) for (path,) in others)]


def _open_copy(parquet: PublishedTable, path: Path, schema: Schema) -> PublishedTable:
    """Open the CSV file of a table that stands in Parquet files, too."""
    refuse_columns(column_names(path), schema, path.name)
    rows = as_csv(parquet.rows)
    if not is_written_as(path, parquet.rows) and not rows.frame().equals(
        open_table([path], schema).rows.frame()
    ):
        raise RequirementError(
            f"{path.name} does not have the same rows as {parquet.where}. Write both from one table."
        )
    return PublishedTable(path.name, rows, from_csv=True)


def refuse_order(table: PublishedTable) -> None:
    """Refuse rows that do not stand in the order of their values: any other order may reveal who stood where."""
    before = None
    for part in table.rows.parts():
        frame = part.rows if before is None else pl.concat([before, part.rows])
        if not frame.equals(frame.sort(pl.all(), nulls_last=True)):
            raise RequirementError(
                f"The rows of {table.where} do not stand in the order of their values. Their order may reveal whose they are. "
                "Sort them by all columns."
            )
        before = frame[-1:]


def refuse_other_files(name: str, paths: Sequence[Path], rows: PublishedRows, written_by: str | None) -> str:
    """Refuse files that are not those that a release writes for these rows; return what was not compared, or nothing."""
    if is_csv(paths[0]):
        if not is_written_as(paths[0], rows):
            raise _other_bytes(paths[0])
        return ""
    if [path.name for path in paths] != part_names(name, rows.height):
        raise RequirementError(
            f"{paths[-1].name} is not cut into the parts that a release writes for its rows. Write the files again."
        )
    parts = zip(paths, in_parts(rows), strict=True)
    notes = [refuse_other_bytes(path, part, written_by) for path, part in parts]
    return notes[0]  # those of the other parts say the same


def refuse_other_bytes(path: Path, part: Runs, written_by: str | None) -> str:
    """Refuse a Parquet file with other bytes than a release writes for these rows: whatever else it has may reveal more.

    Another version of polars may write the same rows otherwise. Then only the notes of the file are compared, and
    what was not is returned as a note; else the note is empty.
    """
    note, fresh = "", io.BytesIO()
    write_parquet(part, fresh)
    fresh.seek(0)
    if written_by == pl.__version__:
        alike = _has_bytes(path, fresh)
    else:
        alike = pl.read_parquet_metadata(path) == pl.read_parquet_metadata(fresh)
        note = OTHER_VERSION.format(path.name, f"polars {written_by}", pl.__version__)
    if not alike:
        raise _other_bytes(path)
    return note


def _other_bytes(path: Path) -> RequirementError:
    return RequirementError(
        f"{path.name} has other bytes than a release writes for its rows. They may reveal something about the original. Write the "
        "file again."
    )


def _has_bytes(path: Path, fresh: io.BytesIO) -> bool:
    try:
        with path.open("rb") as file:
            while (some := file.read(READ)) == fresh.read(READ):
                if not some:
                    return True
    except OSError as error:
        raise InputError(f"{path}: the file cannot be read: {error.strerror}.") from None
    return False


def refuse_other_json(path: Path) -> None:
    """Refuse a JSON file that is not written as a release writes it: blanks and spellings could carry information, too."""
    content = read_bytes(path, "a file of the release")
    written = json.dumps(parse_json(content, str(path)), indent=2, ensure_ascii=False) + "\n"
    if content != written.encode("utf-8", "surrogatepass"):
        raise RequirementError(f"{path} is not written as a release writes it. Ask for the folder again.")


def _sha256(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise InputError(f"{path}: the file cannot be read: {error.strerror}.") from None
