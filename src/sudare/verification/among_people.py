"""Finding how much an output has of what is counted among the people of a population, for whoever has that."""

from __future__ import annotations

from sudare.attacks.k_map import k_map
from sudare.attacks.presence import presence
from sudare.privacy.in_population import InPopulation, promised
from sudare.privacy.k_map import KMap
from sudare.tables.csv_rows import as_meant
from sudare.tables.schema import Schema
from sudare.verification.files import PublishedTable
from sudare.verification.findings import Finding
from sudare.verification.recount_shares import TOLERANCE

UNCOUNTED = "this is what was promised; give the population, and it is counted: {}(..., population=...), or --population FILE"


def find_in_population(requirement: InPopulation, table: PublishedTable, schema: Schema) -> Finding:
    """Count the people of a population whom labels cover, by the code that outsiders' attacks read labels with."""
    words, name = str(requirement), requirement.name
    if requirement.population is None:
        note = UNCOUNTED.format(type(requirement).__name__)
        return Finding(
            f"{words}, promised but not counted here,", name, promised(requirement), True, {}, note
        )
    rows = as_meant(table.rows) if table.from_csv else table.rows
    if isinstance(requirement, KMap):
        mapped = k_map(rows, schema, population=requirement.population)
        return Finding(words, name, mapped.k, mapped.k >= requirement.k, dict(mapped.worst))
    found = presence(rows, schema, population=requirement.population)
    at_least = found.least >= requirement.d_min - TOLERANCE
    at_most = found.most <= requirement.d_max + TOLERANCE
    if at_most and not at_least:
        return Finding(
            words, name, found.least, False, {}, f"{found.absent:,} people are covered by no block"
        )
    return Finding(words, name, found.most, at_least and at_most, dict(found.worst))
