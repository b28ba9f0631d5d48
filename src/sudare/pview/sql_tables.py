"""A p-view as tables and SQL that count as the p-view itself does.

Every point or block is a row: its values for people, its cells for the function, and how many records it stands for.
For a condition, the function adds up which share of the first 0, 1, 2, ... cells of an attribute it takes; a row
then has the mean share of its cells, as `Boxes.table` says.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sudare.errors import InputError
from sudare.pview.boxes import Boxes
from sudare.pview.domain import Axis
from sudare.pview.pview import PView
from sudare.tables.databases import quoted
from sudare.tables.numbers import numbers_of

Codes = NDArray[Any]


@dataclass(frozen=True)
class Dialect:
    """How a database writes a parameter's value as a number: `{}` stands for the parameter."""

    number: str
    days: str
    seconds: str
    text: str
    list_of: str
    """The aggregate that puts values into a list."""

    def number_of(self, axis: Axis, parameter: str) -> str:
        """Write a parameter as the number that the domain has for it."""
        form = (
            self.days if axis.dtype == pl.Date else self.seconds if axis.dtype.is_temporal() else self.number
        )
        return form.format(parameter)


POSTGRES = Dialect(
    "({}::double precision)",
    "(({} - DATE '1970-01-01')::double precision)",
    "(extract(epoch FROM {})::double precision)",
    "({}::text)",
    "array_agg",
)
DUCKDB = Dialect(
    "CAST({} AS DOUBLE)",
    "CAST(date_diff('day', DATE '1970-01-01', CAST({} AS DATE)) AS DOUBLE)",
    "epoch(CAST({} AS TIMESTAMP))",
    "CAST({} AS VARCHAR)",
    "list",
)


@dataclass(frozen=True, eq=False)
class PViewTables:
    """What is written to a database."""

    name: str
    rows: pl.DataFrame
    """The columns for people, then the weight, then the cells."""
    shown: list[str]
    """The columns for people, and the weight."""
    weight: str
    cells: list[tuple[str, str]]
    """The columns with the first and the last cell of each attribute."""
    domain: pl.DataFrame
    parameters: list[tuple[Axis, list[str]]]
    """For every attribute the names of its parameters: one for a value, two for a range."""
    points: bool

    @classmethod
    def of(cls, pview: PView, name: str) -> PViewTables:
        """Lay a p-view out as tables."""
        boxes = pview.model.boxes
        if boxes is None:
            raise InputError(
                f"A p-view of the kind '{pview.model.kind}' has no points or blocks to write to a database. Materialize one "
                "with another method, or write rows that are drawn from it with sample()."
            )
        axes, taken = pview.domain.axes, set[str]()
        columns = [own for a, axis in enumerate(axes) for own in _columns(axis, boxes, a, taken)]
        taken |= {axis.name.lower() for axis in axes}
        weight = pl.Series(_free("weight" if boxes.points else "count", taken), boxes.weights)
        cells = [_cells(boxes, a, taken) for a in range(len(axes))]
        used = set[str]()
        return cls(
            name,
            pl.DataFrame([*columns, weight, *(own for ends in cells for own in ends)]),
            [column.name for column in (*columns, weight)],
            weight.name,
            [(ends[0].name, ends[-1].name) for ends in cells],
            pl.concat([_domain(axis, a) for a, axis in enumerate(axes)]),
            [(axis, _parameters(axis, used)) for axis in axes],
            boxes.points,
        )

    @property
    def names(self) -> dict[str, str]:
        """What each part is called."""
        return {
            "view": self.name,
            "rows": f"{self.name}_{'points' if self.points else 'blocks'}",
            "domain": f"{self.name}_domain",
            "function": f"{self.name}_count",
        }

    def select(self) -> str:
        """Write the SQL of the view for people."""
        return f"SELECT {', '.join(map(quoted, self.shown))} FROM {quoted(self.names['rows'])}"

    def count(self, dialect: Dialect, parameters: Sequence[Sequence[str]]) -> str:
        """Write the count, with the parameters of each attribute as they are to be written.

        Columns are renamed first, as some databases mistake a parameter for a column of the same name.
        """
        columns = [f"t.{quoted(self.weight)} AS sudare_weight"]
        sums, factors = [], ["sudare_weight"]
        for a, ((axis, _), own) in enumerate(zip(self.parameters, parameters, strict=True)):
            first, last = f"sudare_first_{a}", f"sudare_last_{a}"
            columns += [
                f"t.{quoted(name)} AS {new}" for name, new in zip(self.cells[a], (first, last), strict=True)
            ]
            sums.append(f"sudare_sums_{a} AS MATERIALIZED ({self._sums(dialect, axis, a, own)})")
            upto = f"(SELECT sudare_sums FROM sudare_sums_{a})"
            mean = f"({upto}[{last} + 2] - {upto}[{first} + 1]) / ({last} - {first} + 1)"
            asked = " OR ".join(f"{parameter} IS NOT NULL" for parameter in own)
            factors.append(f"CASE WHEN {asked} THEN {mean} ELSE 1 END")
        return (
            f"WITH {', '.join(sums)} SELECT greatest(coalesce(sum({' * '.join(factors)}), 0), 0) "
            f"FROM (SELECT {', '.join(columns)} FROM {quoted(self.names['rows'])} t) sudare_rows"
        )

    def _sums(self, dialect: Dialect, axis: Axis, a: int, parameters: Sequence[str]) -> str:
        """Write which share of the first 0, 1, 2, ... cells of an attribute is taken, as a list."""
        domain = (
            "SELECT d.cell AS sudare_cell, d.value AS sudare_value, d.low AS sudare_low, d.high AS sudare_high "
            f"FROM {quoted(self.names['domain'])} d WHERE d.position = {a}"
        )
        shares = (
            "SELECT -1 AS sudare_cell, CAST(0 AS DOUBLE PRECISION) AS sudare_share UNION ALL "
            f"SELECT sudare_cell, CAST({_share(dialect, axis, parameters)} AS DOUBLE PRECISION) FROM ({domain}) c"
        )
        upto = "sum(sudare_share) OVER (ORDER BY sudare_cell)"
        return (
            f"SELECT {dialect.list_of}(sudare_upto ORDER BY sudare_cell) AS sudare_sums "
            f"FROM (SELECT sudare_cell, {upto} AS sudare_upto FROM ({shares}) s) u"
        )


