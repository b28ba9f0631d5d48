"""The blocks of a release as a ledger keeps them: by the values of records, so that they are found again in any order and format."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

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
from sudare.ledger.several import LEFT_OUT, Listed, SeveralBlocks, SeveralForm, Spread
from sudare.tables.counts import Counts, count_index, places_of
from sudare.tables.table import Table

MAX_TUPLES = 2**28
SEVERAL = -2
"""In place of a block: in several."""

Finer = Callable[[Listed], Listed]
"""Counts listed tuples by all that is published of their records."""


class BlocksForm(BaseModel):
    """How blocks stand in a ledger's file."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    keys: Annotated[list[KeyForm], Field(min_length=1)]
    """In the order of the tuples' places."""
    tuples: Annotated[int, Field(ge=1, le=MAX_TUPLES)]
    packed: str
    """For every tuple the places of its values, and its block."""
    several: SeveralForm | None = None
    """The records of tuples in several blocks. Earlier versions wrote none, and such releases cannot be compared."""


@dataclass(frozen=True, eq=False)
class RecordedBlocks:
    """The block that the records with each tuple of values are published in; LEFT_OUT: in none, SEVERAL: see `several`."""

    keys: Mapping[str, list[str]]
    tuples: NDArray[np.int32]
    block_of: Ints
    several: SeveralBlocks | None = None

    @classmethod
    def of(cls, listed: Sequence[Listed], finer: Finer) -> RecordedBlocks:
        """Name tuples by what their values say, whatever the format: as the digest of a table takes them.

        All that is listed is counted by the same columns.
        """
        names = listed[0].counts.names
        keys = {
            name: list(dict.fromkeys(text for one in listed for text in meanings_of(one.table[name])))
            for name in names
        }
        places = np.concatenate([places_in(keys, one.table, one.counts, names) for one in listed])
        tuples, group = count_index(
            {name: places[:, at] for at, name in enumerate(names)}, [len(values) for values in keys.values()]
        )
        # Numbered anew, without gaps.
        numbers, block_of = np.unique(np.concatenate([one.block_of for one in listed]), return_inverse=True)
        block_of = block_of.reshape(-1) - int(numbers[0] == LEFT_OUT)
        lowest = np.full(len(tuples), len(block_of))
        highest = np.full(len(tuples), LEFT_OUT)
        np.minimum.at(lowest, group, block_of)
        np.maximum.at(highest, group, block_of)
        blocks = np.where(lowest == highest, lowest, SEVERAL)
        return cls(keys, tuples.codes, blocks)._with_several(listed, group, block_of, finer)

    def _with_several(
        self, listed: Sequence[Listed], group: Ints, block_of: Ints, finer: Finer
    ) -> RecordedBlocks:
        """Add the records of tuples in several blocks; `group` and `block_of` are of all that is listed, in turn."""
        details, start = [], 0
        for one in listed:
            own = slice(start, start + len(one.counts))
            inside = np.flatnonzero((self.block_of == SEVERAL)[group[own]])
            if len(inside):
                details.append(finer(Listed(one.table, one.counts.at(inside), block_of[own][inside])))
            start = own.stop
        if not details:
            return self
        tuple_of = [self._matched(one.table, one.counts, list(self.keys)) for one in details]
        passed = [name for name in details[0].counts.names if name not in self.keys]
        several = SeveralBlocks.of(details, np.concatenate(tuple_of), passed)
        return RecordedBlocks(self.keys, self.tuples, self.block_of, several)

    def to_json(self) -> dict[str, Any]:
        """Return the blocks as plain data."""
        numbers = np.column_stack([self.tuples, self.block_of])
        form = {"keys": forms_of(self.keys), "tuples": len(numbers), "packed": pack(numbers)}
        return form if self.several is None else {**form, "several": self.several.to_json()}

    @classmethod
    def read(cls, form: BlocksForm) -> RecordedBlocks:
        """Unpack blocks; what no release of ours records is refused."""
        keys = keys_of(form.keys)
        numbers = unpack(form.packed, form.tuples, len(keys) + 1, "tuples")
        refuse_unlisted(numbers[:, :-1], keys)
        block_of = numbers[:, -1]
        entries = form.several.entries if form.several else 0
        if block_of.min() < SEVERAL or block_of.max() >= form.tuples + entries:
            raise InputError("its blocks have numbers that no block has")
        several = SeveralBlocks.read(form.several, block_of == SEVERAL) if form.several else None
        return cls(keys, np.ascontiguousarray(numbers[:, :-1], dtype=np.int32), block_of, several)

    def own_keys(self, table: Table) -> list[str]:
        """Return the columns of a table that stand for the keys."""
        own = [table.like(name) for name in self.keys]
        if None in own:
            raise InputError("its blocks are of columns that its table does not have")
        return [name for name in own if name is not None]

    def _matched(self, table: Table, counts: Counts, names: Sequence[str]) -> Ints:
        """Return the recorded tuple of each that was counted of a table, in which some columns stand for the keys."""
        known = Counts(tuple(names), self.tuples, np.ones(len(self.tuples), dtype=np.int64), ())
        matches = places_of(places_in(self.keys, table, counts, names), known)
        if (matches < 0).any():
            raise InputError("its blocks are of other records than its table's")
        return matches

    def spread(self, table: Table, counts: Counts, attribute: str) -> Spread:
        """Say in which blocks the records may be of each tuple that was counted, by an attribute too, of the same records."""
        matches = self._matched(table, counts, self.own_keys(table))
        blocks = self.block_of[matches]
        one = Spread(np.arange(len(counts)), blocks, counts.weights)
        inside = np.flatnonzero(blocks == SEVERAL)
        if not len(inside):
            return one
        if self.several is None:
            raise RequirementError(
                "Two releases cannot be compared: records were published apart whose values say the same, such as 30 and 30.0, "
                f"or an empty text and none. The first have {table.describe(counts, int(inside[0]))}. Write such values alike in the source."
            )
        told_by_tuples = attribute in self.keys
        more = self.several.spread(
            matches[inside], table, counts.at(inside), None if told_by_tuples else attribute
        )
        alone = blocks != SEVERAL
        parts = [[array[alone] for array in one], [inside[more.place], more.block, more.records]]
        place, block, records = (np.concatenate(both) for both in zip(*parts, strict=True))
        order = np.argsort(place, kind="stable")
        return Spread(place[order], block[order], records[order])
