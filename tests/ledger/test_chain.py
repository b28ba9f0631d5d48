from __future__ import annotations

import contextlib
import ctypes
import hashlib
import itertools
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime, timedelta
from functools import cache, partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sudare.errors import LedgerError, ParameterError
from sudare.ledger import sqlite_file
from sudare.ledger.chain import GENESIS, Entry
from sudare.ledger.chain import Chain as Ledger
from tests.release.killing import at_once, forker

BODIES: list[dict[str, Any]] = [{"rows": 3, "table": "adult"}, {"epsilon": 0.5}, {"note": "簾"}]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "ledger.sqlite"


@pytest.fixture
def ledger(path: Path) -> Ledger:
    """A ledger with three entries."""
    ledger = Ledger(path)
    for body in BODIES:
        ledger.append("release", body)
    return ledger


def tamper(path: Path, *statements: str) -> None:
    """Do as somebody would who knows SQLite and hides the traces: triggers are dropped and put back."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        triggers = connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
        for name, _ in triggers:
            connection.execute(f"DROP TRIGGER {name}")
        for statement in statements:
            connection.execute(statement)
        for _, sql in triggers:
            connection.execute(sql)


class TestAppend:
    def test_entries_read_back_as_appended(self, path: Path) -> None:
        before = datetime.now(UTC)
        appended = [Ledger(path).append("release", body) for body in BODIES]
        assert Ledger(path, create=False).entries() == appended
        assert [entry.seq for entry in appended] == [1, 2, 3]
        assert [entry.body for entry in appended] == BODIES
        for entry in appended:
            at = datetime.fromisoformat(entry.at)
            assert at.utcoffset() == timedelta(0)
            assert before <= at <= datetime.now(UTC)

    def test_chain_by_hand(self, ledger: Ledger) -> None:
        previous = "0" * 64
        for entry in ledger.entries():
            body = json.dumps(entry.body, sort_keys=True, separators=(",", ":"))
            message = json.dumps([entry.seq, entry.at, "release", body, previous], separators=(",", ":"))
            assert entry.previous == previous
            assert entry.hash == hashlib.sha256(message.encode()).hexdigest()
            previous = entry.hash

    def test_the_body_is_stored_as_canonical_text(self, path: Path) -> None:
        Ledger(path).append("release", {"b": [1, None], "a": {"d": True, "c": "簾"}})
        with closing(sqlite3.connect(path)) as connection:
            (text,) = connection.execute("SELECT body FROM entries").fetchone()
        assert text == '{"a":{"c":"\\u7c3e","d":true},"b":[1,null]}'

    def test_head(self, path: Path) -> None:
        ledger = Ledger(path)
        assert ledger.head() == GENESIS
        entry = ledger.append("release", {})
        assert ledger.head() == entry.hash

    def test_written_durably(self, ledger: Ledger) -> None:
        with ledger._file.transaction("BEGIN") as connection:
            assert connection.execute("PRAGMA synchronous").fetchone() == (3,)  # EXTRA
            assert connection.execute("PRAGMA journal_mode").fetchone() == ("delete",)

    def test_only_its_owner_may_read_it(self, ledger: Ledger) -> None:
        assert ledger.path.stat().st_mode & 0o777 == 0o600

    def test_one_file_and_nothing_else(self, ledger: Ledger) -> None:
        assert [file.name for file in ledger.path.parent.iterdir()] == ["ledger.sqlite"]

    @pytest.mark.parametrize(
        "body",
        [
            {"x": float("nan")},
            {"x": [float("inf")]},
            {"x": {"y": -float("inf")}},
            {"x": object()},
            {"x": b"bytes"},
            {"x": (1, 2)},
            {1: "x"},
            {1: "x", "1": "y"},
            {"x": {None: 1}},
            {"x": "\ud83d\ude00"},
            {"x": 10**5000},
            ["not", "a", "mapping"],
        ],
    )
    def test_what_is_not_json(self, ledger: Ledger, body: Any) -> None:
        head = ledger.head()
        with pytest.raises(ParameterError, match="body of a ledger entry must be JSON"):
            ledger.append("release", body)
        assert ledger.head() == head

    def test_circle(self, ledger: Ledger) -> None:
        body: dict[str, Any] = {}
        body["self"] = body
        with pytest.raises(ParameterError, match="Circular"):
            ledger.append("release", body)

    @pytest.mark.parametrize("kind", ["", "two\nlines", "nul\0", "\ud800"])
    def test_kind(self, ledger: Ledger, kind: str) -> None:
        with pytest.raises(ParameterError, match="'kind' parameter of append must be printable"):
            ledger.append(kind, {})

    def test_path_with_marks_that_mean_something_in_addresses(self, tmp_path: Path) -> None:
        path = tmp_path / "what?mode=memory#100% 簾.sqlite"
        Ledger(str(path)).append("release", {})
        assert path.exists()
        assert len(Ledger(path, create=False).entries()) == 1


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)


@settings(max_examples=60)
@given(st.lists(st.dictionaries(st.text(), JSON_VALUES), max_size=3))
def test_any_json_reads_back_and_verifies(bodies: list[dict[str, Any]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        ledger = Ledger(Path(folder) / "ledger.sqlite")
        appended = [ledger.append("release", body) for body in bodies]
        ledger.verify(head=appended[-1].hash if appended else GENESIS)
        assert ledger.entries() == appended
        # Compared as text: 1, 1.0 and True are equal in Python, and must not be taken for each other.
        assert [repr(sort(entry.body)) for entry in ledger.entries()] == [repr(sort(body)) for body in bodies]


def sort(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: sort(value[key]) for key in sorted(value)}
    return [sort(item) for item in value] if isinstance(value, list) else value


class TestWhatIsNotALedger:
    def test_missing(self, path: Path) -> None:
        with pytest.raises(LedgerError, match=r"There is no ledger at .*ledger\.sqlite"):
            Ledger(path, create=False)
        assert not path.exists()

    @pytest.mark.parametrize("create", [True, False])
    def test_folder(self, tmp_path: Path, create: bool) -> None:
        with pytest.raises(LedgerError, match="is a folder"):
            Ledger(tmp_path, create=create)

    def test_in_a_missing_folder(self, tmp_path: Path) -> None:
        with pytest.raises(LedgerError, match="unable to open"):
            Ledger(tmp_path / "missing" / "ledger.sqlite")

    def test_empty_file(self, path: Path) -> None:
        path.touch()
        with pytest.raises(LedgerError, match="There is no ledger"):
            Ledger(path, create=False)
        Ledger(path).append("release", {})
        assert len(Ledger(path, create=False).entries()) == 1

    @pytest.mark.parametrize("create", [True, False])
    @pytest.mark.parametrize("content", [b"x", b"name,age\n" * 1000, b"SQLite format 3\0", bytes(4096)])
    def test_other_files(self, path: Path, content: bytes, create: bool) -> None:
        path.write_bytes(content)
        with pytest.raises(LedgerError, match=r"ledger\.sqlite"):
            Ledger(path, create=create)
        assert path.read_bytes() == content
        assert [file.name for file in path.parent.iterdir()] == ["ledger.sqlite"]

    @pytest.mark.parametrize("create", [True, False])
    @pytest.mark.parametrize(
        "statements",
        [
            ["CREATE TABLE theirs (x)"],
            ["PRAGMA application_id=7"],
            ["PRAGMA user_version=1"],
            ["CREATE TABLE entries (seq)", "PRAGMA application_id=7"],
        ],
    )
    def test_other_databases(self, path: Path, statements: list[str], create: bool) -> None:
        with closing(sqlite3.connect(path, isolation_level=None)) as connection:
            for statement in statements:
                connection.execute(statement)
        content = path.read_bytes()
        assert content
        with pytest.raises(LedgerError, match="is not a ledger, and was left as it is"):
            Ledger(path, create=create)
        assert path.read_bytes() == content

    @pytest.mark.parametrize("create", [True, False])
    @pytest.mark.parametrize("journal", ["WAL", "DELETE"])
    def test_other_database_in_mid_write(self, tmp_path: Path, journal: str, create: bool) -> None:
        # As a killed process left it: what it wrote is in the log, or what it overwrote in the journal.
        (tmp_path / "theirs").mkdir()
        (tmp_path / "copy").mkdir()
        theirs = tmp_path / "theirs" / "ledger.sqlite"
        with closing(sqlite3.connect(theirs, isolation_level=None)) as connection:
            connection.execute(f"PRAGMA journal_mode={journal}")
            connection.execute("CREATE TABLE theirs (x)")
            connection.execute("PRAGMA cache_size=1")  # forces changes into the file before the commit
            connection.execute("BEGIN")
            connection.executemany("INSERT INTO theirs VALUES (?)", [("x" * 1000,)] * 100)
            if journal == "WAL":
                connection.execute("COMMIT")
            copies = [Path(shutil.copy(file, tmp_path / "copy")) for file in theirs.parent.iterdir()]
        assert len(copies) > 1
        before = {file: file.read_bytes() for file in copies}
        with pytest.raises(LedgerError, match="is not a ledger"):
            Ledger(tmp_path / "copy" / "ledger.sqlite", create=create)
        assert {file: file.read_bytes() for file in (tmp_path / "copy").iterdir()} == before

    def test_it_went_away_later(self, ledger: Ledger) -> None:
        ledger.path.unlink()
        for use in (ledger.entries, ledger.head, ledger.verify, lambda: ledger.append("release", {})):
            with pytest.raises(LedgerError, match="unable to open"):
                use()
        assert not ledger.path.exists()

    def test_it_was_overwritten_later(self, ledger: Ledger) -> None:
        ledger.path.write_bytes(b"not a database" * 1000)
        for use in (ledger.entries, ledger.head, ledger.verify, lambda: ledger.append("release", {})):
            with pytest.raises(LedgerError, match="not a database"):
                use()


class TestTampering:
    @pytest.mark.parametrize(
        "statement",
        [
            "UPDATE entries SET body = '{}'",
            "DELETE FROM entries",
            "INSERT OR REPLACE INTO entries SELECT seq, at, kind, '{}', previous, hash FROM entries",
            "INSERT INTO entries SELECT seq + 7, at, kind, body, previous, hash FROM entries LIMIT 1",
        ],
    )
    def test_triggers_forbid_it(self, ledger: Ledger, statement: str) -> None:
        with (
            closing(sqlite3.connect(ledger.path, isolation_level=None)) as connection,
            pytest.raises(sqlite3.IntegrityError, match="a ledger entry"),
        ):
            connection.execute(statement)
        ledger.verify()

    @pytest.mark.parametrize("column", ["at", "kind", "body", "previous", "hash"])
    @pytest.mark.parametrize("value", ["'x'", "'{}'", "x'7b7d'", "7", f"'{GENESIS}'"])
    def test_edited(self, ledger: Ledger, column: str, value: str) -> None:
        tamper(ledger.path, f"UPDATE entries SET {column} = {value} WHERE seq = 2")
        for use in (ledger.verify, ledger.entries, ledger.head):
            with pytest.raises(LedgerError, match=r"Entry 2 .* was changed after it was written"):
                use()

    def test_the_last_edited(self, ledger: Ledger) -> None:
        tamper(ledger.path, "UPDATE entries SET body = '{}' WHERE seq = 3")
        with pytest.raises(LedgerError, match=r"Entry 3"):
            ledger.append("release", {})

    def test_edited_and_hashed_anew(self, ledger: Ledger) -> None:
        one, two, three = ledger.entries()
        message = json.dumps([2, two.at, "release", "{}", one.hash], separators=(",", ":"))
        new = hashlib.sha256(message.encode()).hexdigest()
        tamper(ledger.path, f"UPDATE entries SET body = '{{}}', hash = '{new}' WHERE seq = 2")
        with pytest.raises(LedgerError, match=r"Entry 3 .* does not follow"):
            ledger.verify()
        tamper(ledger.path, "DELETE FROM entries WHERE seq = 3")
        ledger.verify()  # nothing in the file can tell; the noted head does
        for head in (two.hash, three.hash):
            with pytest.raises(LedgerError, match="does not contain the noted head"):
                ledger.verify(head=head)

    @pytest.mark.parametrize("text", ["no json", "[]", "7"])
    def test_hashed_but_not_ours(self, path: Path, text: str) -> None:
        ledger = Ledger(path)
        message = json.dumps([1, "now", "release", text, GENESIS], separators=(",", ":"))
        digest = hashlib.sha256(message.encode()).hexdigest()
        tamper(path, f"INSERT INTO entries VALUES (1, 'now', 'release', '{text}', '{GENESIS}', '{digest}')")
        with pytest.raises(LedgerError, match=r"Entry 1 .* not a JSON object"):
            ledger.verify()

    @pytest.mark.parametrize("seq", [1, 2])
    def test_deleted(self, ledger: Ledger, seq: int) -> None:
        tamper(ledger.path, f"DELETE FROM entries WHERE seq = {seq}")
        with pytest.raises(LedgerError, match=f"Entry {seq} .* is missing: entry {seq + 1} comes"):
            ledger.verify()

    def test_deleted_and_numbered_anew(self, ledger: Ledger) -> None:
        tamper(ledger.path, "DELETE FROM entries WHERE seq = 2", "UPDATE entries SET seq = 2 WHERE seq = 3")
        with pytest.raises(LedgerError, match=r"Entry 2 .* was changed"):
            ledger.verify()

    def test_swapped(self, ledger: Ledger) -> None:
        tamper(
            ledger.path,
            *(f"UPDATE entries SET seq = {new} WHERE seq = {old}" for old, new in [(1, 9), (2, 1), (9, 2)]),
        )
        with pytest.raises(LedgerError, match=r"Entry 1 .* was changed"):
            ledger.verify()

    def test_tail_cut(self, ledger: Ledger) -> None:
        heads = [GENESIS, *(entry.hash for entry in ledger.entries())]
        for head in heads:
            ledger.verify(head=head)
        tamper(ledger.path, "DELETE FROM entries WHERE seq = 3")
        for head in heads[:3]:
            ledger.verify(head=head)
        with pytest.raises(LedgerError, match=rf"noted head {heads[3]}.*cut off its end \(it has 2 now\)"):
            ledger.verify(head=heads[3])

    @pytest.mark.parametrize(
        "statement",
        [
            "DROP TRIGGER entries_stay",
            "CREATE TABLE more (x)",
            "CREATE INDEX more ON entries (kind)",
            "CREATE VIEW more AS SELECT 1",
            "ALTER TABLE entries ADD COLUMN more",
        ],
    )
    def test_schema_changed(self, ledger: Ledger, statement: str) -> None:
        with closing(sqlite3.connect(ledger.path, isolation_level=None)) as connection:
            connection.execute(statement)
        for use in (ledger.verify, ledger.entries, ledger.head, lambda: ledger.append("release", {})):
            with pytest.raises(LedgerError, match="tables and triggers"):
                use()

    def test_mark_in_the_header_changed(self, ledger: Ledger) -> None:
        with closing(sqlite3.connect(ledger.path, isolation_level=None)) as connection:
            connection.execute("PRAGMA application_id=7")
        for use in (ledger.verify, ledger.entries, ledger.head, lambda: ledger.append("release", {})):
            with pytest.raises(LedgerError, match="is not a ledger"):
                use()

    def test_damage_outside_the_entries(self, ledger: Ledger) -> None:
        # A page that belongs to nothing: every entry is as it was, only the check of the file finds it.
        content = bytearray(ledger.path.read_bytes())
        pages = int.from_bytes(content[28:32])
        content[28:32] = (pages + 1).to_bytes(4)
        ledger.path.write_bytes(content + bytes(4096))
        for use in (ledger.verify, ledger.entries, ledger.head):
            with pytest.raises(LedgerError, match="is damaged"):
                use()

    @pytest.mark.parametrize("every", [7, pytest.param(1, marks=pytest.mark.slow)])
    def test_every_flipped_byte_is_found_or_says_nothing(self, ledger: Ledger, every: int) -> None:
        original = ledger.path.read_bytes()
        entries = ledger.entries()
        said = set(itertools.chain.from_iterable(places(original, entry) for entry in entries))
        silent = set()
        # All bits of a byte are flipped only where it is not 0, which most of the unused space is.
        flips = [(place, 0x01) for place in range(len(original))]
        flips += [(place, 0xFF) for place, byte in enumerate(original) if byte]
        for place, mask in flips[::every]:
            flipped = bytearray(original)
            flipped[place] ^= mask
            ledger.path.write_bytes(flipped)
            with contextlib.suppress(LedgerError):
                ledger.verify()
                silent.add(place)
                assert ledger.entries() == entries, place
        assert silent  # SQLite has bytes that it does not use
        assert silent.isdisjoint(said)

    def test_hidden_end(self, ledger: Ledger) -> None:
        # Byte 3 and 4 of a page: how many rows it holds. The page of the entries is the second.
        content = bytearray(ledger.path.read_bytes())
        assert int.from_bytes(content[4096 + 3 : 4096 + 5]) == 3
        content[4096 + 4] = 2
        ledger.path.write_bytes(content)
        for use in (ledger.verify, ledger.entries, ledger.head, lambda: ledger.append("release", {})):
            with pytest.raises(LedgerError, match="is damaged"):
                use()
        assert ledger.path.read_bytes() == content


def places(content: bytes, entry: Entry) -> range:
    """Where in the file the text of an entry is: SQLite puts the columns of a row side by side."""
    body = json.dumps(entry.body, sort_keys=True, separators=(",", ":"))
    text = (entry.at + entry.kind + body + entry.previous + entry.hash).encode()
    assert content.count(text) == 1
    start = content.index(text)
    return range(start, start + len(text))


class TestAtOnce:
    @pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
    def test_processes(self, path: Path) -> None:
        # The ledger does not exist yet: they also create it at once.
        with forker(__name__, "append_at_once", str(path)):
            pass
        ledger = Ledger(path, create=False)
        ledger.verify()
        entries = ledger.entries()
        assert [entry.seq for entry in entries] == list(range(1, 241))
        for worker in range(4):
            assert [e.body["n"] for e in entries if e.body["worker"] == worker] == list(range(60))

    def test_threads(self, path: Path) -> None:
        ledger = Ledger(path)
        threads = [
            threading.Thread(target=lambda: [ledger.append("release", {}) for _ in range(10)])
            for _ in range(4)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        ledger.verify()
        assert len(ledger.entries()) == 40

    def test_opening_does_not_drop_the_locks_of_this_process(self, ledger: Ledger) -> None:
        with closing(sqlite3.connect(ledger.path, isolation_level=None)) as connection:
            connection.execute("BEGIN IMMEDIATE")
            Ledger(ledger.path)
            ledger.entries()
            locked = subprocess.run([sys.executable, "-c", TRY_TO_LOCK, ledger.path], timeout=60)
            assert locked.returncode == 3

    @pytest.mark.parametrize("ours", [True, False])
    def test_another_process_is_first(self, path: Path, monkeypatch: pytest.MonkeyPatch, ours: bool) -> None:
        look = sqlite_file.application_id

        def look_too_early(connection: sqlite3.Connection) -> int:
            number = look(connection)
            monkeypatch.undo()
            if ours:
                Ledger(path).append("release", {})
            else:
                with closing(sqlite3.connect(path, isolation_level=None)) as other:
                    other.execute("CREATE TABLE theirs (x)")
            return number

        monkeypatch.setattr(sqlite_file, "application_id", look_too_early)
        if ours:
            assert len(Ledger(path).entries()) == 1
        else:
            with pytest.raises(LedgerError, match="is not a ledger"):
                Ledger(path)

    def test_held_too_long(self, ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(sqlite_file, "BUSY_SECONDS", 0.01)
        with closing(sqlite3.connect(ledger.path, isolation_level=None)) as connection:
            connection.execute("BEGIN IMMEDIATE")
            with pytest.raises(LedgerError, match=r"database is locked.*wait for the other run"):
                ledger.append("release", {})
        ledger.append("release", {})


@pytest.mark.skipif(sys.platform != "linux", reason="follows the child by ptrace")
def test_killed_at_every_system_call(tmp_path: Path) -> None:
    with forker(__name__, "kill_at_every_system_call", str(tmp_path)) as output:
        cases = [json.loads(line) for line in output]
    for case, possible in zip(cases, [[2, 3], [0, 1]], strict=True):
        assert [count for count, _ in itertools.groupby(case["entries"])] == possible
        assert case["journals"] > 5  # so many times the next to open the ledger had something to undo


# What follows runs in child processes, most of which run this file.

TRY_TO_LOCK = """
import sqlite3, sys
try:
    sqlite3.connect(sys.argv[1], timeout=0, isolation_level=None).execute("BEGIN IMMEDIATE")
