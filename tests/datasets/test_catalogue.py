from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from sudare import datasets
from sudare.datasets.files import FILES
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
    "nist-national2019": (27_253, 24),
    "nist-ma2019": (7_634, 24),
}

NULLS = {
    "adult": {"workclass": 2799, "occupation": 2809, "native-country": 857},
    "adult-train": {"workclass": 1836, "occupation": 1843, "native-country": 583},
    "jm1": dict.fromkeys(("uniq_Op", "uniq_Opnd", "total_Op", "total_Opnd", "branchCount"), 5),
}

METRO, COIL = "metro_traffic/Metro_Interstate_Traffic_Volume.csv", "coil2000/ticdata2000.txt"
NIST = "nist_excerpts/ma2019.csv"


def test_names_are_the_tables_of_the_collection() -> None:
    assert sorted(datasets.names()) == sorted([*SHAPES, "bitcoin-heist"])


def test_a_table_without_a_checksum_is_read_as_it_is_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SUDARE_DATA", str(tmp_path))
    with pytest.raises(
        InputError, match=r"Set SUDARE_DATA to a folder that has it as 'bitcoin/BitcoinHeistData\.csv'"
    ):
        datasets.load("bitcoin-heist")
    (tmp_path / "bitcoin").mkdir()
    (tmp_path / "bitcoin/BitcoinHeistData.csv").write_text(
        "address,income,label\n1a,2.5e8,white\n1b,7,montrealAPT\n"
    )
    assert datasets.load("bitcoin-heist").rows() == [("1a", 2.5e8, "white"), ("1b", 7.0, "montrealAPT")]


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


def test_nist_excerpts_keep_to_their_schemas(data: Path) -> None:
    for excerpt in ("national2019", "ma2019"):
        schema = json.loads(datasets.path(f"nist_excerpts/{excerpt}.json").read_text())["schema"]
        table = datasets.load(f"nist-{excerpt}")
        assert table.columns == list(schema)
        assert all(
            set(table[name]) == set(map(str, told["values"]))
            for name, told in schema.items()
            if "values" in told
        )


def test_the_origins_own_form_gives_the_same_tables(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours = {name: datasets.load(name) for name in ("coil2000", "metro-traffic", "nist-ma2019")}
    for name in (COIL, METRO, NIST):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_bytes((data / name).read_bytes().replace(b"\n", b"\r\n"))
    tail = (tmp_path / METRO).read_bytes().replace(b",272.114,", b",272.11400000000003,")
    (tmp_path / METRO).write_bytes(tail)
    trusted = replace(FILES[METRO], sha256=(hashlib.sha256(tail).hexdigest(),))
    monkeypatch.setitem(FILES, METRO, trusted)
    monkeypatch.setenv("SUDARE_DATA", str(tmp_path))
    assert datasets.load("coil2000").equals(ours["coil2000"])
    assert datasets.load("metro-traffic").equals(ours["metro-traffic"])
    assert datasets.load("nist-ma2019").equals(ours["nist-ma2019"])


def test_description_is_readable() -> None:
    shown = str(datasets.describe("coil2000"))
    assert "5,822 rows, 86 columns" in shown
    assert "non-commercial research and education only" in shown
    assert "van der Putten" in shown


def test_every_file_of_a_table_is_in_the_catalogue() -> None:
    files = [file for name in datasets.names() for file in datasets.describe(name).files]
    assert set(files) | {"adult/adult-domain.json"} == set(FILES)


@pytest.mark.parametrize("function", [datasets.load, datasets.describe])
def test_unknown_table(function: Callable[[str], object]) -> None:
    with pytest.raises(ParameterError, match=r"There is no data set 'adlut'.*adult, adult-train, .*jm1"):
        function("adlut")
