"""How each warehouse writes names, texts, types and lists. All text of a statement that comes from a plan passes through here.

A text is written as it is only if no sign in it means anything to a parser of SQL, or to what may read a statement before one does (clients
with variables, drivers with parameters, templates). All others are written in hexadecimal digits, so there is nothing to escape.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, get_args

from sudare.errors import InputError
from sudare.tables.text import shown

DialectName = Literal["duckdb", "postgres", "spark", "bigquery", "snowflake"]
DIALECTS: tuple[DialectName, ...] = get_args(DialectName)
Kind = Literal["text", "integer", "number", "date", "datetime"]
_PLAIN = re.compile(r"[\w .,()\[\]<>=+*?!-]*")


@dataclass(frozen=True)
class Dialect:
    """What SQL is like in a warehouse."""

    name: DialectName
    quote: str
    """Around names; doubled within them."""
    types: Mapping[Kind, str]
    by_byte: str
    """What a text is compared by, so that no collation takes two texts for one."""
    from_hex: str
    digest: str
    """SHA-256 of a text, in hexadecimal digits."""
    longest_name: int
    """Bytes."""
    no_name_has: str = ""
    materialized: str = ""
    """Said of a query that several others read, so that it is carried out once."""
    most_bytes: int | None = None
    """Of one statement."""
    most_rows: int = 200_000
    """That one list of a statement may have."""

    def named(self, name: str) -> str:
        """Return a quoted name; one that the warehouse does not have is refused."""
        if "\0" in name or any(sign in name for sign in self.no_name_has.split()):
            raise InputError(f"{self.name} has no column with the name {shown(name)}.")
        if len(name.encode()) > self.longest_name:
            raise InputError(
                f"{self.name} cuts names after {self.longest_name} bytes, and {shown(name)} has {len(name.encode())}: another column may be "
                "taken for it. Rename it, in the warehouse and in the schema."
            )
        return self.quote + name.replace(self.quote, 2 * self.quote) + self.quote

    def cast(self, of: str, kind: Kind) -> str:
        """Return an expression as another type."""
        return f"CAST({of} AS {self.types[kind]})"

    def same(self, of: str) -> str:
        """Return what the text of an expression is compared by."""
        return self.by_byte.format(self.cast(of, "text"))

    def equal(self, one: str, other: str, kind: Kind) -> str:
        """Return that two expressions of a kind are equal."""
        return f"{self.same(one)} = {self.same(other)}" if kind == "text" else f"{one} = {other}"

    def listed(self, columns: Mapping[str, Kind], rows: list[str]) -> str:
        """Return a relation, with its alias, of rows that are written out."""
        if self.name == "bigquery":
            types = ", ".join(f"{name} {self.types[kind]}" for name, kind in columns.items())
            return f"UNNEST(ARRAY<STRUCT<{types}>>[\n" + ",\n".join(rows) + "]) AS listed"
        return "(VALUES\n" + ",\n".join(rows) + f") AS listed ({', '.join(columns)})"


def is_plain(text: str) -> bool:
    """Tell whether a text can stand between quotes as it is.

    >>> is_plain("[20, 30)"), is_plain("簾"), is_plain("O'Brien"), is_plain("${x}"), is_plain("a -- b")
    (True, True, False, False, False)
    """
    return _PLAIN.fullmatch(text) is not None and "--" not in text


def in_hex(text: str) -> str:
    """Return the digits of a text; a text that some database cannot hold is refused."""
    if "\0" in text:
        raise InputError(
            f"The plan has the value {shown(text)}, with a NUL sign, which texts in SQL cannot have."
        )
    return text.encode().hex()


_STANDARD: dict[Kind, str] = {
    "text": "VARCHAR",
    "integer": "BIGINT",
    "number": "DOUBLE",
    "date": "DATE",
    "datetime": "TIMESTAMP",
}
_IN_BIGQUERY: dict[Kind, str] = {
    "text": "STRING",
    "integer": "INT64",
    "number": "FLOAT64",
    "datetime": "DATETIME",
}
_NO_LIMIT = 2**31
_OWN = [
    Dialect(
        "duckdb", '"', _STANDARD, "encode({})", "decode(unhex({}))", "sha256({})", _NO_LIMIT, materialized="MATERIALIZED "
    ),
    Dialect(
        "postgres", '"', _STANDARD | {"text": "TEXT", "number": "DOUBLE PRECISION"},
        '({} COLLATE "C")', "convert_from(decode({}, 'hex'), 'UTF8')",
        "encode(sha256(convert_to({}, 'UTF8')), 'hex')", 63, materialized="MATERIALIZED ",
    ),
    Dialect(
        "spark", "`", _STANDARD | {"text": "STRING", "datetime": "TIMESTAMP_NTZ"},
        "CAST({} AS BINARY)", "decode(unhex({}), 'UTF-8')", "sha2(CAST({} AS BINARY), 256)", _NO_LIMIT, no_name_has="${",
    ),
    Dialect(
        "bigquery", "`", _STANDARD | _IN_BIGQUERY, "CAST({} AS BYTES)", "CAST(FROM_HEX({}) AS STRING)", "TO_HEX(SHA256({}))", 300,
        no_name_has="` \\", most_bytes=1_000_000,
    ),
    Dialect(
        "snowflake", '"', _STANDARD | {"datetime": "TIMESTAMP_NTZ"}, "TO_BINARY({}, 'UTF-8')", "HEX_DECODE_STRING({})", "SHA2({}, 256)", 255,
        most_bytes=1_000_000, most_rows=16_384,
    ),
]  # fmt: skip
WRITTEN_FOR: Mapping[str, Dialect] = {own.name: own for own in _OWN}
