"""Numbers and values as they stand in a ledger's file: found again in any order and format."""

from __future__ import annotations

import base64
import binascii
import zlib
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict

from sudare.errors import InputError
from sudare.tables.content import canonical
from sudare.tables.counts import Counts
from sudare.tables.dictionary import Dictionary
from sudare.tables.table import Table

Ints = NDArray[np.int64]
NUMBER = "<i4"


class KeyForm(BaseModel):
    """A column that records are told apart by, as it stands in a ledger's file."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    name: str
    values: list[str]


def forms_of(keys: Mapping[str, list[str]]) -> list[dict[str, object]]:
    """Return columns as plain data."""
    return [{"name": name, "values": values} for name, values in keys.items()]


def keys_of(forms: Sequence[KeyForm]) -> dict[str, list[str]]:
    """Read columns."""
    keys = {form.name: form.values for form in forms}
    if len(keys) < len(forms):
        raise InputError("its blocks are of one column twice")
    return keys


def pack(numbers: NDArray[np.integer]) -> str:
    """Write a table of whole numbers as text, column by column."""
    content = np.asfortranarray(numbers.astype(NUMBER)).tobytes(order="F")
    return base64.b64encode(zlib.compress(content)).decode("ascii")


def unpack(packed: str, rows: int, columns: int, what: str) -> Ints:
    """Read a table of whole numbers; text that packs anything else, or more, is refused before it takes memory."""
    size = np.dtype(NUMBER).itemsize * rows * columns
    unpacking = zlib.decompressobj()
    try:
        content = unpacking.decompress(base64.b64decode(packed, validate=True), size + 1)
    except (binascii.Error, ValueError, zlib.error):
        raise InputError("its blocks cannot be unpacked") from None
    if len(content) != size or not unpacking.eof or unpacking.unused_data:
        raise InputError(f"its blocks are not those of {rows:,} {what}")
    return np.frombuffer(content, dtype=NUMBER).reshape(columns, rows).T.astype(np.int64)


def refuse_unlisted(places: Ints, keys: Mapping[str, list[str]]) -> None:
    """Refuse places, one column for each key, at which no value stands."""
    if (places < 0).any() or (places >= [len(values) for values in keys.values()]).any():
        raise InputError("its tuples have values that are not listed")


def places_in(
    keys: Mapping[str, list[str]], table: Table, counts: Counts, names: Sequence[str]
) -> NDArray[np.int32]:
    """Return where the values of tuples stand among those of the keys, for which some columns of a table stand; -1: nowhere."""
    places = np.empty((len(counts), len(names)), dtype=np.int32)
    for at, (name, values) in enumerate(zip(names, keys.values(), strict=True)):
        place = {value: i for i, value in enumerate(values)}
        by_code = np.array([place.get(value, -1) for value in meanings_of(table[name])], dtype=np.int32)
        places[:, at] = by_code[counts.column(name)]
    return places


def meanings_of(dictionary: Dictionary) -> list[str]:
    """Write what every code's value says as the one text that it has in all formats, as the digest of a table does.

    >>> import polars as pl
    >>> meanings_of(Dictionary(pl.Series(["", "30", "30.0", "x"]), missing=True))
    ['', 'n30', 'n30', 'tx', '']
    """
    meanings = [meaning or "" for meaning in canonical(dictionary.values)]
    return [*meanings, ""] if dictionary.missing else meanings
