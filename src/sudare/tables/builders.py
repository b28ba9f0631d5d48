"""The rows of a hierarchy (value, parent, ..., root) from files and trees, of texts and of dates."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from sudare.errors import InputError, ParameterError
from sudare.tables.number_builders import interval_rows
from sudare.tables.paths import MAX_LEVELS, Row
from sudare.tables.paths import ROOT as ROOT  # drafting takes it from here
from sudare.tables.text import shown, text_of
from sudare.tables.text_files import MAX_DEPTH, MAX_FIELDS, read_csv_rows, read_json, read_toml

WHAT = "the hierarchy"
FILE_VALUES = 300_000
"""Of a hierarchy from a file or a tree."""
MAX_MASKED_WIDTH = MAX_LEVELS - 1
"""Characters of a value that is masked from the right, one level for each."""
MAX_MASKED_CHARACTERS = 10**8
"""Values times the square of their width: the characters of all that they become."""


# -- files and trees -----------------------------------------------------------------------------


def read_csv_paths(path: Path, delimiter: str) -> tuple[list[Row], list[str]]:
    """Read ARX's format; return the rows and where each stands."""
    lines = [(line, tuple(row)) for line, row in read_csv_rows(path, WHAT, delimiter, MAX_LEVELS) if row]
    if len(lines) > FILE_VALUES:
        raise InputError(f"{path}: the hierarchy has {len(lines):,} values. It may have {FILE_VALUES:,}.")
    if not lines:
        raise InputError(
            f"{path}: the hierarchy has no values. Give one line per value: the value, its parent, ..., the root."
        )
    return [row for _, row in lines], [f"{path.name}, line {line}" for line, _ in lines]


def read_tree(path: Path) -> Mapping[str, Any]:
    """Read a nested tree from a .json or .toml file."""
    tree = read_toml(path, WHAT)[0] if path.suffix.lower() == ".toml" else read_json(path, WHAT)
    if not isinstance(tree, dict):
        raise InputError(f"{path}: a tree starts with a mapping from a name to its children.")
    return tree


def tree_rows(tree: Mapping[str, Any]) -> list[Row]:
    """List the paths of a nested tree; several names at the top get one root above them."""
    above: Row = () if len(tree) == 1 else (ROOT,)
    rows: list[Row] = []
    fields = 0
    for row in _descend(tree, above):
        rows.append(row)
        fields += len(row)
        if len(rows) > FILE_VALUES or fields > MAX_FIELDS:
            raise InputError(
                f"Hierarchy: the tree is too large. It may have {FILE_VALUES:,} values, and {MAX_FIELDS:,} names on all "
                "their paths."
            )
    return rows


def _descend(node: Any, above: Row) -> Iterator[Row]:
    if len(above) > MAX_DEPTH:  # or a tree that holds itself
        raise InputError(f"Hierarchy: the tree is more than {MAX_DEPTH} levels deep at {shown(above[0])}.")
    if isinstance(node, Mapping):
        for name, children in node.items():
            yield from _descend(children, (text_of(name), *above))
    elif isinstance(node, Sequence) and not isinstance(node, str):
        for child in node:
            if isinstance(child, Mapping):
                yield from _descend(child, above)
            else:
                yield (text_of(child), *above)
    else:
        raise InputError(
            f"Hierarchy: '{above[0]}' has {shown(node)} under it. Write a list of values or a mapping to children."
        )


# -- strings and dates ---------------------------------------------------------------------------


def masked(values: list[str], pad: str | None) -> list[tuple[str, ...]]:
    """Pad texts on the left to equal width; return of every text itself and what is left of it at each level above.

    Level by level, and not path by path: what is left at a level is a prefix, so that a level has few different ones.
    """
    width = max((len(value) for value in values), default=0)
    if pad is None:
        pad = "0" if all(value.isdecimal() for value in values) else " "
    if len(pad) != 1:
        raise ParameterError(
            f"The 'pad' parameter of Hierarchy.mask must be one character. Got {pad!r} instead."
        )
    if width > MAX_MASKED_WIDTH or len(values) * width**2 > MAX_MASKED_CHARACTERS:
        raise InputError(
            f"Hierarchy.mask: {len(values):,} values of up to {width:,} characters would make a tree too large. A value may have "
            f"{MAX_MASKED_WIDTH:,} characters, and the number of values times the square of the longest be {MAX_MASKED_CHARACTERS:,}. "
            "Group them instead, or suppress them."
        )
    padded = [value.rjust(width, pad) for value in values]
    return [tuple(values), *(_masked_level(padded, level) for level in range(1, width + 1))]


