from __future__ import annotations

import gzip
import hashlib
import re
import threading
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import polars as pl
import pooch
import pytest
import requests

from sudare import datasets
from sudare.datasets import catalogue
from sudare.errors import InputError, ParameterError

TEXT, INTEGER, REAL = pl.String, pl.Int64, pl.Float64

# Table, rows and columns as the collection's README has them.
SHAPES = {
    "adult": (32_561 + 16_281, 15),
    "adult-train": (32_561, 15),
    "adult-arx": (30_162, 9),
    "coil2000": (5_822, 86),
    "japanese-vowels": (5_687, 12),
    "ipums": (70_187, 61),
    "metro-traffic": (48_204, 9),
    "electricity": (45_312, 9),
    "phoneme": (5_404, 6),
    "jm1": (10_885, 22),
}

NULLS = {
    "adult": {"workclass": 2799, "occupation": 2809, "native-country": 857},
    "adult-train": {"workclass": 1836, "occupation": 1843, "native-country": 583},
    "jm1": dict.fromkeys(("uniq_Op", "uniq_Opnd", "total_Op", "total_Opnd", "branchCount"), 5),
}

CONTENT = b"a small file\n"
PLAIN, ZIPPED, NOWHERE = "phoneme/phoneme.csv", "adult/adult.data", "ipums/ipums.la.97.gz"
METRO, COIL = "metro_traffic/Metro_Interstate_Traffic_Volume.csv", "coil2000/ticdata2000.txt"


def test_names_are_the_tables_of_the_collection() -> None:
    assert datasets.names() == list(SHAPES)


@pytest.mark.parametrize("name", SHAPES)
def test_shape_nulls_and_description(name: str, data: Path) -> None:
    table = datasets.load(name)
    described = datasets.describe(name)
    assert table.shape == SHAPES[name] == (described.rows, described.columns)
    nulls = table.null_count().row(0, named=True)
    assert {column: count for column, count in nulls.items() if count} == NULLS.get(name, {})


def test_adult_is_clean(data: Path) -> None:
    adult = datasets.load("adult")
    integers = ["age", "fnlwgt", "education-num", "capital-gain", "capital-loss", "hours-per-week"]
    assert [column for column, kind in adult.schema.items() if kind == INTEGER] == integers
    assert sorted(adult["income"].unique()) == ["<=50K", ">50K"]
    text = adult.select(pl.col(TEXT).drop_nulls().unique().implode()).row(0)
    assert all(value == value.strip() != "?" for values in text for value in values)
    assert adult.head(32_561).equals(datasets.load("adult-train"))
    assert adult.row(32_561)[:4] == (25, "Private", 226_802, "11th")


def test_adult_arx_fits_its_hierarchies(data: Path) -> None:
    table = datasets.load("adult-arx")
    assert table.schema["age"] == INTEGER
    for column in table.columns:
        hierarchy = datasets.path(f"arx_hierarchies/adult_hierarchy_{column}.csv")
        leaves = {line.split(";")[0] for line in hierarchy.read_text().splitlines()}
        assert set(table[column].cast(TEXT)) <= leaves


def test_coil2000_is_named_as_in_its_dictionary(data: Path) -> None:
    dictionary = datasets.path("coil2000/TicDataDescr.txt").read_text(encoding="cp1252")
    entries = re.findall(r"^(\d+) ([A-Z][A-Z0-9]*) ", dictionary, flags=re.MULTILINE)
    assert [int(number) for number, _ in entries] == list(range(1, 87))
    table = datasets.load("coil2000")
    assert table.columns == [name for _, name in entries]
    assert set(table.dtypes) == {INTEGER}
    assert table["MOSTYPE"].is_between(1, 41).all()


def test_ipums_is_named_as_in_its_codebook(data: Path) -> None:
    codebook = datasets.path("ipums/ipums.la.names").read_text(encoding="ascii")
    fields = re.findall(r"^ (\w+) +(\d+)- *(\d+) *$", codebook, flags=re.MULTILINE)
    table = datasets.load("ipums")
    assert table.columns == [name for name, _, _ in fields]
    for name, first, last in fields:
        assert set(table[name].str.len_bytes()) == {int(last) - int(first) + 1}, f"{name} lost leading zeros"


