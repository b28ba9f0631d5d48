"""The verb `draw`: some of a table's people, drawn at random, as a table of its own."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sudare.engines.engine import Engine
from sudare.engines.memory import Memory
from sudare.errors import InputError, ParameterError
from sudare.noise.keystream import Keystream
from sudare.privacy.requirement import number, whole_number
from sudare.tables.atomic import write_file
from sudare.tables.excerpt import of_rows
from sudare.tables.schema import LEAST_SHARE, CsvFormat, Schema
from sudare.tables.table import Table, table_given
from sudare.verbs.units import refuse_alike_units, unit_of

FILE = ".parquet"


def draw(table: Table, *, share: float | None = None, people: int | None = None) -> Table:
    """Draw a share or a number of a table's people at random, as if the others had never been there.

    All that are so many are equally likely; which they are comes from a cryptographic source, and cannot be drawn again. Where rows
    have persons or households, these are drawn, with all their rows. The schema of what is drawn says which share it is
    (`sampling_fraction`), by which risks in the population are estimated, and keeps the name of the table (`source`), so that a
    ledger knows that releases of several draws are of the same people. Draw once, and keep it: who compares releases
    of two draws may learn more than either tells. Weights stay as they are.

    >>> import polars as pl, sudare as sd
    >>> table = sd.read(pl.DataFrame({"age": range(200)}), sd.Schema.from_roles(quasi=["age"]))
    >>> drawn = draw(table, share=0.1)
    >>> len(drawn), drawn.schema.sampling_fraction
    (20, 0.1)
    """
    table_given(table, "draw")
    if (share is None) == (people is None):
        raise ParameterError("Give draw either 'share', of all people, or 'people', how many.")
    units = _units(table)
    if share is not None:
        number(share, "share", "draw", "a share above 0, up to 1", low=LEAST_SHARE, high=1)
        people = round(share * units)
    wanted = whole_number(people, "people", "draw", least=0)
    if not 0 < wanted <= units:
        raise ParameterError(
            f"There are {units:,} people in {table.name} to draw from. Draw at least 1, and no more. Got {wanted:,}."
        )
    drawn = table if wanted == units else of_rows(table, lambda rows: _drawn(rows, table, wanted, units))
    own = table.schema.model_copy(
        update={
            "sampling_fraction": max(wanted / units * (table.schema.sampling_fraction or 1), LEAST_SHARE),
            "source": table.name if table.name.isprintable() else None,
        }
    )
    note = f"{wanted:,} of {units:,} {_of(table)} were drawn at random"
    source = replace(table.source, notes=(*table.source.notes, note))
    return replace(drawn, schema=own, source=source)


def _units(table: Table) -> int:
    """Return how many can be drawn: persons or households, or rows where each is a person."""
    if table.schema.unit is None:
        if not isinstance(table.rows, Memory):
            raise InputError(
                f'{table.source.name}: rows are drawn in memory, and these are in a database. Read it with engine="memory", draw '
                "in the query of the database, or say which rows are of one person: a column of the role person."
            )
        return len(table)
    refuse_alike_units(table)
    return len(np.unique(table.counts([unit_of(table)]).codes))


def _of(table: Table) -> str:
    unit = table.schema.unit
    return "people" if unit is None else f"{table.schema[unit].role}s"


def _drawn(rows: Engine, table: Table, wanted: int, units: int) -> Engine:
    if table.schema.unit is None:
        assert isinstance(rows, Memory)  # or nothing would be drawn
        kept = np.zeros(units, dtype=np.bool_)
        kept[_some(wanted, units)] = True
        return rows.only(kept)
    unit = unit_of(table)
    codes = np.unique(table.counts([unit]).codes)
    others = np.delete(codes, _some(wanted, units))
    return rows.without([unit], others[:, np.newaxis].astype(np.int32))


def _some(wanted: int, of: int) -> NDArray[np.int64]:
    """Return so many different numbers, all sets of them equally likely: those whose random words are the smallest."""
    return np.argsort(Keystream().words(of), kind="stable")[:wanted]


def write_drawn(table: Table, path: str | Path) -> Path:
    """Write what was drawn as Parquet, and beside it its schema; return the path of that. Only their owner can read them."""
    path = Path(path)
    if path.suffix.lower() != FILE:
        raise InputError(
            f"{path}: what is drawn is written as Parquet. Give it a name that ends with {FILE}."
        )
    content = io.BytesIO()
    table.frame().write_parquet(content)
    schema = path.with_suffix(".toml")
    write_file(schema, _of_file(table.schema).to_toml(), private=True)
    write_file(path, content.getvalue(), private=True)  # never there without its schema
    return schema


def _of_file(schema: Schema) -> Schema:
    """Return a schema of values that have their types already, and are no texts of a CSV file or sheet."""
    attributes = {name: own.model_copy(update={"format": None}) for name, own in schema.attributes.items()}
    return schema.model_copy(update={"attributes": attributes, "csv": CsvFormat(), "sheet": None})