def _masked_level(padded: list[str], level: int) -> tuple[str, ...]:
    labels: dict[str, str] = {}  # one text per node, not one per value
    left = (value[: len(value) - level] for value in padded)
    return tuple(labels.setdefault(prefix, prefix + ROOT * level) for prefix in left)


DATE_LABELS: dict[str, Callable[[dt.date], str]] = {
    "day": lambda day: f"{day.year:04d}-{day.month:02d}-{day.day:02d}",
    "month": lambda day: f"{day.year:04d}-{day.month:02d}",
    "quarter": lambda day: f"{day.year:04d}-Q{(day.month + 2) // 3}",
    "year": lambda day: f"{day.year:04d}",
    "decade": lambda day: f"{day.year // 10:03d}0s",
}
WEEK_LABELS: dict[str, Callable[[dt.date], str]] = {
    "day": DATE_LABELS["day"],
    "week": lambda day: "{:04d}-W{:02d}".format(*day.isocalendar()),
    "year": lambda day: f"{day.isocalendar().year:04d}",
    "decade": lambda day: f"{day.isocalendar().year // 10:03d}0s",
}
"""By weeks of ISO 8601, of which each lies in one year, and some in two months."""
MAX_AGE = 150


def date_rows(values: pl.Series, levels: Sequence[str]) -> list[Row]:
    """Truncate dates or times to coarser and coarser parts."""
    listed = isinstance(levels, Sequence) and not isinstance(levels, str)
    parts = WEEK_LABELS if listed and "week" in levels else DATE_LABELS
    if not listed or not levels or list(levels) != [name for name in parts if name in levels]:
        raise ParameterError(
            "The 'levels' parameter of Hierarchy.dates must be some of day, month, quarter, year, decade, or of day, week, year, decade, "
            f"finest first. Got {levels!r} instead."
        )
    _refuse_no_dates(values, "dates")
    labels = [parts[level] for level in levels]
    return [(text_of(value), *(label(value) for label in labels), ROOT) for value in values.to_list()]


def age_rows(values: pl.Series, on: dt.date, width: float, fanout: int) -> list[Row]:
    """Put dates of birth into ages on a day, and these into intervals."""
    if not isinstance(on, dt.date):
        raise ParameterError(f"The 'on' parameter of Hierarchy.ages must be a date. Got {shown(on)} instead.")
    _refuse_no_dates(values, "ages")
    ages = [age_on(value, on) for value in values.to_list()]
    for value, age in zip(values.to_list(), ages, strict=True):
        if not 0 <= age <= MAX_AGE:
            raise InputError(
                f"Hierarchy.ages: who was born on {text_of(value)} is {age} years old on {on}. Give a day by which all were born, "
                f"and by which nobody is older than {MAX_AGE}."
            )
    whole = pl.Series(sorted(set(ages)), dtype=pl.Int64)
    above = {row[0]: row for row in interval_rows(whole, width, None, None, fanout, 0)} if len(whole) else {}
    return [(text_of(value), *above[str(age)]) for value, age in zip(values.to_list(), ages, strict=True)]


def age_on(born: dt.date, on: dt.date) -> int:
    """Return how old somebody is on a day.

    >>> age_on(dt.date(2000, 2, 29), dt.date(2023, 2, 28)), age_on(dt.date(2000, 2, 29), dt.date(2023, 3, 1))
    (22, 23)
    """
    return on.year - born.year - ((on.month, on.day) < (born.month, born.day))


def _refuse_no_dates(values: pl.Series, what: str) -> None:
    if not isinstance(values.dtype, pl.Date | pl.Datetime):
        raise InputError(
            f"Hierarchy.{what} needs dates; these values are {values.dtype}. Give them type 'date'."
        )
