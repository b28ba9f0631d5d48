"""The re-identification attack: finding a person's record by their quasi values.

Three outsiders, after El Emam: the prosecutor knows that the person is in the table; the journalist knows
only that they are in the population that the table was taken from; the marketer wants to name as many as
possible.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import polars as pl

from sudare.attacks.published import Output, Published, described, divided
from sudare.errors import InputError
from sudare.privacy.requirement import number
from sudare.tables.notebook import ShownFigures
from sudare.tables.schema import Schema


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

    def summary(self) -> dict[str, Any]:
        """Return the numbers as plain data."""
        return asdict(self)

    def __str__(self) -> str:
        population = (
            "the table itself" if self.population is None else f"a population of {self.population:,} people"
        )
        return (
            f"Who knows that a person is in the table finds their record with probability "
            f"{self.prosecutor.largest:.1%} at most, {self.prosecutor.mean:.2%} on average; "
            f"{self.prosecutor.at_risk:,} of {self.records:,} records ({self.prosecutor.share_at_risk:.1%}) are above "
            f"{self.threshold:.0%}. Who does not know it: {self.journalist.largest:.1%} at most, "
            f"{self.journalist.mean:.2%} on average, in {population}. Who tries to name everybody names "
            f"{self.marketer:.2%} rightly."
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
