"""What many tests need: the folder of real data, a Spark session, and a PostgreSQL server of our own."""

from __future__ import annotations

import importlib.util
import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn
from urllib.parse import quote

import pytest

PASSWORD = "s3cret-geheim"
MEMORY = Path("/dev/shm")
BARE = "cli engines generalization ledger plans privacy pview randomization release tests verbs verification".split()
"""Rooms where nobody looks at reports, nor at what attackers who know the method reach: both take longer than the rest of a
small release."""


def pytest_configure(config: pytest.Config) -> None:
    """Keep temporary files in memory, if there is room, until the run ends: on a disk, ledgers wait at every entry."""
    if "TMPDIR" in os.environ or not os.access(MEMORY, os.W_OK) or shutil.disk_usage(MEMORY).free < 2**31:
        return
    folder = Path(tempfile.mkdtemp(prefix="sudare-", dir=MEMORY))
    folder.chmod(0o755)  # the PostgreSQL server runs as somebody else
    config.add_cleanup(lambda: shutil.rmtree(folder, ignore_errors=True))
    os.environ["TMPDIR"] = tempfile.tempdir = str(folder)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run what needs Spark first: so it stays together, on one worker, and one session serves all of it."""
    items.sort(key=lambda item: "spark" not in item.nodeid)


@pytest.fixture(autouse=True)
def bare_releases(request: pytest.FixtureRequest, quick: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a quick run, leave out of a release what nobody looks at; a test that does asks for `reports`."""
    if quick and request.path.parent.name in BARE and "reports" not in request.fixturenames:
        monkeypatch.setattr("sudare.release.release.Release.report", "")
        monkeypatch.setattr("sudare.release.pview_release.write_pview_report", lambda table, pview: "")
        monkeypatch.setattr("sudare.verbs.generalization_record.known_to_the_holder", lambda *_, **__: None)
        monkeypatch.setattr("sudare.verbs.randomize.MAX_PERSONS", 100)
        monkeypatch.setattr("sudare.attacks.pk_game.TABLES", 2)


@pytest.fixture
def reports() -> None:
    """Reports are drawn, and all attacks tried."""


def unavailable(reason: str) -> NoReturn:
    """Skip what this machine cannot run; on the machine that checks changes that is no excuse."""
    if os.environ.get("CI"):
        pytest.fail(reason)
    pytest.skip(reason)


@pytest.fixture(scope="session")
def scikit_learn() -> None:
    """What needs the classifier extra."""
    if importlib.util.find_spec("sklearn") is None:
        unavailable("scikit-learn is not installed: pip install 'sudare[classifier]'")


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """The folder with the public data files."""
    folder = os.environ.get("SUDARE_DATA")
    if not folder:
        unavailable("SUDARE_DATA names no folder with the public data files")
    return Path(folder)


@pytest.fixture(scope="session")
def spark() -> Iterator[Any]:
    """A Spark session on this machine, for few rows."""
    from tests.spark import SMALL, running

    zone = {"spark.sql.session.timeZone": "Europe/Berlin"}  # what is published must not depend on it
    with running("local[1]", SMALL | zone) as session:
        yield session


@pytest.fixture(scope="session")
def postgres_url() -> Iterator[str]:
    """A URL of a fresh PostgreSQL server on a socket of its own; its password is PASSWORD."""
    programs = _postgres_programs()
    if programs is None:
        unavailable("no PostgreSQL server: install postgresql (apt-get) or pgserver (pip)")
    folder = Path(tempfile.mkdtemp(prefix="sudare-pg-"))
    try:
        yield from _server(folder, programs, _server_user())
    finally:
        shutil.rmtree(folder)


def _postgres_programs() -> Path | None:
    """The folder with initdb and pg_ctl: the system's, else the one that PyPI's pgserver brings along.

    (We start pgserver's programs ourselves: as root, pgserver itself adds a user to the machine.)
    """
    pg_ctl = shutil.which("pg_ctl")
    packaged = importlib.util.find_spec("pgserver")
    folders = [
        *([Path(pg_ctl).resolve().parent] if pg_ctl else []),
        *sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True),
        *([Path(packaged.origin).parent / "pginstall" / "bin"] if packaged and packaged.origin else []),
    ]
    return next((f for f in folders if (f / "pg_ctl").exists() and (f / "initdb").exists()), None)


def _server_user() -> pwd.struct_passwd:
    """Who runs the server: ourselves, or, as PostgreSQL refuses root, somebody else."""
    if os.geteuid() != 0:
        return pwd.getpwuid(os.geteuid())
    try:
        return pwd.getpwnam("postgres")
    except KeyError:
        return pwd.getpwnam("nobody")


def _server(folder: Path, programs: Path, user: pwd.struct_passwd) -> Iterator[str]:
    cluster, password = folder / "cluster", folder / "password"
    password.write_text(PASSWORD)
    for path in (folder, password):
        os.chown(path, user.pw_uid, user.pw_gid)
    as_user = {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []} if os.geteuid() == 0 else {}

    def run(program: str, *arguments: str) -> None:
        log = folder / "output"
        with log.open("w") as output:  # a file, not a pipe: the server keeps it open
            command = [str(programs / program), "--pgdata", str(cluster), *arguments]
            done = subprocess.run(command, cwd=folder, stdout=output, stderr=subprocess.STDOUT, **as_user)
        assert done.returncode == 0, f"{program} failed:\n{log.read_text()}"

    run("initdb", "--username=postgres", "--auth=scram-sha-256", f"--pwfile={password}", "--encoding=UTF8")
    settings = f"-c listen_addresses='' -c unix_socket_directories='{folder}' -c fsync=off"
    run("pg_ctl", "start", "--wait", "--options", settings)
    try:
        yield f"postgresql://postgres:{PASSWORD}@/postgres?host={quote(str(folder), safe='')}"
    finally:
        run("pg_ctl", "stop", "--wait", "--mode=immediate")


@pytest.fixture
def pviews_url(postgres_url: str) -> str:
    """An empty database of its own: other tests list what is in theirs."""
    psycopg = pytest.importorskip("psycopg")
    url = postgres_url.replace("/postgres?", "/views?")
    assert url != postgres_url
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute("DROP DATABASE IF EXISTS views WITH (FORCE)")
        connection.execute("CREATE DATABASE views")
    return url
