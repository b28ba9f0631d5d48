"""The ledger: an append-only file in which each entry is hashed together with the one before.

It is one SQLite file. An entry that was changed, moved or taken out of the middle breaks the chain of hashes,
and reading says so. Entries cut off the end leave a whole, shorter chain, and whoever may write the file may
hash a whole new chain: both are found only by `Chain.verify` with a head that was noted somewhere else.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeAlias

from sudare.errors import LedgerError, ParameterError

JSON: TypeAlias = bool | int | float | str | Sequence["JSON"] | Mapping[str, "JSON"] | None

#: What the first entry has in the place of the hash of the one before, and the head of an empty ledger.
GENESIS = "0" * 64

_APPLICATION_ID = int.from_bytes(b"Suda")  # in the file's header; `file` and SQLite's tools show it
_BUSY_SECONDS = 60
_MOST_BYTES = 256 * 2**20  # of an entry; a release of 30 million rows in blocks is below that
_RESTORE = "Do not rely on this ledger: restore it from a backup, and find out who or what changed it."

# EXTRA is FULL, and also syncs the folder once the journal is gone: else a power cut right after an append
# could bring the journal back, and with it the state before the append.
_DURABLY = "PRAGMA synchronous=EXTRA"

_FIELDS = "seq, at, kind, body, previous, hash"

# By name, as SQLite keeps their text, so that a later look can tell whether they are still as created.
_SCHEMA = {
    "entries": (
        "CREATE TABLE entries (seq INTEGER PRIMARY KEY, at TEXT NOT NULL, kind TEXT NOT NULL, "
        "body TEXT NOT NULL, previous TEXT NOT NULL, hash TEXT NOT NULL)"
    ),
    "entries_stay": (
        "CREATE TRIGGER entries_stay BEFORE DELETE ON entries "
        "BEGIN SELECT RAISE(ABORT, 'a ledger entry is never deleted'); END"
    ),
    "entries_stay_as_they_are": (
        "CREATE TRIGGER entries_stay_as_they_are BEFORE UPDATE ON entries "
        "BEGIN SELECT RAISE(ABORT, 'a ledger entry is never changed'); END"
    ),
    # INSERT OR REPLACE would otherwise take a row away without waking the trigger on DELETE.
    "entries_come_last": (
        "CREATE TRIGGER entries_come_last BEFORE INSERT ON entries "
        "WHEN NEW.seq IS NOT (SELECT coalesce(max(seq), 0) + 1 FROM entries) "
        "BEGIN SELECT RAISE(ABORT, 'a ledger entry comes after all others'); END"
    ),
}


@dataclass(frozen=True)
class Entry:
    """One entry: its number, when (UTC) and what it says, the hash of the entry before and its own."""

    seq: int
    at: str
    kind: str
    body: dict[str, Any]
    previous: str
    hash: str


class Chain:
    """An append-only, hash-chained file of entries, which several processes may write to at once.

    With `create`, a file that is missing or empty becomes a new ledger. Every operation opens the file anew,
    so it can be shared by threads and survives a fork.

    >>> import tempfile
    >>> ledger = Chain(Path(tempfile.mkdtemp()) / "ledger.sqlite")
    >>> entry = ledger.append("release", {"table": "adult", "rows": 45222})
    >>> entry.seq, entry.previous == GENESIS
    (1, True)
    >>> ledger.verify(head=entry.hash)
    """

    def __init__(self, path: Path | str, create: bool = True) -> None:
        self.path = Path(path).resolve()
        if self.path.is_dir():
            raise LedgerError(f"{self.path} is a folder, not a ledger. Name a file.")
        blank = not self.path.exists() or self.path.stat().st_size == 0
        if blank and not create:
            raise LedgerError(f"There is no ledger at {self.path}. Check the path, or create one.")
        if not blank:
            self._refuse_strangers()
        if create:
            self._create()

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
        with self._transaction("BEGIN IMMEDIATE") as connection:
            # All of them are read, not only the last: one bad byte can hide the end of the ledger, and a new
            # entry in its place would make that look whole.
            entries = self._read(connection)
            if check is not None:
                check(entries)
            seq, previous = len(entries) + 1, _head(entries)
            at = datetime.now(UTC).isoformat(timespec="microseconds")
            row = (seq, at, kind, text, previous, _hash(seq, at, kind, text, previous))
            entry = self._decode(row, seq)  # what could not be read again is not written
            connection.execute(f"INSERT INTO entries ({_FIELDS}) VALUES (?, ?, ?, ?, ?, ?)", row)
            connection.execute("COMMIT")
        return entry

    def entries(self) -> list[Entry]:
        """Read all entries, oldest first. Raises a LedgerError that names the first bad entry, if any is.

        >>> import tempfile
        >>> Chain(Path(tempfile.mkdtemp()) / "ledger.sqlite").entries()
        []
        """
        with self._transaction("BEGIN") as connection:
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
        elsewhere earlier. The chain must then still pass through it. Nothing else finds entries that were cut
        off the end, or a chain that was hashed anew.

        >>> import tempfile
        >>> ledger = Chain(Path(tempfile.mkdtemp()) / "ledger.sqlite")
        >>> ledger.verify(head=ledger.head())
        """
        entries = self.entries()
        if head is not None and head not in (GENESIS, *(entry.hash for entry in entries)):
            raise LedgerError(
                f"The ledger {self.path} does not contain the noted head {head}. Entries were cut off its end "
                f"(it has {len(entries)} now), or it was written anew, or the head is another ledger's. "
                f"{_RESTORE}"
            )

    def _read(self, connection: sqlite3.Connection) -> list[Entry]:
        """All entries, after checking all that there is to check."""
        self._check_schema(connection)
        entries = self._read_chain(connection)
        (found,) = connection.execute("PRAGMA integrity_check(1)").fetchone()
        if found != "ok":
            raise LedgerError(f"The file of the ledger {self.path} is damaged: {found}. {_RESTORE}")
        return entries

    def _read_chain(self, connection: sqlite3.Connection) -> list[Entry]:
        entries: list[Entry] = []
        try:
            for seq, row in enumerate(connection.execute(f"SELECT {_FIELDS} FROM entries ORDER BY seq"), 1):
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
        """Turn a stored row into an Entry, which its hash must fit. `place` is where it was found."""
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
        return LedgerError(f"Entry {seq} of the ledger {self.path} {what}. {_RESTORE}")

    def _refuse_strangers(self) -> None:
        """Refuse a file that is not a ledger, without touching it.

        An ordinary connection could roll a stranger's journal back, or fold its write-ahead log into it.
        `immutable` does neither and takes no locks. Reading the bytes with open() would not do: closing the
        file again drops the locks that other threads of this process hold on it (POSIX).
        """
        with self._connection("mode=ro&immutable=1") as connection:
            # Without this, a file that another process is making longer right now would be called damaged.
            connection.execute("PRAGMA writable_schema=ON")
            if _application_id(connection) != _APPLICATION_ID:
                raise self._not_a_ledger()

    def _check_schema(self, connection: sqlite3.Connection) -> None:
        if _application_id(connection) != _APPLICATION_ID:
            raise self._not_a_ledger()
        if connection.execute("SELECT name, sql FROM sqlite_master").fetchall() != list(_SCHEMA.items()):
            raise LedgerError(
                f"The tables and triggers of the ledger {self.path} are not as they were created: "
                f"somebody changed them. {_RESTORE}"
            )

    def _create(self) -> None:
        with suppress(OSError):  # SQLite says what is wrong
            self.path.touch(
                mode=0o600
            )  # for the holder alone: it has the salts, and what people's blocks are
        with self._connection("mode=rwc") as connection:
            if _application_id(connection) == _APPLICATION_ID:
                return
            connection.execute(_DURABLY)
            connection.execute("BEGIN IMMEDIATE")
            if self.path.stat().st_size == 0:
                connection.execute(f"PRAGMA application_id={_APPLICATION_ID}")
                for statement in _SCHEMA.values():
                    connection.execute(statement)
                connection.execute("COMMIT")
            # Asked again under the lock: another process may have been first.
            elif _application_id(connection) != _APPLICATION_ID:
                raise self._not_a_ledger()

    def _not_a_ledger(self) -> LedgerError:
        return LedgerError(f"{self.path} is not a ledger, and was left as it is. Name another file.")

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[sqlite3.Connection]:
        """A connection in a transaction, which is rolled back at the end unless it was committed."""
        with self._connection("mode=rw") as connection:
            connection.execute(_DURABLY)
            connection.execute(begin)
            yield connection

    @contextmanager
    def _connection(self, query: str) -> Iterator[sqlite3.Connection]:
        uri = f"{self.path.as_uri()}?{query}"
        try:
            with closing(
                sqlite3.connect(uri, uri=True, timeout=_BUSY_SECONDS, isolation_level=None)
            ) as connection:
                connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _MOST_BYTES)
                yield connection
        # A damaged name can end up in SQLite's message, and then Python fails to decode that.
        except (sqlite3.Error, UnicodeDecodeError) as error:
            raise LedgerError(
                f"The ledger {self.path} cannot be used: {error}. If it is locked, wait for the other run to "
                "end; if it is damaged, restore it from a backup."
            ) from error


