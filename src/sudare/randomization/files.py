"""Reading what a holder brings along as CSV files: transition matrices, and public histograms.

Values are matched by their text, in any order. A missing value is written `(missing)`.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from sudare.errors import InputError
from sudare.privacy.requirement import one_of
from sudare.randomization.domains import Categories
from sudare.tables.table import Table
from sudare.tables.text import listed, shown, spellings

MISSING = "(missing)"
Floats = NDArray[np.float64]
MatrixRows = Literal["output", "input"]


def read_matrix(path: str | Path, table: Table, name: str, rows: MatrixRows = "output") -> Floats:
    """Read the transition matrix of an attribute; the result has one column per input, in the order of its values.

    The first line and the first column name the values. Rows are outputs and columns inputs, so that columns sum to
    1; with `rows="input"` it is the other way round, as sdcMicro writes its matrices.

    >>> import polars as pl, sudare as sd, tempfile
    >>> table = sd.read(pl.DataFrame({"ill": ["yes", "no"]}), sd.Schema.from_roles(sensitive=["ill"], domains={"ill": ["yes", "no"]}))
    >>> file = Path(tempfile.mkdtemp()) / "ill.csv"
    >>> _ = file.write_text("published,no,yes\\nno,0.9,0.3\\nyes,0.1,0.7\\n")
    >>> read_matrix(file, table, "ill").tolist()
    [[0.7, 0.1], [0.3, 0.9]]
    """
    one_of(rows, "rows", "read_matrix", ("output", "input"))
    places = _places(table, name)
    (_, *head), *lines = _lines(path)
    across = _order(head, places, path, name, "the first line")
    down = _order([line[0] for line in lines], places, path, name, "the first column")
    found = np.empty((len(across), len(across)))
    for number, (line, i) in enumerate(zip(lines, down, strict=True), start=2):
        if len(line) != len(head) + 1:
            raise InputError(
                f"{path}, line {number}: {len(line) - 1} numbers for {len(head)} columns. Write one under each value."
            )
        for text, j in zip(line[1:], across, strict=True):
            found[i, j] = _number(text, f"{path}, line {number}", "a probability from 0 to 1", high=1.0)
    matrix = found if rows == "output" else found.T
    _refuse_wrong_sums(matrix, path, list(places.labels), rows)
    return matrix


def read_prior(path: str | Path, table: Table, name: str) -> Floats:
    """Read a public histogram of an attribute, in the order of its values: lines of a value and its count.

    A first line whose second field is no number is a heading.
    """
    places = _places(table, name)
    lines = _lines(path)
    first = 1
    if len(lines[0]) < 2 or not _is_number(lines[0][1]):
        lines, first = lines[1:], 2
    order = _order([line[0] for line in lines], places, path, name, "the first column")
    found = np.empty(len(places.labels))
    for number, (line, i) in enumerate(zip(lines, order, strict=True), start=first):
        if len(line) != 2:
            raise InputError(
                f"{path}, line {number}: {len(line)} fields. Each line has a value and its count."
            )
        found[i] = _number(line[1], f"{path}, line {number}", "a count of 0 or more", high=math.inf)
    return found


class _Places:
    """Where each value of an attribute stands, under every text that it may be written as."""

    def __init__(self, labels: Sequence[str], texts: Sequence[tuple[str, ...]]) -> None:
        self.labels = labels
        self._codes = {text: code for code, spelled in enumerate(texts) for text in reversed(spelled)}

    def get(self, text: str) -> int | None:
        return self._codes.get(text)


def _places(table: Table, name: str) -> _Places:
    column = table[name]
    texts = [spellings(value) for value in column.values.to_list()]
    return _Places(Categories(column, declared=True).labels(), [*texts, *[(MISSING,)] * column.missing])


def _lines(path: str | Path) -> list[list[str]]:
    try:
        with Path(path).open(newline="", encoding="utf-8-sig") as file:
            found = [[field.strip() for field in line] for line in csv.reader(file)]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"{path}: this file cannot be read: {error}.") from None
    while found and not any(found[-1]):
        found.pop()
    if not found:
        raise InputError(f"{path}: this file is empty.")
    if (blank := next((i for i, line in enumerate(found, start=1) if not line), None)) is not None:
        raise InputError(f"{path}, line {blank}: this line is empty. Remove it.")
    return found


def _order(texts: Sequence[str], places: _Places, path: str | Path, name: str, where: str) -> list[int]:
    """Return the code of each text; every value must be there, once."""
    found: list[int] = []
    for text in texts:
        code = places.get(text)
        if code is None:
            raise InputError(
                f"{path}: {where} names {shown(text)}, which is no value of '{name}'. "
                f"There are {listed(list(places.labels))}."
            )
        if code in found:
            raise InputError(f"{path}: {where} names {shown(text)} twice. Keep one of them.")
        found.append(code)
    if absent := [label for code, label in enumerate(places.labels) if code not in set(found)]:
        raise InputError(f"{path}: {where} lacks {listed(absent)} of '{name}'. Every value must be there.")
    return found


def _number(text: str, where: str, form: str, *, high: float) -> float:
    value = float(text) if _is_number(text) else math.nan
    if not (0 <= value <= high and math.isfinite(value)):
        raise InputError(f"{where}: {shown(text)} is not {form}.")
    return value


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _refuse_wrong_sums(matrix: Floats, path: str | Path, labels: Sequence[str], rows: MatrixRows) -> None:
    sums = matrix.sum(axis=0)
    wrong = int(abs(sums - 1).argmax())
    if abs(sums[wrong] - 1) <= 1e-9:
        return
    here, there = ("column", "rows") if rows == "output" else ("row", "columns")
    turned = "input" if rows == "output" else "output"
    if (abs(matrix.sum(axis=1) - 1) <= 1e-9).all():
        advice = (
            f"Its {there} do: if these are the inputs, say that rows are {turned} (--matrix-rows {turned})"
        )
    else:
        advice = "Write all digits of the probabilities, so that each input's sum to 1"
    raise InputError(
        f"{path}: the {here} of {shown(labels[wrong])} sums to {sums[wrong]:.10g}, not 1. {advice}."
    )