def test_japanese_vowels_are_text_as_written(data: Path) -> None:
    table = datasets.load("japanese-vowels")
    assert table.schema == {f"c{i}": TEXT for i in range(1, 13)}
    lines = (data / "japanese_vowels/ae.test").read_text().splitlines()
    assert [" ".join(row) for row in table.iter_rows()] == [line for line in lines if line]


def test_metro_traffic_keeps_the_value_none(data: Path) -> None:
    table = datasets.load("metro-traffic")
    assert table.schema["date_time"] == pl.Datetime
    assert (table["holiday"] == "None").sum() == 48_143
    assert table["traffic_volume"].dtype == INTEGER


def test_types_of_the_openml_tables(data: Path) -> None:
    assert datasets.load("electricity").dtypes == [REAL, INTEGER, *[REAL] * 6, TEXT]
    assert datasets.load("phoneme").dtypes == [REAL] * 5 + [INTEGER]
    jm1 = datasets.load("jm1")
    assert jm1.dtypes == [REAL] * 12 + [INTEGER] * 4 + [REAL] * 5 + [pl.Boolean]
    assert jm1.filter(pl.col("uniq_Op").is_null()).height == 5


def test_every_file_has_its_checksum(data: Path) -> None:
    for name in catalogue._FILES:
        assert datasets.path(name) == data / name


def test_the_origins_own_form_gives_the_same_tables(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours = {name: datasets.load(name) for name in ("coil2000", "metro-traffic")}
    for name in (COIL, METRO):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_bytes((data / name).read_bytes().replace(b"\n", b"\r\n"))
    tail = (tmp_path / METRO).read_bytes().replace(b",272.114,", b",272.11400000000003,")
    (tmp_path / METRO).write_bytes(tail)
    trust(monkeypatch, METRO, tail)
    monkeypatch.setenv("SUDARE_DATA", str(tmp_path))
    assert datasets.load("coil2000").equals(ours["coil2000"])
    assert datasets.load("metro-traffic").equals(ours["metro-traffic"])


def test_description_is_readable() -> None:
    shown = str(datasets.describe("coil2000"))
    assert "5,822 rows, 86 columns" in shown
    assert "non-commercial research and education only" in shown
    assert "van der Putten" in shown


def test_every_file_of_a_table_is_in_the_catalogue() -> None:
    files = [file for name in datasets.names() for file in datasets.describe(name).files]
    assert set(files) | {"adult/adult-domain.json"} == set(catalogue._FILES)


@pytest.mark.parametrize("function", [datasets.load, datasets.describe])
def test_unknown_table(function: Callable[[str], object]) -> None:
    with pytest.raises(ParameterError, match=r"There is no data set 'adlut'.*adult, adult-train, .*jm1"):
        function("adlut")


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
    expected, found = catalogue._FILES[PLAIN].sha256[0], hashlib.sha256(CONTENT).hexdigest()
    assert all(part in str(refused.value) for part in (str(given), expected, found))


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


def trust(monkeypatch: pytest.MonkeyPatch, name: str, content: bytes, url: str | None = None) -> None:
    """Change a catalogue entry, for this test, to one for the given content."""
    file = catalogue._FILES[name]
    changed = replace(file, sha256=(hashlib.sha256(content).hexdigest(),), url=url or file.url)
    monkeypatch.setitem(catalogue._FILES, name, changed)


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
    expected, found = (hashlib.sha256(text).hexdigest() for text in (CONTENT, b"something else"))
    assert all(part in str(refused.value) for part in (name, url, expected, found))
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
    with pytest.raises(InputError, match=r"'adult/adult\.data' could not be had from"):
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
    file = catalogue._FILES[PLAIN]
    parts = (str(file.url), "ConnectionError", "SUDARE_DATA", f"'{PLAIN}'", file.origin)
    assert all(part in str(refused.value) for part in parts)
    assert not files_in(cache)


def test_no_address_is_known(cache: Path) -> None:
    with pytest.raises(InputError) as refused:
        datasets.load("ipums")
    parts = (NOWHERE, "no address is known", "SUDARE_DATA", "https://archive.ics.uci.edu/dataset/127/")
    assert all(part in str(refused.value) for part in parts)