def _head(entries: Sequence[Entry]) -> str:
    return entries[-1].hash if entries else GENESIS


def _application_id(connection: sqlite3.Connection) -> int:
    found: int
    (found,) = connection.execute("PRAGMA application_id").fetchone()
    return found


def _canonical(body: Mapping[str, JSON]) -> str:
    """The one JSON text of a body: sorted keys, no spaces, ASCII."""
    try:
        plain = dict(body)
        text = json.dumps(plain, sort_keys=True, separators=(",", ":"), allow_nan=False)
        # Numbers as keys, tuples and half characters have a JSON text, but not one that says the same.
        same = json.loads(text) == plain
    except (TypeError, ValueError, RecursionError) as error:
        raise ParameterError(f"The body of a ledger entry must be JSON: {error}.") from error
    if len(text) > _MOST_BYTES:
        raise ParameterError(
            f"The body of a ledger entry has {len(text):,} bytes, more than {_MOST_BYTES:,}."
        )
    if not same:
        raise ParameterError(
            "The body of a ledger entry must be JSON that reads back the same: use text as keys, and lists, "
            "not tuples."
        )
    return text


def _hash(seq: int, at: str, kind: str, text: str, previous: str) -> str:
    """SHA-256 of the JSON list of the five, in which no field can run into the next."""
    message = json.dumps([seq, at, kind, text, previous], separators=(",", ":"))
    return hashlib.sha256(message.encode("ascii")).hexdigest()
