"""The ledger: an append-only file in which each entry is hashed together with the one before.

It is one SQLite file. An entry that was changed, moved or taken out of the middle breaks the chain of hashes,
and reading says so. Entries cut off the end leave a whole, shorter chain, and whoever may write the file may
hash a whole new chain: both are detected only by `Chain.verify` with a head that was noted somewhere else.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeAlias

from sudare.errors import LedgerError, ParameterError
from sudare.ledger.sqlite_file import MAX_BYTES, RESTORE, LedgerFile
from sudare.tables.typed import own_words, typed

JSON: TypeAlias = bool | int | float | str | Sequence["JSON"] | Mapping[str, "JSON"] | None

#: What the first entry has in the place of the hash of the one before, and the head of an empty ledger.
GENESIS = "0" * 64


@dataclass(frozen=True)
class Entry:
    """One entry: its number, when (UTC) and what it says, the hash of the entry before and its own."""

    seq: int
    at: str
    kind: str
    body: dict[str, Any]
    previous: str
    hash: str


@typed
class Chain:
    """An append-only, hash-chained file of entries, which several processes may write to at once.

    With `create`, a file that is missing or empty becomes a new ledger.

    >>> import tempfile
    >>> ledger = Chain(Path(tempfile.mkdtemp()) / "ledger.sqlite")
    >>> entry = ledger.append("release", {"table": "adult", "rows": 45222})
    >>> entry.seq, entry.previous == GENESIS
    (1, True)
    >>> ledger.verify(head=entry.hash)
    """

    def __init__(self, path: Path | str, create: bool = True) -> None:
        self._file = LedgerFile(path, create)

    @property
    def path(self) -> Path:
        """Where the file is."""
        return self._file.path

    @own_words("body")
    def append(
        self, kind: str, body: Mapping[str, JSON], *, check: Callable[[list[Entry]], None] | None = None
    ) -> Entry:
        """Write one entry after all others, durably, and return it.

        The body must be plain JSON: text keys; values that are text, finite numbers, booleans, None, lists or
        dicts of these. `check` is given all earlier entries and may raise an error: then nothing is written. No
        other process can write between the two.

        >>> import tempfile
        >>> ledger = Chain(Path(tempfile.mkdtemp()) / "ledger.sqlite")
        >>> ledger.append("budget", {"epsilon": 0.5}).body
        {'epsilon': 0.5}
        """
        if not (kind and kind.isprintable()):
            raise ParameterError(
                f"The 'kind' parameter of append must be printable text. Got {kind!r} instead."
            )
        text = _canonical(body)
        with self._file.transaction("BEGIN IMMEDIATE") as connection:
            # All of them are read, not only the last: one bad byte can hide the end of the ledger, and a new
            # entry in its place would make that look whole.
            entries = self._read(connection)
            if check is not None:
                check(entries)
            seq, previous = len(entries) + 1, _head(entries)
            at = datetime.now(UTC).isoformat(timespec="microseconds")
            row = (seq, at, kind, text, previous, _hash(seq, at, kind, text, previous))
            entry = self._decode(row, seq)  # what could not be read again is not written
            self._file.add(connection, row)
        return entry

    def entries(self) -> list[Entry]:
        """Read all entries, oldest first. Raises a LedgerError that names the first bad entry, if any is.

        >>> import tempfile
        >>> Chain(Path(tempfile.mkdtemp()) / "ledger.sqlite").entries()
        []
        """
        with self._file.transaction("BEGIN") as connection:
            return self._read(connection)

    def head(self) -> str:
        """Return the hash of the last entry, or GENESIS. Note it elsewhere and give it to `verify` later.

        >>> import tempfile
        >>> Chain(Path(tempfile.mkdtemp()) / "ledger.sqlite").head() == GENESIS
        True
        """
        return _head(self.entries())

    def verify(self, head: str | None = None) -> None:
        """Check the whole file. Raises a LedgerError that names the first bad entry, if any is.

        The other operations check the same; but only here can a `head` be given, a hash that was noted
        elsewhere earlier. The chain must then still pass through it. Nothing else detects entries that were
        cut off the end, or a chain that was hashed anew.

        >>> import tempfile
        >>> ledger = Chain(Path(tempfile.mkdtemp()) / "ledger.sqlite")
        >>> ledger.verify(head=ledger.head())
        """
        entries = self.entries()
        if head is not None and head not in (GENESIS, *(entry.hash for entry in entries)):
            raise LedgerError(
                f"The ledger {self.path} does not contain the noted head {head}. Entries were cut off its end "
                f"(it has {len(entries)} now), or it was written anew, or the head is another ledger's. "
                f"{RESTORE}"
            )

    def _read(self, connection: sqlite3.Connection) -> list[Entry]:
        """Return all entries, after checking all that there is to check."""
        self._file.check_schema(connection)
        entries = self._read_chain(connection)
        self._file.check_integrity(connection)
        return entries

    def _read_chain(self, connection: sqlite3.Connection) -> list[Entry]:
        entries: list[Entry] = []
        try:
            for seq, row in enumerate(self._file.rows(connection), 1):
                entry = self._decode(row, seq)
                if entry.seq != seq:
                    raise self._bad(seq, f"is missing: entry {entry.seq} comes in its place")
                if entry.previous != _head(entries):
                    raise self._bad(
                        seq, "does not follow the entry before it: one of the two was put in later"
                    )
                entries.append(entry)
        except sqlite3.DatabaseError as error:
            raise self._bad(len(entries) + 1, f"cannot be read: {error}") from error
        return entries

    def _decode(self, row: tuple[Any, ...], place: int) -> Entry:
        """Turn a stored row into an Entry, which its hash must fit. `place` is where it stands."""
        seq, at, kind, text, previous, stored = row
        if not all(isinstance(field, str) for field in row[1:]) or _hash(*row[:-1]) != stored:
            raise self._bad(place, "does not fit its hash: it was changed after it was written")
        try:
            body = json.loads(text)
            written = isinstance(body, dict) and _canonical(body) == text
        except (ValueError, RecursionError, ParameterError):
            written = False
        # The one text of a body has no key twice, no NaN, no number beyond floats, and no spaces to hide anything in.
        if not written:
            raise self._bad(place, "has a body that is not a JSON object as Sudare writes it")
        return Entry(seq, at, kind, body, previous, stored)

    def _bad(self, seq: int, what: str) -> LedgerError:
        return LedgerError(f"Entry {seq} of the ledger {self.path} {what}. {RESTORE}")


def _head(entries: Sequence[Entry]) -> str:
    return entries[-1].hash if entries else GENESIS


def _canonical(body: Mapping[str, JSON]) -> str:
    """Return the one JSON text of a body: sorted keys, no spaces, ASCII."""
    try:
        plain = dict(body)
        text = json.dumps(plain, sort_keys=True, separators=(",", ":"), allow_nan=False)
        # Numbers as keys, tuples and half characters have a JSON text, but not one that says the same.
        same = json.loads(text) == plain
    except (TypeError, ValueError, RecursionError) as error:
        raise ParameterError(f"The body of a ledger entry must be JSON: {error}.") from error
    if len(text) > MAX_BYTES:
        raise ParameterError(f"The body of a ledger entry has {len(text):,} bytes, more than {MAX_BYTES:,}.")
    if not same:
        raise ParameterError(
            "The body of a ledger entry must be JSON that reads back the same: use text as keys, and lists, "
            "not tuples."
        )
    return text


def _hash(seq: int, at: str, kind: str, text: str, previous: str) -> str:
    """Return the SHA-256 of the JSON list of the five, in which no field can run into the next."""
    message = json.dumps([seq, at, kind, text, previous], separators=(",", ":"))
    return hashlib.sha256(message.encode("ascii")).hexdigest()
