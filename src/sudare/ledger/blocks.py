"""The blocks of a release as a ledger keeps them: by the values of records, so that they are found again in any order and format."""

from __future__ import annotations

import base64
import binascii
import zlib
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field

from sudare.errors import InputError
from sudare.tables.content import canonical
from sudare.tables.counts import Counts, places_of
from sudare.tables.dictionary import Dictionary
from sudare.tables.table import Table
from sudare.tables.text import text_of

Ints = NDArray[np.int64]
MAX_TUPLES = 2**28
NUMBER = "<i4"


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
    """The block that the records with each tuple of values are published in (-1: they are left out)."""

    keys: Mapping[str, list[str]]
    tuples: NDArray[np.int32]
    block_of: Ints

    @classmethod
    def of(cls, table: Table, counts: Counts, block_of: Ints) -> RecordedBlocks:
        """Name tuples by their values."""
        return cls({name: spelled_values(table[name]) for name in counts.names}, counts.codes, block_of)

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
        if numbers[:, -1].min() < -1 or numbers[:, -1].max() >= form.tuples:
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
            by_code = np.array(
                [place.get(value, -1) for value in spelled_values(table[name])], dtype=np.int32
            )
            places[:, at] = by_code[counts.column(name)]
        known = Counts(tuple(own), self.tuples, np.ones(len(self.tuples), dtype=np.int64), ())
        matches = places_of(places, known)
        if (matches < 0).any():
            raise InputError("its blocks are of other records than its table's")
        return self.block_of[matches]


def spelled_values(dictionary: Dictionary) -> list[str]:
    """Write every code's value as the one text that it has in all formats. Texts that say the same stay apart.

    >>> import polars as pl
    >>> spelled_values(Dictionary(pl.Series(["30", "30.0", "x"]), missing=True))
    ['n30 30', 'n30 30.0', 'tx', '']
    """
    meanings = [meaning or "" for meaning in canonical(dictionary.values)]
    often = Counter(meanings)
    texts = [
        meaning if meaning and often[meaning] == 1 else f"{meaning} {text_of(value)}"
        for meaning, value in zip(meanings, dictionary.values.to_list(), strict=True)
    ]
    return [*texts, ""] if dictionary.missing else texts
