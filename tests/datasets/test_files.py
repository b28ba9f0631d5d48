from __future__ import annotations

import gzip
import hashlib
import threading
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pooch
import pytest
import requests

from sudare import datasets
from sudare.datasets.files import FILES
from sudare.errors import InputError, ParameterError

CONTENT = b"a small file\n"
PLAIN, ZIPPED, NOWHERE = "phoneme/phoneme.csv", "adult/adult.data", "ipums/ipums.la.97.gz"
METRO = "metro_traffic/Metro_Interstate_Traffic_Volume.csv"


def test_every_file_has_its_checksum(data: Path) -> None:
    for name, file in FILES.items():
        if file.sha256:  # of the others, nobody here has had the file
            assert datasets.path(name) == data / name


@pytest.mark.parametrize("name", ["adult.data", "../README.md"])
def test_unknown_file(name: str) -> None:
    with pytest.raises(ParameterError, match=r"There is no data file .* adult/adult\.data, "):
        datasets.path(name)


def test_wrong_file_in_the_data_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given = tmp_path / PLAIN
    given.parent.mkdir()
    given.write_bytes(CONTENT)
    monkeypatch.setenv("SUDARE_DATA", str(tmp_path))
    with pytest.raises(InputError) as refused:
        datasets.load("phoneme")
    expected, actual = FILES[PLAIN].sha256[0], hashlib.sha256(CONTENT).hexdigest()
    assert all(part in str(refused.value) for part in (str(given), expected, actual))


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache folder, and no data folder."""
    monkeypatch.delenv("SUDARE_DATA", raising=False)
    monkeypatch.setattr(pooch, "os_cache", lambda project: tmp_path / "cache" / project)
    return tmp_path / "cache" / "sudare"


class QuietHandler(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def site(tmp_path: Path) -> Iterator[tuple[Path, str]]:
    """A folder, and the address at which this machine serves it."""
    folder = tmp_path / "site"
    folder.mkdir()
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(QuietHandler, directory=folder)) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield folder, f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def trust(monkeypatch: pytest.MonkeyPatch, name: str, content: bytes, url: str) -> None:
    """Change a catalogue entry, for this test, to one for the given content."""
    file = FILES[name]
    changed = replace(file, sha256=(hashlib.sha256(content).hexdigest(),), url=url)
    monkeypatch.setitem(FILES, name, changed)


def files_in(folder: Path) -> list[Path]:
    return [file for file in folder.rglob("*") if file.is_file()]


def write_zip(file: Path, members: dict[str, bytes]) -> None:
    with zipfile.ZipFile(file, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)


def test_download_is_kept(cache: Path, site: tuple[Path, str], monkeypatch: pytest.MonkeyPatch) -> None:
    folder, address = site
    (folder / "phoneme.csv").write_bytes(CONTENT)
    trust(monkeypatch, PLAIN, CONTENT, f"{address}/phoneme.csv")
    assert datasets.path(PLAIN) == cache / PLAIN
    assert (cache / PLAIN).read_bytes() == CONTENT
    (folder / "phoneme.csv").unlink()
    assert datasets.path(PLAIN) == cache / PLAIN, "the second time, the cache answers"
    assert files_in(cache) == [cache / PLAIN]


def test_download_when_the_data_folder_lacks_the_file(
    cache: Path, site: tuple[Path, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, address = site
    (folder / "phoneme.csv").write_bytes(CONTENT)
    trust(monkeypatch, PLAIN, CONTENT, f"{address}/phoneme.csv")
    monkeypatch.setenv("SUDARE_DATA", str(tmp_path / "empty"))
    assert datasets.path(PLAIN) == cache / PLAIN


def test_damaged_cache_is_downloaded_again(
    cache: Path, site: tuple[Path, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, address = site
    (folder / "phoneme.csv").write_bytes(CONTENT)
    trust(monkeypatch, PLAIN, CONTENT, f"{address}/phoneme.csv")
    datasets.path(PLAIN).write_bytes(b"half a fi")
    assert datasets.path(PLAIN).read_bytes() == CONTENT


def test_zip_member(cache: Path, site: tuple[Path, str], monkeypatch: pytest.MonkeyPatch) -> None:
    folder, address = site
    write_zip(folder / "adult.zip", {"adult.data": CONTENT, "adult.test": b"another file"})
    trust(monkeypatch, ZIPPED, CONTENT, f"{address}/adult.zip")
    assert datasets.path(ZIPPED).read_bytes() == CONTENT
    assert files_in(cache) == [cache / ZIPPED]


def test_archive_is_downloaded_once(
    cache: Path, site: tuple[Path, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, address = site
    members = {"adult.data": CONTENT, "adult.test": b"another file", "adult.names": b"not the right one"}
    write_zip(folder / "adult.zip", members)
    for name in ("adult.data", "adult.test"):
        trust(monkeypatch, f"adult/{name}", members[name], f"{address}/adult.zip")
    trust(monkeypatch, "adult/adult.names", b"the right one", f"{address}/adult.zip")
    datasets.path("adult/adult.test")
    (folder / "adult.zip").unlink()
    assert datasets.path("adult/adult.data").read_bytes() == CONTENT
    assert sorted(files_in(cache)) == [cache / "adult/adult.data", cache / "adult/adult.test"]


def test_damage_elsewhere_in_the_archive_does_not_matter(
    cache: Path, site: tuple[Path, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, address = site
    write_zip(folder / "adult.zip", {"adult.data": CONTENT, "adult.test": b"another file"})
    damaged = (folder / "adult.zip").read_bytes().replace(b"another file", b"another fire")
    (folder / "adult.zip").write_bytes(damaged)
    trust(monkeypatch, ZIPPED, CONTENT, f"{address}/adult.zip")
    trust(monkeypatch, "adult/adult.test", b"another file", f"{address}/adult.zip")
    assert datasets.path(ZIPPED).read_bytes() == CONTENT
    with pytest.raises(InputError, match="BadZipFile"):
        datasets.path("adult/adult.test")
    assert files_in(cache) == [cache / ZIPPED]


def test_nothing_is_logged(cache: Path, site: tuple[Path, str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pooch.get_logger(), "handle", lambda record: pytest.fail(record.getMessage()))
    test_compressed_zip_member(cache, site, monkeypatch)


def test_compressed_zip_member(cache: Path, site: tuple[Path, str], monkeypatch: pytest.MonkeyPatch) -> None:
    folder, address = site
    write_zip(folder / "metro.zip", {f"{Path(METRO).name}.gz": gzip.compress(CONTENT)})
    trust(monkeypatch, METRO, CONTENT, f"{address}/metro.zip")
    assert datasets.path(METRO).read_bytes() == CONTENT


@pytest.mark.parametrize("name", [PLAIN, ZIPPED])
def test_wrong_download_is_refused_and_not_kept(
    name: str, cache: Path, site: tuple[Path, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, address = site
    (folder / "phoneme.csv").write_bytes(b"something else")
    write_zip(folder / "adult.zip", {"adult.data": b"something else"})
    url = f"{address}/{'phoneme.csv' if name == PLAIN else 'adult.zip'}"
    trust(monkeypatch, name, CONTENT, url)
    with pytest.raises(InputError) as refused:
        datasets.path(name)
    expected, actual = (hashlib.sha256(text).hexdigest() for text in (CONTENT, b"something else"))
    assert all(part in str(refused.value) for part in (name, url, expected, actual))
    assert not files_in(cache)


@pytest.mark.parametrize("served", [b"<html>not a zip</html>", None])
def test_bad_archive_is_refused_and_not_kept(
    served: bytes | None, cache: Path, site: tuple[Path, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, address = site
    write_zip(folder / "adult.zip", {"index.txt": b"the member is not in here"})
    if served is not None:
        (folder / "adult.zip").write_bytes(served)
    trust(monkeypatch, ZIPPED, CONTENT, f"{address}/adult.zip")
    with pytest.raises(InputError, match=r"'adult/adult\.data' could not be downloaded from"):
        datasets.path(ZIPPED)
    assert not files_in(cache)


def test_missing_page(cache: Path, site: tuple[Path, str], monkeypatch: pytest.MonkeyPatch) -> None:
    trust(monkeypatch, PLAIN, CONTENT, f"{site[1]}/gone.csv")
    with pytest.raises(InputError, match=r"gone\.csv \(HTTPError\)"):
        datasets.path(PLAIN)
    assert not files_in(cache)


def test_offline(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(self: pooch.HTTPDownloader, url: str, output_file: str, pooch: object) -> None:
        Path(output_file).write_bytes(b"the first ha")
        raise requests.ConnectionError("no route to host")

    monkeypatch.setattr(pooch.HTTPDownloader, "__call__", broken)
    with pytest.raises(InputError) as refused:
        datasets.load("phoneme")
    file = FILES[PLAIN]
    parts = (str(file.url), "ConnectionError", "SUDARE_DATA", f"'{PLAIN}'", file.origin)
    assert all(part in str(refused.value) for part in parts)
    assert not files_in(cache)


def test_no_address_is_known(cache: Path) -> None:
    with pytest.raises(InputError) as refused:
        datasets.load("ipums")
    parts = (NOWHERE, "no address is known", "SUDARE_DATA", "https://archive.ics.uci.edu/dataset/127/")
    assert all(part in str(refused.value) for part in parts)
