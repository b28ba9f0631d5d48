"""The blocks of a release as a ledger keeps them: by the values of records, so that they are found again in any order and format."""

from __future__ import annotations

import base64
import binascii
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field

from sudare.errors import InputError, RequirementError
from sudare.tables.content import canonical
from sudare.tables.counts import Counts, count_index, places_of
from sudare.tables.dictionary import Dictionary
from sudare.tables.table import Table

Ints = NDArray[np.int64]
MAX_TUPLES = 2**28
NUMBER = "<i4"
LEFT_OUT, SEVERAL = -1, -2
"""In place of a block."""


class KeyForm(BaseModel):
    """A column that records are told apart by, as it stands in a ledger's file."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    name: str
    values: list[str]


class BlocksForm(BaseModel):
    """How blocks stand in a ledger's file."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    keys: Annotated[list[KeyForm], Field(min_length=1)]
    """In the order of the tuples' places."""
    tuples: Annotated[int, Field(ge=1, le=MAX_TUPLES)]
    packed: str
    """For every tuple the places of its values, and its block."""


@dataclass(frozen=True, eq=False)
class RecordedBlocks:
    """The block that the records with each tuple of values are published in.

    LEFT_OUT: in none. SEVERAL: values that say the same, such as 30 and 30.0, or no text and none, were published apart.
    Read again, from another format, such records can no longer be told from each other.
    """

    keys: Mapping[str, list[str]]
    tuples: NDArray[np.int32]
    block_of: Ints

    @classmethod
    def of(cls, table: Table, counts: Counts, block_of: Ints) -> RecordedBlocks:
        """Name tuples by what their values say, whatever the format: as the digest of a table takes them."""
        keys: dict[str, list[str]] = {}
        columns: dict[str, NDArray[np.int32]] = {}
        for name in counts.names:
            every = meanings_of(table[name])
            keys[name] = list(dict.fromkeys(every))
            place = {meaning: i for i, meaning in enumerate(keys[name])}
            columns[name] = np.array([place[meaning] for meaning in every], dtype=np.int32)[
                counts.column(name)
            ]
        tuples, group = count_index(dict(columns), [len(values) for values in keys.values()])
        lowest = np.full(len(tuples), np.iinfo(np.int64).max)
        highest = np.full(len(tuples), np.iinfo(np.int64).min)
        np.minimum.at(lowest, group, block_of)
        np.maximum.at(highest, group, block_of)
        blocks = np.where(lowest == highest, lowest, SEVERAL)
        inside = blocks >= 0
        blocks[inside] = np.unique(blocks[inside], return_inverse=True)[1]  # numbered anew, without gaps
        return cls(keys, tuples.codes, blocks)

    def to_json(self) -> dict[str, Any]:
        """Return the blocks as plain data."""
        numbers = np.column_stack([self.tuples, self.block_of]).astype(NUMBER)
        packed = base64.b64encode(zlib.compress(np.asfortranarray(numbers).tobytes(order="F"))).decode(
            "ascii"
        )
        return {
            "keys": [{"name": name, "values": values} for name, values in self.keys.items()],
            "tuples": len(numbers),
            "packed": packed,
        }

    @classmethod
    def read(cls, form: BlocksForm) -> RecordedBlocks:
        """Unpack blocks; text that packs anything else, or more, is refused before it takes memory."""
        keys, width = {key.name: key.values for key in form.keys}, len(form.keys) + 1
        if len(keys) < len(form.keys):
            raise InputError("its blocks are of one column twice")
        size = np.dtype(NUMBER).itemsize * form.tuples * width
        unpacking = zlib.decompressobj()
        try:
            content = unpacking.decompress(base64.b64decode(form.packed, validate=True), size + 1)
        except (binascii.Error, ValueError, zlib.error):
            raise InputError("its blocks cannot be unpacked") from None
        if len(content) != size or not unpacking.eof or unpacking.unused_data:
            raise InputError(f"its blocks are not those of {form.tuples:,} tuples")
        numbers = np.frombuffer(content, dtype=NUMBER).reshape(width, form.tuples).T
        sizes = np.array([len(values) for values in keys.values()])
        if (numbers[:, :-1] < 0).any() or (numbers[:, :-1] >= sizes).any():
            raise InputError("its tuples have values that are not listed")
        if numbers[:, -1].min() < SEVERAL or numbers[:, -1].max() >= form.tuples:
            raise InputError("its blocks have numbers that no block has")
        return cls(
            keys, np.ascontiguousarray(numbers[:, :-1], dtype=np.int32), numbers[:, -1].astype(np.int64)
        )

    def own_keys(self, table: Table) -> list[str]:
        """Return the columns of a table that stand for the keys."""
        own = [table.like(name) for name in self.keys]
        if None in own:
            raise InputError("its blocks are of columns that its table does not have")
        return [name for name in own if name is not None]

    def located(self, table: Table, counts: Counts) -> Ints:
        """Return the block of each tuple that was counted of a table with the same records."""
        own = self.own_keys(table)
        places = np.empty((len(counts), len(own)), dtype=np.int32)
        for at, (name, values) in enumerate(zip(own, self.keys.values(), strict=True)):
            place = {value: i for i, value in enumerate(values)}
            by_code = np.array([place.get(value, -1) for value in meanings_of(table[name])], dtype=np.int32)
            places[:, at] = by_code[counts.column(name)]
        known = Counts(tuple(own), self.tuples, np.ones(len(self.tuples), dtype=np.int64), ())
        matches = places_of(places, known)
        if (matches < 0).any():
            raise InputError("its blocks are of other records than its table's")
        blocks = self.block_of[matches]
        if (blocks == SEVERAL).any():
            first = table.describe(counts, int((blocks == SEVERAL).argmax()))
            raise RequirementError(
                "Two releases cannot be compared: records were published apart whose values say the same, such as 30 and 30.0, "
                f"or an empty text and none. The first have {first}. Write such values alike in the source."
            )
        return blocks


def meanings_of(dictionary: Dictionary) -> list[str]:
    """Write what every code's value says as the one text that it has in all formats, as the digest of a table does.

    >>> import polars as pl
    >>> meanings_of(Dictionary(pl.Series(["", "30", "30.0", "x"]), missing=True))
    ['', 'n30', 'n30', 'tx', '']
    """
    meanings = [meaning or "" for meaning in canonical(dictionary.values)]
    return [*meanings, ""] if dictionary.missing else meanings
