"""Files of Stata, SPSS and SAS, with the labels of their columns and codes. They are read by ReadStat, apart (`apart.py`).

What such a program calls missing is missing: its system's own, those that the user declared (9 for "refused"), and Stata's
.a to .z. So is a text without signs, as these programs have it.
"""

from __future__ import annotations

import codecs
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl

from sudare.errors import InputError
from sudare.tables.apart import read_apart
from sudare.tables.databases import need_extra
from sudare.tables.file_kinds import refuse_other_kind, refuse_text
from sudare.tables.labels import Labels
from sudare.tables.numbers import whole_if_all_are
from sudare.tables.parquet_files import MAX_COLUMNS, refuse_bomb
from sudare.tables.text import listed, spelled

PROGRAMS = {
    ".dta": "a Stata file",
    ".sav": "an SPSS file",
    ".zsav": "a packed SPSS file",
    ".sas7bdat": "a SAS file",
    ".xpt": "a SAS transport file",
}
"""What is read, by its ending."""
PERIODS = ("%tw", "%tm", "%tq", "%th", "%ty", "%tb")
"""Stata's formats of what has no day: weeks, months, ..., which are counted from 1960."""
COARSE = ("MOYR", "QYR", "WKYR", "MONYY", "MMYY", "YYMM", "YYMON", "YYQ", "YEAR")
"""Formats of SPSS and SAS that show less of a day than the file has: a month, a quarter, a year."""


def read_statistics(path: Path, encoding: str | None) -> tuple[pl.DataFrame, Labels, tuple[str, ...]]:
    """Read a file of Stata, SPSS or SAS: its codes, their labels, and what is to be noted about it."""
    ending = path.suffix.lower()
    need_extra("pyreadstat", f"Reading {PROGRAMS[ending]}", "files")
    refuse_other_kind(path, ending)
    refuse_text(path, PROGRAMS[ending])
    frame, about = read_apart(with_readstat, path, encoding=encoding)
    return frame, Labels(about["columns"], about["codes"]), tuple(about["notes"])


def with_readstat(path: Path, encoding: str | None) -> tuple[pl.DataFrame, dict[str, Any]]:
    """Read a file here and now."""
    read, asked = _reader(path.suffix.lower()), {"encoding": _iconv(encoding, path), "output_format": "dict"}
    _, outline = _read(read, path, **asked, metadataonly=True)
    _check(path, outline)
    formats = {name: str(own or "") for name, own in outline.original_variable_types.items()}
    short = [own for own in formats.values() if own.startswith(COARSE)]
    columns, about = _read(read, path, **asked, extra_date_formats=short)
    frame = pl.DataFrame([_column(name, values, path) for name, values in columns.items()])
    codes = {
        name: {spelled(code): str(label) for code, label in labels.items()}
        for name, labels in (about.variable_value_labels or _catalogued(path, about)).items()
        if name in columns
    }
    notes = [
        f"column '{name}' has Stata's {form}: it is read as the number that is counted from 1960"
        for name, form in formats.items()
        if form.startswith(PERIODS)
    ]
    named = {name: label for name, label in about.column_names_to_labels.items() if label and name in columns}
    return frame, {"columns": named, "codes": codes, "notes": notes}


def _reader(ending: str) -> Callable[..., Any]:
    import pyreadstat

    readers: dict[str, Callable[..., Any]] = {
        ".dta": pyreadstat.read_dta,
        ".sav": pyreadstat.read_sav,
        ".zsav": pyreadstat.read_sav,
        ".sas7bdat": pyreadstat.read_sas7bdat,
        ".xpt": pyreadstat.read_xport,
    }
    return readers[ending]


def _read(read: Callable[..., Any], path: Path, **how: Any) -> Any:
    import pyreadstat

    try:
        return read(str(path), **how)
    except (pyreadstat.PyreadstatError, pyreadstat.ReadstatError) as error:
        reason = (str(error).strip().splitlines() or ["it is damaged"])[0].removesuffix(".")
        if "encoding" in reason:
            raise InputError(
                f"{path}: a text in it is not in the encoding {how.get('encoding') or 'that the file names, or that is usual for it'}. Say which "
                f'it has, such as "cp1252" or "shift_jis": in the schema, [csv] encoding = "...", or with sudare init --encoding.'
            ) from None
        raise InputError(f"{path}: the file cannot be read: {reason}. Ask for it again.") from None
    except (OverflowError, ValueError) as error:
        raise InputError(
            f"{path}: a date in it is beyond the years 1 to 9999: {error}. Make it missing, or another date."
        ) from None
    except TypeError:  # pyreadstat's own words for names that are missing
        raise InputError(f"{path}: the file cannot be read: it is damaged. Ask for it again.") from None


def _check(path: Path, outline: Any) -> None:
    """Refuse what says that it is far larger than its file, and columns of one name."""
    names = list(outline.column_names)
    try:
        refuse_bomb(path.stat().st_size, max(int(outline.number_rows or 0), 0), len(names), 0)
    except ValueError as error:
        raise InputError(f"{path}: the file cannot be read: {error}.") from None
    if len(names) > MAX_COLUMNS:
        raise InputError(f"{path}: it has {len(names):,} columns. {MAX_COLUMNS:,} are the most.")
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise InputError(f"{path}: two columns are named {listed(twice)}. Rename one.")


def _iconv(encoding: str | None, path: Path) -> str | None:
    """Return an encoding by the name that ReadStat knows it by."""
    if encoding is None:
        return None
    try:
        name = codecs.lookup(encoding).name
    except LookupError:
        raise InputError(
            f'{path.name}: there is no encoding \'{encoding}\'. Use one such as "cp1252" or "shift_jis".'
        ) from None
    return "CP932" if name == "shift_jis" else name.upper()


def _column(name: str, values: list[Any], path: Path) -> pl.Series:
    try:
        column = pl.Series(name, values, strict=True)
    except (TypeError, pl.exceptions.PolarsError):
        raise InputError(
            f"{path}, column '{name}': its values are not of one type. Export the table as .csv."
        ) from None
    if column.dtype == pl.String:
        return column.set(column == "", None)
    if isinstance(column.dtype, pl.Datetime):
        return column.dt.round("1ms")  # which are counted in seconds, with a fraction
    return whole_if_all_are(column)


def _catalogued(path: Path, about: Any) -> dict[str, dict[Any, str]]:
    """Return the labels that SAS keeps in a file of its own, beside the table: people.sas7bcat, or formats.sas7bcat."""
    if path.suffix.lower() != ".sas7bdat":
        return {}
    for catalog in (path.with_suffix(".sas7bcat"), path.with_name("formats.sas7bcat")):
        if catalog.is_file():
            import pyreadstat

            _, known = _read(pyreadstat.read_sas7bcat, catalog)
            used = {
                name: own.rstrip("0123456789.") for name, own in about.original_variable_types.items() if own
            }
            labels = {name.upper(): own for name, own in known.value_labels.items()}
            return {name: labels[own.upper()] for name, own in used.items() if own.upper() in labels}
    return {}
