"""What is handed over, file by file: which files may be there, whether they are what was certified, what they hold.

Every file is read; nothing is taken on trust because it lies beside something that was checked.
"""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from sudare.errors import InputError, RequirementError
from sudare.privacy.certificate import Certificate
from sudare.tables.exact import exact
from sudare.tables.folders import CERTIFICATE, LAW
from sudare.tables.outputs import BROKEN, column_names, is_csv, is_written_as, read_runs, write_parquet
from sudare.tables.runs import PublishedRows, Runs
from sudare.tables.schema import Schema
from sudare.tables.spreadsheets import guarded, unguarded
from sudare.tables.text import listed
from sudare.tables.text_files import parse_json, read_bytes
from sudare.verification.columns import refuse_columns

DATA_ENDINGS = (".parquet", ".csv")
OTHER_VERSION = (
    "{} was written by polars {}, and here is {}: whether it holds bytes beside its rows was not looked at. Verify it with that "
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

    @property
    def runs(self) -> Runs:
        """All rows, counted; those of a file stand in its order."""
        return self.rows.runs()

    def counted(self, names: Sequence[str]) -> Runs:
        """Return how often rows occur in some columns; without names, all rows are alike."""
        return self.rows.counted(names) if names else Runs(_one_row(), pl.Series([self.rows.height]))

    def values(self, name: str) -> pl.Series:
        """Return what a column holds; equal values may stand there several times."""
        return self.meant(self.rows.counted([name]).rows[name])

    def meant(self, column: pl.Series) -> pl.Series:
        """Return what the values of a column mean: in a CSV file, without what guards them in a spreadsheet."""
        return unguarded(column) if self.from_csv else column


def _one_row() -> pl.DataFrame:
    return pl.DataFrame({"all": [0]})


def open_table(output: pl.DataFrame | PublishedRows | Path, schema: Schema) -> PublishedTable:
    """Take a frame, or read a file, and refuse columns and types that must not be published."""
    if isinstance(output, pl.DataFrame | PublishedRows):
        refuse_columns(output.columns, schema)
        table = PublishedTable("The output", Runs.of(output) if isinstance(output, pl.DataFrame) else output)
    else:
        refuse_columns(column_names(output), schema, output.name)
        table = PublishedTable(output.name, read_runs(output), is_csv(output))
        if not table.from_csv:
            _refuse_more_than_rows(output, table)
    if table.rows.height == 0:
        raise InputError(f"{table.where} is empty; there is nothing to verify.")
    for name in table.columns:
        exact(table.values(name))  # refuses what cannot be compared
    return table


def _refuse_more_than_rows(path: Path, table: PublishedTable) -> None:
    """Refuse what a Parquet file says beside its rows: notes of its writer, and values that no row has."""
    try:
        notes = [key for key in pl.read_parquet_metadata(path) if key != "ARROW:schema"]
    except BROKEN as error:
        raise InputError(f"{path}: the output cannot be read: {error}.") from None
    if notes:
        raise RequirementError(
            f"{path.name} has notes beside its rows: {listed(notes)}. They may reveal something about the original. Write the file "
            "without them."
        )
    for column in map(table.values, table.columns):
        if isinstance(column.dtype, pl.Enum):
            unused = set(column.dtype.categories) - set(column.cast(pl.String).drop_nulls())
            if unused:
                raise RequirementError(
                    f"{path.name}: the type of column '{column.name}' lists {len(unused):,} values that no row has. They "
                    "may be those of people who were left out. Publish it as text."
                )
        elif isinstance(column.dtype, pl.Categorical):
            raise RequirementError(
                f"{path.name}: column '{column.name}' is categorical, and such a file may list values that no row has. "
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
        if path.is_symlink() or not path.is_file():
            kind = "a link" if path.is_symlink() else "a folder" if path.is_dir() else "not a plain file"
            raise RequirementError(f"{path} is {kind}. Only plain files are handed over. Take it out.")
        if path.name not in (CERTIFICATE, LAW) and path.suffix not in DATA_ENDINGS:
            raise RequirementError(
                f"{path} is no part of a release: it is neither data ({', '.join(DATA_ENDINGS)}), {LAW} nor {CERTIFICATE}. Take "
                "it out, or name the file that you want verified."
            )
    return {path.name: path for path in paths}


def refuse_changed(files: Mapping[str, Path], certificate: Certificate) -> None:
    """Refuse a folder whose files are not exactly those that were certified."""
    for name in certificate.output:
        if name not in files:
            raise RequirementError(
                f"'{name}' is missing: the certificate names it. Ask for the folder again."
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


def tables_in(files: Mapping[str, Path]) -> dict[str, list[Path]]:
    """Return the files that hold tables, by the table's name; a Parquet file is the first of its table."""
    tables: dict[str, list[Path]] = {}
    for ending in DATA_ENDINGS:
        for path in files.values():
            if path.suffix == ending:
                tables.setdefault(path.stem, []).append(path)
    return tables


def open_copies(paths: Sequence[Path], schema: Schema) -> list[PublishedTable]:
    """Read all files that hold one table, and refuse those that do not have the same rows."""
    first, *others = paths
    table = open_table(first, schema)
    return [table, *(_open_copy(table, path, schema) for path in others)]


def _open_copy(parquet: PublishedTable, path: Path, schema: Schema) -> PublishedTable:
    """Read the CSV file of a table that stands in a Parquet file, too."""
    try:
        text = io.BytesIO(guarded(parquet.runs.rows).write_csv().encode())
        written = pl.read_csv(text, infer_schema=False)
    except BROKEN as error:
        raise InputError(f"{parquet.where} cannot be compared with {path.name}: {error}.") from None
    written.columns = parquet.columns
    rows = Runs(written, parquet.runs.lengths)
    refuse_columns(column_names(path), schema, path.name)
    if not is_written_as(path, parquet.runs) and not rows.frame().equals(
        open_table(path, schema).runs.frame()
    ):
        raise RequirementError(
            f"{path.name} does not have the same rows as {parquet.where}. Write both from one table."
        )
    return PublishedTable(path.name, rows, from_csv=True)


def refuse_order(table: PublishedTable) -> None:
    """Refuse rows that do not stand in the order of their values: any other order may reveal who stood where."""
    frame = table.runs.rows
    if not table.from_csv and not frame.equals(frame.sort(frame.columns, nulls_last=True)):
        raise RequirementError(
            f"The rows of {table.where} do not stand in the order of their values. Their order may reveal whose they are. Sort "
            "them by all columns."
        )


def refuse_other_bytes(path: Path, runs: Runs, written_by: str | None) -> str:
    """Refuse a file that is not byte by byte what a release writes for these rows: whatever else it has may reveal more.

    Another version of polars may write the same rows otherwise. Then only the notes of the Parquet file are compared, and
    what was not is returned as a note; else the note is empty.
    """
    note = ""
    if is_csv(path):
        alike = is_written_as(path, runs)
    else:
        fresh = io.BytesIO()
        write_parquet(runs, fresh)
        if written_by == pl.__version__:
            alike = _bytes(path) == fresh.getvalue()
        else:
            fresh.seek(0)
            alike = pl.read_parquet_metadata(path) == pl.read_parquet_metadata(fresh)
            note = OTHER_VERSION.format(path.name, written_by, pl.__version__)
    if not alike:
        raise RequirementError(
            f"{path.name} has other bytes than a release writes for its rows. They may reveal something about the original. Write the "
            "file again."
        )
    return note


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(f"{path}: the file cannot be read: {error.strerror}.") from None


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
