"""The file of a ledger: one SQLite file with one table, to which rows are only added.

Every operation opens the file anew, so that it can be shared by threads and survives a fork.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

from sudare.errors import LedgerError
from sudare.tables.given import path_given

APPLICATION_ID = int.from_bytes(b"Suda")  # in the file's header; `file` and SQLite's tools show it
BUSY_SECONDS = 60
MAX_BYTES = 256 * 2**20  # of an entry; a release of 30 million rows in blocks is below that
RESTORE = "Do not rely on this ledger: restore it from a backup, and find out who or what changed it."

# EXTRA is FULL, and also syncs the folder once the journal is gone: else a power cut right after an append
# could bring the journal back, and with it the state before the append.
DURABLY = "PRAGMA synchronous=EXTRA"

FIELDS = "seq, at, kind, body, previous, hash"

# By name, as SQLite keeps their text, so that a later look can tell whether they are still as created.
SCHEMA = {
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


class LedgerFile:
    """A SQLite file that only a ledger's entries are in.

    With `create`, a file that is missing or empty becomes a new ledger. Any other file is refused, and left as it is.
    """

    def __init__(self, path: Path | str, create: bool = True) -> None:
        path_given(path, "path", "Ledger")
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

    @contextmanager
    def transaction(self, begin: str) -> Iterator[sqlite3.Connection]:
        """Open a connection in a transaction, which is rolled back at the end unless it was committed."""
        with self._connection("mode=rw") as connection:
            connection.execute(DURABLY)
            connection.execute(begin)
            yield connection

    def rows(self, connection: sqlite3.Connection) -> Iterator[tuple[Any, ...]]:
        """Return the rows of all entries, by their number."""
        return connection.execute(f"SELECT {FIELDS} FROM entries ORDER BY seq")

    def add(self, connection: sqlite3.Connection, row: tuple[Any, ...]) -> None:
        """Write the row of one entry, durably."""
        connection.execute(f"INSERT INTO entries ({FIELDS}) VALUES (?, ?, ?, ?, ?, ?)", row)
        connection.execute("COMMIT")

    def check_schema(self, connection: sqlite3.Connection) -> None:
        """Refuse a file whose tables and triggers are not as they were created."""
        if application_id(connection) != APPLICATION_ID:
            raise self._not_a_ledger()
        if connection.execute("SELECT name, sql FROM sqlite_master").fetchall() != list(SCHEMA.items()):
            raise LedgerError(
                f"The tables and triggers of the ledger {self.path} are not as they were created: "
                f"somebody changed them. {RESTORE}"
            )

    def check_integrity(self, connection: sqlite3.Connection) -> None:
        """Let SQLite look for damage in the whole file."""
        (state,) = connection.execute("PRAGMA integrity_check(1)").fetchone()
        if state != "ok":
            raise LedgerError(f"The file of the ledger {self.path} is damaged: {state}. {RESTORE}")

    def _refuse_strangers(self) -> None:
        """Refuse a file that is not a ledger, without touching it.

        An ordinary connection could roll a stranger's journal back, or fold its write-ahead log into it.
        `immutable` does neither and takes no locks. Reading the bytes with open() would not do: closing the
        file again drops the locks that other threads of this process hold on it (POSIX).
        """
        with self._connection("mode=ro&immutable=1") as connection:
            # Without this, a file that another process is making longer right now would be called damaged.
            connection.execute("PRAGMA writable_schema=ON")
            if application_id(connection) != APPLICATION_ID:
                raise self._not_a_ledger()

    def _create(self) -> None:
        with suppress(OSError):  # SQLite says what is wrong
            self.path.touch(
                mode=0o600
            )  # for the holder alone: it has the salts, and what people's blocks are
        with self._connection("mode=rwc") as connection:
            if application_id(connection) == APPLICATION_ID:
                return
            connection.execute(DURABLY)
            connection.execute("BEGIN IMMEDIATE")
            if self.path.stat().st_size == 0:
                connection.execute(f"PRAGMA application_id={APPLICATION_ID}")
                for statement in SCHEMA.values():
                    connection.execute(statement)
                connection.execute("COMMIT")
            # Asked again under the lock: another process may have been first.
            elif application_id(connection) != APPLICATION_ID:
                raise self._not_a_ledger()

    def _not_a_ledger(self) -> LedgerError:
        return LedgerError(f"{self.path} is not a ledger, and was left as it is. Name another file.")

    @contextmanager
    def _connection(self, query: str) -> Iterator[sqlite3.Connection]:
        uri = f"{self.path.as_uri()}?{query}"
        try:
            with closing(
                sqlite3.connect(uri, uri=True, timeout=BUSY_SECONDS, isolation_level=None)
            ) as connection:
                connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MAX_BYTES)
                yield connection
        # A damaged name can end up in SQLite's message, and then Python fails to decode that.
        except (sqlite3.Error, UnicodeDecodeError) as error:
            raise LedgerError(
                f"The ledger {self.path} cannot be used: {error}. If it is locked, wait for the other run to "
                "end; if it is damaged, restore it from a backup."
            ) from error


def application_id(connection: sqlite3.Connection) -> int:
    """Return what the header of the file says it is for."""
    number: int
    (number,) = connection.execute("PRAGMA application_id").fetchone()
    return number
