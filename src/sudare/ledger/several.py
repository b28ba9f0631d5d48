"""Records with one tuple of values that were published in several blocks: of how many that is known, and not of whom.

Either equal records were dealt to several blocks, or values that say the same, such as 30 and 30.0, were published apart.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field

from sudare.errors import InputError, RequirementError
from sudare.ledger.packed import (
    Ints,
    KeyForm,
    forms_of,
    keys_of,
    meanings_of,
    pack,
    places_in,
    refuse_unlisted,
    unpack,
)
from sudare.tables.counts import Counts, places_of
from sudare.tables.dealing import all_pairs, pairs_of
from sudare.tables.table import Table

LEFT_OUT = -1
"""In place of a block: in none."""
MAX_ENTRIES = 2**28
MAX_WAYS = 2**20  # for equal people to be in blocks, beside one for each tuple, that are followed one by one


class SeveralForm(BaseModel):
    """How records of several blocks stand in a ledger's file."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    columns: list[KeyForm]
    """What else was published of them."""
    entries: Annotated[int, Field(ge=1, le=MAX_ENTRIES)]
    packed: str
    """The tuple, the places of the values of the columns, the block, and how many records."""


class Listed(NamedTuple):
    """Tuples of a table, and the block of each that receivers see; one in several blocks stands once for each."""

    table: Table
    counts: Counts
    block_of: Ints


class Spread(NamedTuple):
    """In which blocks the records of tuples may be: all ways, in the order of the tuples.

    Nobody knows who of equal people is where: each may be in any of the blocks. Those that a way is said to have are as many as make
    every block as large as it is; a way may have none.
    """

    place: Ints
    block: Ints
    records: Ints

    def across(self, other: Spread) -> tuple[Ints, Ints, Ints]:
        """Return all ways to be in a block of this and in one of another, and how many records are said to have each."""
        refuse_too_many(pairs_of(self.place, other.place) - int(self.place[-1]) - 1)
        return all_pairs(self.place, self.records, other.place, other.records)


def refuse_too_many(ways: int) -> None:
    """Refuse more ways to be in several blocks, beside one for each tuple, than can be followed."""
    if ways > MAX_WAYS:
        raise RequirementError(
            f"Equal people may be in the blocks of these releases in {ways:,} ways more than one each, too many to follow one by one. "
            "Give the releases to receivers who were declared apart, or generalize with sudare.methods.Minimal(deal=False)."
        )


@dataclass(frozen=True, eq=False)
class SeveralBlocks:
    """The records of those tuples that lie in several blocks, told apart by all else that was published of them."""

    columns: Mapping[str, list[str]]
    tuple_of: Ints
    values: Ints
    """Where the values of the columns stand: entries x columns."""
    block_of: Ints
    records: Ints

    @classmethod
    def of(cls, listed: Sequence[Listed], tuple_of: Ints, passed: Sequence[str]) -> SeveralBlocks:
        """List records; `tuple_of` is the tuple of each that is listed, and `passed` names the columns beside those of tuples."""
        columns = {name: _present(listed, name) for name in passed}
        values = np.concatenate([places_in(columns, one.table, one.counts, passed) for one in listed])
        numbers = np.column_stack([tuple_of, values, np.concatenate([one.block_of for one in listed])])
        weights = np.concatenate([one.counts.weights for one in listed])
        entries, records = _summed(numbers, weights)
        return cls(columns, entries[:, 0], entries[:, 1:-1], entries[:, -1], records)

    def to_json(self) -> dict[str, Any]:
        """Return the entries as plain data."""
        numbers = np.column_stack([self.tuple_of, self.values, self.block_of, self.records])
        return {"columns": forms_of(self.columns), "entries": len(numbers), "packed": pack(numbers)}

    @classmethod
    def read(cls, form: SeveralForm, several: NDArray[np.bool_]) -> SeveralBlocks:
        """Unpack the entries; `several` tells which tuples lie in several blocks."""
        columns = keys_of(form.columns)
        numbers = unpack(form.packed, form.entries, len(columns) + 3, "entries")
        tuple_of, block_of, records = numbers[:, 0], numbers[:, -2], numbers[:, -1]
        refuse_unlisted(numbers[:, 1:-2], columns)
        if (tuple_of < 0).any() or (tuple_of >= len(several)).any() or not several[tuple_of].all():
            raise InputError("its records in several blocks are of tuples that are not")
        if (block_of < LEFT_OUT).any() or (block_of >= len(several) + len(numbers)).any():
            raise InputError("its blocks have numbers that no block has")
        if (records < 1).any():
            raise InputError("its blocks have no records of a tuple that is in them")
        return cls(columns, tuple_of, numbers[:, 1:-2], block_of, records)

    def spread(self, tuple_of: Ints, table: Table, counts: Counts, attribute: str | None) -> Spread:
        """Say in which blocks the records may be that were counted of a table, with these tuples and their values of an attribute.

        `attribute` is None if the tuples tell the value.
        """
        own, asked = np.zeros(len(self.tuple_of), dtype=np.int64), np.zeros(len(tuple_of), dtype=np.int64)
        if attribute is not None:
            if attribute not in self.columns:
                raise InputError(f"its records in several blocks are not told apart by {attribute!a}")
            own = self.values[:, list(self.columns).index(attribute)]
            listed = {attribute: self.columns[attribute]}
            asked = places_in(listed, table, counts, [attribute])[:, 0].astype(np.int64)
        entries, records = _summed(np.column_stack([self.tuple_of, own, self.block_of]), self.records)
        groups, first, group = np.unique(entries[:, :2], axis=0, return_index=True, return_inverse=True)
        group = group.reshape(-1)
        known = Counts(("tuple", "value"), groups.astype(np.int32), records[first], ())
        asked_group = places_of(np.column_stack([tuple_of, asked]), known)
        found = asked_group >= 0
        counted = np.bincount(asked_group[found], counts.weights[found], minlength=len(groups))
        present = np.bincount(group, records, minlength=len(groups))
        if not found.all() or (present != counted).any():
            raise InputError("its blocks are of other records than its table's")
        order = np.argsort(asked_group, kind="stable")
        refuse_too_many(pairs_of(asked_group[order], group) - len(order))
        one, other, met = all_pairs(asked_group[order], counts.weights[order], group, records)
        back = np.argsort(order[one], kind="stable")
        return Spread(order[one][back], entries[other, 2][back], met[back])


def _present(listed: Sequence[Listed], name: str) -> list[str]:
    """Return what the values say that some listed records have in a column."""
    every = [(meanings_of(one.table[name]), np.unique(one.counts.column(name))) for one in listed]
    return list(dict.fromkeys(meanings[code] for meanings, codes in every for code in codes.tolist()))


def _summed(numbers: Ints, weights: Ints) -> tuple[Ints, Ints]:
    """Return the different rows in rising order, and the sum of the weights of each."""
    rows, row_of = np.unique(numbers, axis=0, return_inverse=True)
    return rows, np.bincount(row_of.reshape(-1), weights).astype(np.int64)
