"""Files of Stata and SPSS that hold one table, the labels that were declared for it, and nothing else."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl

from sudare.errors import InputError
from sudare.tables.databases import load_extra
from sudare.tables.kept_values import DTA, SAV, Keeps, kept
from sudare.tables.labels import Labels, used_codes
from sudare.tables.runs import Runs
from sudare.tables.text import spelled

INT_32 = 2_147_483_620  # of Stata: larger ones stand for missing values
STATA_14 = 14  # the oldest version whose files are in UTF-8
DTA_TIME = re.compile(rb"<timestamp>\x11[^<]{17}</timestamp>")
DTA_NO_TIME = b"<timestamp>\x1101 Jan 1980 00:00</timestamp>"
SAV_TIME, SAV_NO_TIME = slice(92, 109), b"01 Jan 8000:00:00"
RESERVED = {
    ".dta": "_all _b byte _coef _cons double float if in int long _n _N _pi _pred _rc _skip str strL using with".split(),
    ".sav": "ALL AND BY EQ GE GT LE LT NE NOT OR TO WITH".split(),
}
LONGEST = {".dta": (32, "characters"), ".sav": (64, "bytes")}


def write_dta(runs: Runs, labels: Labels, to: Path) -> None:
    """Write a table as a Stata file."""
    pyreadstat = load_extra("pyreadstat", "Writing .dta files", "files")
    frame, described = _described(runs, labels, DTA, to)
    pyreadstat.write_dta(frame, str(to), version=STATA_14, **described)
    content = to.read_bytes()
    to.write_bytes(DTA_TIME.sub(DTA_NO_TIME, content, count=1))


def write_sav(runs: Runs, labels: Labels, to: Path) -> None:
    """Write a table as an SPSS file."""
    pyreadstat = load_extra("pyreadstat", "Writing .sav files", "files")
    frame, described = _described(runs, labels, SAV, to)
    whole = {column.name: "F8.0" for column in frame.iter_columns() if column.dtype.is_integer()}
    pyreadstat.write_sav(frame, str(to), variable_format=whole, **described)
    content = bytearray(to.read_bytes())
    content[SAV_TIME] = SAV_NO_TIME
    to.write_bytes(content)


def _described(runs: Runs, labels: Labels, format: Keeps, to: Path) -> tuple[pl.DataFrame, dict[str, Any]]:
    """Return the rows as they are written, and the labels of their columns and codes, under the names that the program has."""
    names = program_names(runs.columns, to)
    rows = pl.DataFrame(
        [_typed(kept(column, format, to)).alias(names[column.name]) for column in runs.rows.iter_columns()]
    )
    own = {
        name: labels.columns.get(name) or (name if name != written else None)
        for name, written in names.items()
    }
    codes = {
        names[name]: known
        for name in runs.columns
        if (known := _codes(runs.rows[name], labels.codes.get(name, {})))
    }
    return Runs(rows, runs.lengths).frame(), {
        "column_labels": {names[name]: label for name, label in own.items() if label},
        "variable_value_labels": codes,
    }


def _codes(column: pl.Series, codes: Mapping[str, str]) -> dict[Any, str]:
    """Return the labels of the codes that are published, by their values."""
    labels = used_codes(column, codes)
    values = column.drop_nulls().unique().sort().to_list() if labels else []
    return {value: labels[spelled(value)] for value in values if spelled(value) in labels}


def _typed(column: pl.Series) -> pl.Series:
    if not column.dtype.is_integer():
        return column
    small = column.null_count() == len(column) or bool((column.abs() <= INT_32).all())
    return column.cast(pl.Int32 if small else pl.Float64)


def program_names(names: list[str], to: Path) -> dict[str, str]:
    """Return the names under which a program can have these columns: other signs than letters and digits become _.

    >>> program_names(["age", "marital-status"], Path("data.sav"))
    {'age': 'age', 'marital-status': 'marital_status'}
    """
    written = {name: re.sub(r"\W", "_", name) for name in names}
    longest, unit = LONGEST[to.suffix]
    for name, own in written.items():
        size = len(own.encode()) if unit == "bytes" else len(own)
        alike = [other for other in names if written[other].lower() == own.lower() and other != name]
        if size > longest or alike or not re.match(r"[^\W\d_]" if to.suffix == ".sav" else r"[^\W\d]", own):
            raise _unfit(name, to)
        if own in RESERVED[to.suffix] or (to.suffix == ".sav" and own.upper() in RESERVED[".sav"]):
            raise _unfit(name, to)
    return written


def _unfit(name: str, to: Path) -> InputError:
    longest, unit = LONGEST[to.suffix]
    return InputError(
        f"{to.name}: no column can be called '{name}' there: a name begins with a letter, has {longest} {unit} at most, and no "
        "other that looks like it. Rename the column in the source, or leave this format out."
    )