except sqlite3.OperationalError:
    sys.exit(3)
"""


def append_at_once(path: str) -> None:
    at_once(partial(append_many, path, worker) for worker in range(4))


def append_many(path: str, worker: int) -> None:
    for n in range(60):
        Ledger(path).append("release", {"worker": worker, "n": n})


def kill_at_every_system_call(base: str) -> None:
    """Once as an entry is added to two, once as a ledger is created with its first."""
    for entries in (2, 0):
        print(json.dumps(left_by_kills(Path(base), entries)))


def left_by_kills(base: Path, entries: int) -> dict[str, Any]:
    counted: dict[str, Any] = {"entries": [], "journals": 0}
    for stop in itertools.count(1):
        path = base / f"{entries}-{stop}.sqlite"
        if entries:
            ledger = Ledger(path)
            for _ in range(entries):
                ledger.append("release", {})
        # The body is larger than a page, so that the file grows while the entry is written.
        killed = killed_at(stop, lambda path=path: Ledger(path).append("release", {"x": "x" * 9000}))  # type: ignore[misc]
        counted["journals"] += path.with_name(f"{path.name}-journal").exists()
        ledger = Ledger(path)
        ledger.verify()
        counted["entries"].append(len(ledger.entries()))
        ledger.append("release", {})
        ledger.verify()
        if not killed:
            break
    return counted


def killed_at(stop: int, action: Callable[[], object]) -> bool:
    """Run the action in a child that is killed on the way into its nth system call. False if it has fewer."""
    child = os.fork()
    if child == 0:
        ptrace(PTRACE_TRACEME, 0)
        os.kill(os.getpid(), signal.SIGSTOP)
        action()
        os._exit(0)
    os.waitpid(child, 0)
    for _ in range(2 * stop - 1):  # it stops on the way in and on the way out
        ptrace(PTRACE_SYSCALL, child)
        status = os.waitpid(child, 0)[1]
        if not os.WIFSTOPPED(status):
            assert os.waitstatus_to_exitcode(status) == 0
            return False
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return True


PTRACE_TRACEME = 0
PTRACE_SYSCALL = 24


@cache
def libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def ptrace(request: int, process: int) -> None:
    call = libc().ptrace
    call.restype = ctypes.c_long
    if call(ctypes.c_long(request), ctypes.c_long(process), ctypes.c_long(0), ctypes.c_long(0)) == -1:
        raise OSError(ctypes.get_errno(), "ptrace")


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
