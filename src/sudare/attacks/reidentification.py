"""The re-identification attack: finding a person's record by their quasi values.

Three outsiders, after El Emam: the prosecutor knows that the person is in the table; the journalist knows
only that they are in the population that the table was taken from; the marketer wants to name as many as
possible.

Where rows say which of them are of one person or household, that is who is looked for, by all its rows: the units that have the
same composition, each quasi value as often, are who it could be. Where they do not, records are counted, and what is said says so.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import polars as pl

from sudare.attacks.published import Output, Published, counted, described, divided, rows_of
from sudare.errors import InputError
from sudare.privacy.requirement import number
from sudare.tables.attribute import Role
from sudare.tables.exact import exact, texts
from sudare.tables.notebook import ShownFigures
from sudare.tables.schema import Schema
from sudare.tables.table import Table


@dataclass(frozen=True)
class Risk:
    """The risk of one record: the largest, the mean, and how many records lie above a threshold."""

    largest: float
    mean: float
    at_risk: int
    share_at_risk: float


@dataclass(frozen=True, repr=False)
class Reidentification(ShownFigures):
    """The risk of being recognized, for the three outsiders."""

    records: int
    blocks: int
    threshold: float
    prosecutor: Risk
    journalist: Risk
    marketer: float
    """The share of records that a marketer expects to name rightly."""
    population: int | None
    """How many people the population has; None where the table itself stood for it."""
    unit: str | None = None
    """What was counted in the place of records, whose rows say which of them belong together: persons or households."""
    uncounted: str | None = None
    """What is protected, where rows do not say which of them are of one: records were counted."""

    def summary(self) -> dict[str, Any]:
        """Return the numbers as plain data."""
        units = ("unit", "uncounted")
        return {key: own for key, own in asdict(self).items() if key not in units or own is not None}

    def __str__(self) -> str:
        one, many = (
            ("a person", "records")
            if self.unit is None
            else (f"a {self.unit} with all its rows", f"{self.unit}s")
        )
        found = "their record" if self.unit is None else "it"
        population = (
            "the table itself" if self.population is None else f"a population of {self.population:,} people"
        )
        said = (
            f"Who knows that {one} is in the table finds {found} with probability "
            f"{self.prosecutor.largest:.1%} at most, {self.prosecutor.mean:.2%} on average; "
            f"{self.prosecutor.at_risk:,} of {self.records:,} {many} ({self.prosecutor.share_at_risk:.1%}) are above "
            f"{self.threshold:.0%}. Who does not know it: {self.journalist.largest:.1%} at most, "
            f"{self.journalist.mean:.2%} on average, in {population}. Who tries to name everybody names "
            f"{self.marketer:.2%} rightly."
        )
        if self.uncounted is None:
            return said
        return (
            f"{said} These are records, since the output does not say which of them are of one {self.uncounted}: somebody with several is "
            f"found more easily by all of them. For that ask for the kind 'households', with the people who are known."
        )


def reidentification(
    published: Published,
    *,
    threshold: float = 0.2,
    population: Output | None = None,
) -> Reidentification:
    """Measure the risk that a record is recognized: 1 / the number of people it could belong to.

    The prosecutor has 1 / f, with f the size of the record's block. The journalist has 1 / F, with F the
    people in `population` who share the block's quasi values; without one the table stands for it. The
    marketer names the mean of 1 / F rightly, which without a population is blocks / records. `threshold`:
    a record is at risk if its risk is larger. A population must show its quasi values in the same form
    as the output (the same plan applied to it), and must include the people of the output.

    >>> import sudare as sd
    >>> frame = pl.DataFrame({"zip": ["130**"] * 2 + ["148**"] * 8})
    >>> risks = reidentification(Published.open(frame, sd.Schema.from_roles(quasi=["zip"])))
    >>> risks.prosecutor, risks.marketer
    (Risk(largest=0.5, mean=0.2, at_risk=2, share_at_risk=0.2), 0.2)
    """
    number(threshold, "threshold", "the reidentification attack", "a number from 0 to 1", low=0, high=1)
    prosecutor = _risk(published.sizes, published.sizes, threshold)
    if population is None:
        journalist, people = prosecutor, None
    else:
        sizes, people = _in_population(published, population)
        journalist = _risk(published.sizes, sizes, threshold)
    return Reidentification(
        int(published.sizes.sum()), len(published), threshold, prosecutor, journalist, journalist.mean, people
    )


def by_units(
    output: Output, schema: Schema, *, threshold: float = 0.2, population: Output | None = None
) -> Reidentification:
    """Measure the risk that a person or household is recognized by all its rows: 1 / the units that have the same composition.

    >>> import sudare as sd
    >>> frame = pl.DataFrame({"home": [1, 1, 2, 2, 3], "age": [30, 40, 40, 30, 30]})
    >>> risks = by_units(frame, sd.Schema.from_roles(household="home", quasi=["age"]))
    >>> risks.unit, risks.records, risks.prosecutor
    ('household', 3, Risk(largest=1.0, mean=0.6666666666666666, at_risk=3, share_at_risk=1.0))
    """
    number(threshold, "threshold", "the reidentification attack", "a number from 0 to 1", low=0, high=1)
    own = _compositions(output, schema)
    prosecutor = _risk(own["units"], own["units"], threshold)
    journalist, people = prosecutor, None
    if population is not None:
        everybody = _compositions(population, schema)
        found = own.join(everybody, on="rows", how="left", maintain_order="left")
        sizes, people = found["units_right"].fill_null(0), int(everybody["units"].sum())
        if (sizes < own["units"]).any():
            raise InputError(
                f"Of some {schema[schema.unit or ''].role}s the population has fewer than the output. Give one that includes those of the output, in "
                "the same form."
            )
        journalist = _risk(own["units"], sizes, threshold)
    return Reidentification(
        int(own["units"].sum()),
        own.height,
        threshold,
        prosecutor,
        journalist,
        journalist.mean,
        people,
        str(schema[schema.unit or ""].role),
    )


def _compositions(output: Output, schema: Schema) -> pl.DataFrame:
    """Return how many units have which rows, as an outsider knows them: each tuple of quasi values, as often as it occurs."""
    quasi, unit = schema.names(Role.quasi), schema.unit or ""
    names = [unit, *quasi]
    runs = counted(output, names) if isinstance(output, Table) else rows_of(output).counted(names)
    rows = pl.DataFrame(
        [
            exact(runs.rows[unit]).alias("unit"),
            *(texts(runs.rows[name]).alias(f"q{i}") for i, name in enumerate(quasi)),
            runs.lengths.alias("times"),
        ]
    )
    row = pl.struct(pl.exclude("unit"))
    of_unit = rows.group_by("unit").agg(row.sort().alias("rows"))
    return of_unit.group_by("rows").agg(pl.len().alias("units"))


def joined(pieces: Sequence[Reidentification], published: Published) -> Reidentification:
    """Put together the risks of some blocks each, of which the table itself is the population."""
    blocks, records = sum(piece.blocks for piece in pieces), published.records
    at_risk = sum(piece.prosecutor.at_risk for piece in pieces)
    largest = max(piece.prosecutor.largest for piece in pieces)
    risk = Risk(largest, blocks / records, at_risk, at_risk / records)
    return Reidentification(records, blocks, pieces[0].threshold, risk, risk, risk.mean, None)


def _risk(records: pl.Series, people: pl.Series, threshold: float) -> Risk:
    """Return the risk of blocks with so many records, each of which could be any of so many people."""
    total = int(records.sum())
    expected = math.fsum(divided(records, people))  # exactly the number of blocks, where the two are the same
    at_risk = int(records.filter(pl.Series(1 / people.to_numpy() > threshold)).sum())
    smallest = int(people.min())  # type: ignore[arg-type]
    return Risk(1 / smallest, expected / total, at_risk, at_risk / total)


def _in_population(published: Published, population: Output) -> tuple[pl.Series, int]:
    """Return how many people share the values of each block, and how many people there are."""
    everybody = Published.open(population, Schema.from_roles(quasi=published.quasi))
    keys = [f"q{i}" for i in range(len(published.quasi))]
    if not keys:
        return pl.Series([everybody.records]), everybody.records
    people = everybody.keyed().group_by(keys).agg(people=pl.sum("size"))
    joined = published.keyed().join(people, on=keys, how="left", nulls_equal=True, maintain_order="left")
    sizes = joined["people"].fill_null(0)
    if (short := (sizes < published.sizes).arg_max()) is not None and sizes[short] < published.sizes[short]:
        raise InputError(
            f"The population has {sizes[short]:,} people at {described(published.values_of(short))}, the output "
            f"{published.sizes[short]:,}. Give a population that includes the people of the output, in the same form."
        )
    return sizes, everybody.records
