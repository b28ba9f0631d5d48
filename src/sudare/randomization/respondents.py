"""Who is asked before there is a table."""

from __future__ import annotations

from dataclasses import dataclass

from sudare.tables.schema import Schema


@dataclass(frozen=True)
class Respondents:
    """So many people who are still to be asked: in the place of a table that nobody has."""

    schema: Schema
    records: int

    def __len__(self) -> int:
        return self.records