def _share(dialect: Dialect, axis: Axis, parameters: Sequence[str]) -> str:
    """Write which share of a cell of the domain is taken, as `Axis.wanted` does."""
    if not axis.ordered:
        return f"CASE WHEN sudare_value = {dialect.text.format(parameters[0])} THEN 1 ELSE 0 END"
    low, high = (dialect.number_of(axis, parameter) for parameter in parameters)
    begin, end = (f"ceil({low})", f"floor({high}) + 1") if axis.whole and axis.values is None else (low, high)
    begin, end = f"coalesce({begin}, sudare_low)", f"coalesce({end}, sudare_high)"
    if axis.values is not None:
        return f"CASE WHEN sudare_low >= {begin} AND sudare_high <= {end} THEN 1 ELSE 0 END"
    inside = f"least(sudare_high, {end}) - greatest(sudare_low, {begin})"
    one = ""
    if not axis.whole:  # one number takes its bin, and the last bin has its end
        top = repr(float(axis.high))
        mine = f"sudare_low <= {low} AND ({low} < sudare_high OR ({low} = {top} AND sudare_high = {top}))"
        one = f"WHEN {low} = {high} THEN CASE WHEN {mine} THEN 1 ELSE 0 END "
    return f"CASE WHEN sudare_low IS NULL THEN 0 {one}ELSE greatest(0, {inside}) / (sudare_high - sudare_low) END"


def _free(wanted: str, taken: set[str]) -> str:
    """Return a name that no other column has, and take it; large and small letters are the same to some databases."""
    while wanted.lower() in taken:
        wanted += "_"
    taken.add(wanted.lower())
    return wanted


def _parameters(axis: Axis, taken: set[str]) -> list[str]:
    names = (f"{axis.name}_low", f"{axis.name}_high") if axis.ordered else (axis.name,)
    return [_free(name, taken) for name in names]


# -- Columns ---------------------------------------------------------------------------------------


def _cells(boxes: Boxes, a: int, taken: set[str]) -> list[pl.Series]:
    """Return the first and the last cell of every row: one column if they are the same."""
    ends = {"cell": boxes.low} if boxes.points else {"first_cell": boxes.low, "last_cell": boxes.high}
    return [pl.Series(_free(f"{end}_{a}", taken), own[:, a].astype(np.int32)) for end, own in ends.items()]


def _columns(axis: Axis, boxes: Boxes, a: int, taken: set[str]) -> list[pl.Series]:
    """Return an attribute's columns: its values; or where a row has several, the lowest and the highest."""
    if boxes.points and axis.single:
        return [axis.cell_values().gather(boxes.low[:, a]).alias(_free(axis.name, taken))]
    low, high = _ends(axis)
    first, last = boxes.low[:, a], boxes.high[:, a]
    columns = [low.gather(first).alias(_free(f"{axis.name}_low", taken))]
    # The missing values stand last: a block that reaches them has the highest value before them, if it has any.
    before = np.where((last == axis.size - 1) & (first < last), last - 1, last) if axis.missing else last
    columns.append(high.gather(before).alias(_free(f"{axis.name}_high", taken)))
    if axis.missing and not boxes.points:
        columns.append(pl.Series(_free(f"{axis.name}_missing", taken), last == axis.size - 1))
    return columns


def _ends(axis: Axis) -> tuple[pl.Series, pl.Series]:
    """Return the lowest and the highest value of every cell; a bin of numbers or times ends below its highest."""
    if axis.single:
        return axis.cell_values(), axis.cell_values()
    low, high = axis.bounds()
    lost = pl.Series([None] if axis.missing else [], dtype=low.dtype)
    return low.append(lost), high.append(lost)


def _domain(axis: Axis, a: int) -> pl.DataFrame:
    """Return the cells of an attribute: what they are called, and the numbers from and to which they go."""
    count = axis.size - axis.missing
    numbers: tuple[Any, Any] = ([None] * count, [None] * count)
    if axis.values is None:
        numbers = axis.edges()[:-1].tolist(), axis.edges()[1:].tolist()
    elif axis.ordered:
        own = numbers_of(pl.Series(list(axis.values), dtype=axis.dtype)).tolist()
        numbers = own, own
    lost = [None] * axis.missing
    labels = axis.labels()
    return pl.DataFrame(
        {
            "attribute": [axis.name] * axis.size,
            "position": [a] * axis.size,
            "cell": range(axis.size),
            "label": labels,
            "value": labels[:count] + lost,
            "low": [*numbers[0], *lost],
            "high": [*numbers[1], *lost],
        },
        schema={
            "attribute": pl.String, "position": pl.Int32, "cell": pl.Int32, "label": pl.String, "value": pl.String,
            "low": pl.Float64, "high": pl.Float64,
        },
    )  # fmt: skip
