"""Reading what a holder brings along as CSV files: transition matrices, public histograms, and areas.

Values are matched by their text, in any order. A missing value is written `(missing)`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import count
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from sudare.errors import InputError
from sudare.plans.law import MAX_MATRIX
from sudare.privacy.requirement import one_of
from sudare.randomization.domains import SEPARATOR, Categories, Joint
from sudare.tables.text import listed, shown, spellings
from sudare.tables.text_files import read_csv_rows

MISSING = "(missing)"
MAX_FIELDS = 10_000  # of a line
Floats = NDArray[np.float64]
MatrixRows = Literal["output", "input"]


def read_matrix(
    path: str | Path, name: str, domain: Categories | Joint, rows: MatrixRows = "output"
) -> Floats:
    """Read the transition matrix of an attribute; the result has one column per input, in the order of its values.

    The first line and the first column name the values; combinations are written `Female × White`. Rows are outputs and columns inputs, so that columns sum to
    1; with `rows="input"` it is the other way round, as sdcMicro writes its matrices.

    >>> import tempfile
    >>> from sudare.tables.schema import Attribute
    >>> domain = Categories.of("ill", Attribute(role="sensitive", domain=("no", "yes")), missing=False)
    >>> file = Path(tempfile.mkdtemp()) / "ill.csv"
    >>> _ = file.write_text("published,no,yes\\nno,0.9,0.3\\nyes,0.1,0.7\\n")
    >>> read_matrix(file, "ill", domain).tolist()
    [[0.9, 0.3], [0.1, 0.7]]
    """
    one_of(rows, "rows", "read_matrix", ("output", "input"))
    (_, *head), *lines = _lines(path)
    if len(head) > MAX_MATRIX:
        raise InputError(f"{path}: the matrix is of {len(head):,} values; {MAX_MATRIX:,} are the most.")
    places = _Places(name, domain)
    across = _order([_parted(text, domain) for text in head], places, path, "the first line")
    down = _order([_parted(line[0], domain) for line in lines], places, path, "the first column")
    numbers = np.empty((len(across), len(across)))
    for number, (line, i) in enumerate(zip(lines, down, strict=True), start=2):
        if len(line) != len(head) + 1:
            raise InputError(
                f"{path}, line {number}: {len(line) - 1} numbers for {len(head)} columns. Write one under each value."
            )
        for text, j in zip(line[1:], across, strict=True):
            numbers[i, j] = _number(text, f"{path}, line {number}", "a probability from 0 to 1", high=1.0)
    matrix = numbers if rows == "output" else numbers.T
    _refuse_wrong_sums(matrix, path, places.labels, rows)
    return matrix


def read_prior(path: str | Path, name: str, domain: Categories | Joint) -> Floats:
    """Read a public histogram of an attribute, in the order of its values: lines of a value and its count.

    Of several attributes, a line has a value of each, in their order or in that of a heading with their names. A first line
    whose last field is no number is a heading.
    """
    lines, wanted = _lines(path), len(domain.parts)
    head = lines[0] if len(lines[0]) < 2 or not _is_number(lines[0][-1]) else []
    first = 2 if head else 1
    lines = lines[first - 1 :]
    for number, line in enumerate(lines, start=first):
        if len(line) != wanted + 1:
            form = "a value" if wanted == 1 else f"{wanted} values"
            raise InputError(f"{path}, line {number}: {len(line)} fields. Each line has {form} and a count.")
    names = [part.name for part in domain.parts]
    columns = [head.index(one) for one in names] if sorted(head[:-1]) == sorted(names) else range(wanted)
    keys = [tuple(line[column] for column in columns) for line in lines]
    where = "the first column" if wanted == 1 else "a line"
    counts = np.empty(len(domain))
    for i, line, number in zip(_order(keys, _Places(name, domain), path, where), lines, count(first)):
        counts[i] = _number(line[-1], f"{path}, line {number}", "a count of 0 or more")
    return counts


def read_points(path: str | Path, names: Sequence[str], *, beside: int = 0) -> list[tuple[float, ...]]:
    """Read lines of numbers, one under each of some names in the first line, in the order that these are given in.

    So many more stand `beside` them, under any heading: the corners of a polygon have none, an inequality its limit.

    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "town.csv"
    >>> _ = file.write_text("lat,lon\\n35.6,139.7\\n35.8,139.6\\n")
    >>> read_points(file, ["lon", "lat"])
    [(139.7, 35.6), (139.6, 35.8)]
    """
    head, *lines = _lines(path)
    named = head[: len(head) - beside]
    if sorted(named) != sorted(names):
        more = " and one column more" if beside else ""
        raise InputError(
            f"{path}: the first line must name {listed(list(names))}{more}. It is {listed(head)}."
        )
    columns = [*(named.index(name) for name in names), *range(len(named), len(head))]
    points = []
    for number, line in enumerate(lines, start=2):
        where = f"{path}, line {number}"
        if len(line) != len(head):
            raise InputError(
                f"{where}: {len(line)} numbers for {len(head)} columns. Write one under each name."
            )
        points.append(tuple(_number(line[i], where, "a number", low=-math.inf) for i in columns))
    return points


class _Places:
    """Where each value of an attribute, or each combination of several, stands, under every text that it may have."""

    def __init__(self, name: str, domain: Categories | Joint) -> None:
        self.name, self.labels, self._shape = name, domain.labels(), domain.shape
        self._codes = []
        for part in domain.parts:
            texts = [spellings(value) for value in part.values.to_list()]
            texts += [(MISSING,)] * part.missing
            self._codes.append({text: i for i, spelled in enumerate(texts) for text in reversed(spelled)})

    def get(self, texts: Sequence[str]) -> int | None:
        if len(texts) != len(self._codes):
            return None
        codes = [own[text] for own, text in zip(self._codes, texts, strict=True) if text in own]
        return int(np.ravel_multi_index(codes, self._shape)) if len(codes) == len(texts) else None


def _parted(text: str, domain: Categories | Joint) -> Sequence[str]:
    """Return the values of a combination."""
    return text.split(SEPARATOR) if isinstance(domain, Joint) else (text,)


def _lines(path: str | Path) -> list[list[str]]:
    rows = read_csv_rows(Path(path), "this file", ",", MAX_FIELDS)
    lines = [[field.strip() for field in line] for _, line in rows]
    while lines and not any(lines[-1]):
        lines.pop()
    if not lines:
        raise InputError(f"{path}: this file is empty.")
    if (blank := next((i for i, line in enumerate(lines, start=1) if not line), None)) is not None:
        raise InputError(f"{path}, line {blank}: this line is empty. Remove it.")
    return lines


def _order(texts: Sequence[Sequence[str]], places: _Places, path: str | Path, where: str) -> list[int]:
    """Return the code of each value; every one must be there, once."""
    codes: dict[int, None] = {}
    for text in texts:
        code, written = places.get(text), shown(SEPARATOR.join(text))
        if code is None:
            raise InputError(
                f"{path}: {where} names {written}, which is no value of '{places.name}'. "
                f"There are {listed(places.labels)}."
            )
        if code in codes:
            raise InputError(f"{path}: {where} names {written} twice. Keep one of them.")
        codes[code] = None
    if absent := [label for code, label in enumerate(places.labels) if code not in codes]:
        lacks = f"{where} lacks" if where != "a line" else "there is no line for"
        raise InputError(f"{path}: {lacks} {listed(absent)} of '{places.name}'. Every value must be there.")
    return list(codes)


def _number(text: str, where: str, form: str, *, low: float = 0.0, high: float = math.inf) -> float:
    value = float(text) if _is_number(text) else math.nan
    if not (low <= value <= high and math.isfinite(value)):
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
