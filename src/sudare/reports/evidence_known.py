"""What is known of a release whose evidence is written: what was verified, and what is counted in what is published."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import polars as pl

from sudare.privacy.certificate import Certificate
from sudare.privacy.promises import Promise
from sudare.pview.pview import PView
from sudare.reports.best_guess import BestGuess, best_guesses
from sudare.reports.safe_harbor import Column, Found, look_for_identifiers
from sudare.tables.attribute import UNITS, Role
from sudare.tables.runs import PublishedRows
from sudare.tables.schema import Schema
from sudare.verification.claims import promised_by
from sudare.verification.findings import Verification
from sudare.verification.utility import harmless_by_attribute

MAX_RELEASES = 20  # other releases of the source that are listed


class InLedger(NamedTuple):
    """What a ledger says of a release."""

    number: int
    at: str
    source: str
    receiver: str | None
    others: list[tuple[int, str, str]]
    """The last other releases of the source: the number of each, who got it, and what it promised."""
    other_count: int
    budget: str | None


@dataclass(frozen=True)
class Evidence:
    """All that is known of a release that was just verified again."""

    folder: str
    by: str
    at: str
    """When it was verified."""
    certificate: Certificate
    holder: Mapping[str, Any]
    verification: Verification
    tables: Mapping[str, PublishedRows]
    """What is published, by name; nothing of a p-view, which has no records."""
    pview: PView | None = None
    law: bool = False
    """Whether values were changed at random, by a published law."""
    ledger: InLedger | None = None

    @cached_property
    def promises(self) -> list[Promise]:
        """What is promised."""
        return promised_by(self.certificate)

    @property
    def unit(self) -> str:
        """What is protected as one."""
        return str(self.certificate.unit or "record")

    @property
    def units(self) -> Mapping[str, Any] | None:
        """What the holder's record has of units of several records; None where a record is one, and of a p-view."""
        units: Mapping[str, Any] | None = self.holder.get("unit") if self.pview is None else None
        return units

    @property
    def counts_records(self) -> bool:
        """Whether receivers can recount records alone, and not the units that are promised."""
        return self.units is not None and not any(
            own.role in UNITS for own in self.certificate.attributes.values()
        )

    @property
    def in_records(self) -> str:
        """What is said beside a figure that was recounted."""
        return " in records" if self.counts_records else ""

    @cached_property
    def quasi(self) -> list[str]:
        """The columns that outsiders are taken to know."""
        own = self.certificate.schema_of_output()
        return [*own.names(Role.quasi), *own.beside()]

    @cached_property
    def columns(self) -> dict[str, Column]:
        """Every published column with its values, by its name; of several views, by the view's too."""
        if self.pview is not None:
            none = pl.Series([], dtype=pl.Int64)
            labels = {axis.name: axis.labels()[: axis.size - axis.missing] for axis in self.pview.domain.axes}
            return {
                name: Column(name, self._role(name), pl.Series(own, dtype=pl.String), none)
                for name, own in labels.items()
            }
        columns = {}
        for table, rows in self.tables.items():
            for name in rows.columns:
                runs = rows.counted([name]).grouped()
                columns[f"{where(table)}{name}"] = Column(
                    name, self._role(name), runs.rows[name], runs.lengths
                )
        return columns

    def _role(self, name: str) -> Role:
        return self.certificate.schema_of_output()[name].treated_as

    @cached_property
    def identifiers(self) -> dict[str, list[Found]]:
        """What Safe Harbor's identifiers may be in, by column."""
        year = int(self.certificate.created[:4])
        return {shown: look_for_identifiers(column, year) for shown, column in self.columns.items()}

    @cached_property
    def guesses(self) -> dict[str, list[BestGuess]]:
        """What the best guess of a sensitive value wins, by published table; noise is not taken for truth."""
        if self.law:
            return {}
        schema = self.certificate.schema_of_output()
        harmless = harmless_by_attribute(self.promises, schema)
        guesses = {}
        for name, rows in self.tables.items():
            own = Schema(
                attributes={
                    column: one for column, one in schema.attributes.items() if column in rows.columns
                },
                missing_values=schema.missing_values,
            )
            if own.names(Role.sensitive):
                guesses[name] = best_guesses(rows, own, harmless)
        return guesses

    @cached_property
    def smallest(self) -> dict[str, int]:
        """The size of the smallest block, by published table."""
        return {
            name: min(_least(piece.grouped().lengths) for piece in rows.pieces(known, known))
            for name, rows in self.tables.items()
            if (known := [column for column in rows.columns if column in self.quasi])
        }

    @cached_property
    def alone(self) -> dict[str, int]:
        """How many records no other is equal to in all columns, by published table."""
        return {
            name: sum(
                int((piece.grouped().lengths == 1).sum()) for piece in rows.pieces(rows.columns, rows.columns)
            )
            for name, rows in self.tables.items()
        }


def _least(lengths: pl.Series) -> int:
    return int(lengths.min())  # type: ignore[arg-type]


def where(table: str) -> str:
    """Begin a sentence about a table, where there are several."""
    return "" if table == "data" else f"View {table}: "
