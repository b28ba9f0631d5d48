from __future__ import annotations

import contextlib
import datetime as dt
import gzip
import sqlite3
import tomllib
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sudare as sd
from sudare.tables.text import is_pattern
from sudare.verbs.draft import draft


def drafted(frame: pl.DataFrame, folder: Path) -> sd.Schema:
    path = folder / "sudare.toml"
    path.write_text(draft(frame), encoding="utf-8")
    return sd.Schema.from_toml(path)


@pytest.mark.parametrize(
    ("name", "values", "role", "reason"),
    [
        (
            "code",
            [f"x{i}" for i in range(100)],
            "identifier",
            "100 of 100 distinct: looks like an identifier",
        ),
        ("number", list(range(1000, 1100)), "identifier", "100 of 100 distinct: looks like an identifier"),
        ("patient_id", [1, 2] * 50, "identifier", "'id' in its name: names a person"),
        ("familyName", ["a", "b"] * 50, "identifier", "'name' in its name: names a person"),
        ("氏名", ["a", "b"] * 50, "identifier", "'氏名' in its name: names a person"),
        (
            "remarks",
            ["a long remark that says much about one person"] * 100,
            "identifier",
            "looks like free text",
        ),
        ("Diagnosis", ["a", "b"] * 50, "sensitive", "'diagnosis' in its name: to be kept from outsiders"),
        ("annual-income", [1, 2] * 50, "sensitive", "'income' in its name: to be kept from outsiders"),
        ("fnlwgt", [1, 2] * 50, "other", "a survey weight"),
        ("idea", ["a", "b"] * 50, "quasi", "2 distinct: outsiders may know it"),
        ("height", [150 + i / 7 for i in range(100)], "quasi", "100 distinct: outsiders may know it"),
    ],
)
def test_every_guess_has_its_reason(tmp_path: Path, name: str, values: list, role: str, reason: str) -> None:
    frame = pl.DataFrame({name: values})
    text = draft(frame)
    assert drafted(frame, tmp_path)[name].role == role
    header = text.splitlines().index(
        next(line for line in text.splitlines() if line.startswith("[attributes"))
    )
    assert reason in text.splitlines()[header + 1]


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([i % 80 for i in range(100)], "intervals"),
        ([150 + (i % 50) / 7 for i in range(100)], "intervals"),
        ([dt.date(2024, 1, 1) + dt.timedelta(i % 40) for i in range(100)], "dates"),
        ([f"{i % 40:05d}" for i in range(100)], "mask"),
        (["f", "m"] * 50, "suppress"),
        ([1, 2] * 50, "suppress"),
    ],
)
def test_hierarchies_fit_the_values(tmp_path: Path, values: list, kind: str) -> None:
    frame = pl.DataFrame({"x": values})
    schema = drafted(frame, tmp_path)
    assert schema["x"].hierarchy.kind == kind
    assert sd.read(frame, schema)["x"].hierarchy.height >= 1


def test_bounds_are_only_hinted_at(tmp_path: Path) -> None:
    frame = pl.DataFrame({"age": [17, 90] * 20})
    assert "# bounds = [17, 90]" in draft(frame)
    assert drafted(frame, tmp_path)["age"].bounds is None


def test_question_marks_are_missing_and_numbers_stay_numbers(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text("age,town,code\n" + "30,?,NA\n?,Ayr,x\n" * 20 + "41,NA,y\n")
    (tmp_path / "sudare.toml").write_text(draft(path))
    schema = sd.Schema.from_toml(tmp_path / "sudare.toml")
    assert schema.missing_values == ("", "?")  # NA could be a town, and a code
    assert schema["age"].type == "integer"
    assert sd.read(path, schema)["age"].missing


def test_na_among_numbers_is_missing(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text("age\n" + "30\nNA\n" * 20)
    assert 'missing_values = ["", "NA"]' in draft(path)


def test_a_table_without_anything_sensitive_is_told_so() -> None:
    assert "No column looks sensitive" in draft(pl.DataFrame({"sex": ["f", "m"] * 20}))
    assert "No column looks sensitive" not in draft(pl.DataFrame({"income": [1, 2] * 20}))


def test_an_unusual_format_is_written_down(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_bytes("größe;ort\n1,5;Köln\n1,7;Ulm\n".encode("latin-1"))
    text = draft(path, sd.CsvFormat(encoding="latin-1"))
    (tmp_path / "sudare.toml").write_text(text, encoding="utf-8")
    schema = sd.Schema.from_toml(tmp_path / "sudare.toml")
    assert schema.csv == sd.CsvFormat(delimiter=";", encoding="latin-1", decimal=",")
    assert sd.read(path, schema).frame().rows() == [(1.5, "Köln"), (1.7, "Ulm")]


@settings(max_examples=60)
@given(
    st.dictionaries(
        st.text(min_size=1, max_size=8).filter(lambda name: not is_pattern(name)),
        st.sampled_from(["int", "float", "text", "date"]),
        min_size=1,
        max_size=4,
    ),
    st.data(),
)
def test_a_draft_always_loads_and_fits_its_table(
    tmp_path_factory: pytest.TempPathFactory, columns: dict[str, str], data: st.DataObject
) -> None:
    kinds = {
        "int": st.integers(-(2**40), 2**40),
        "float": st.floats(-1e9, 1e9),
        "text": st.text(max_size=6).filter(lambda text: text.strip() != "?"),  # which means: not known
        "date": st.dates(dt.date(1900, 1, 1), dt.date(2100, 1, 1)),
    }
    rows = data.draw(st.integers(1, 30))
    frame = pl.DataFrame(
        {
            name: data.draw(st.lists(kinds[kind], min_size=rows, max_size=rows))
            for name, kind in columns.items()
        },
        schema_overrides={name: pl.Float64 for name, kind in columns.items() if kind == "float"},
    )
    schema = drafted(frame, tmp_path_factory.mktemp("draft"))
    assert sd.read(frame, schema).frame().equals(frame)


@pytest.mark.parametrize(
    ("name", "source"),
    [("people.csv", "people"), ("people.2024.csv.gz", "people.2024"), ("my people.parquet", "my people")],
)
def test_a_draft_names_the_source_as_its_file_without_the_ending(
    tmp_path: Path, name: str, source: str
) -> None:
    frame = pl.DataFrame({"age": [30, 40]})
    path = tmp_path / name
    if ".csv" in name:
        text = frame.write_csv().encode()
        path.write_bytes(gzip.compress(text) if name.endswith(".gz") else text)
    else:
        frame.write_parquet(path)
    assert f'source = "{source}"' in draft(path)


def test_a_draft_names_a_database_by_its_table_and_a_frame_not_at_all(tmp_path: Path) -> None:
    with contextlib.closing(sqlite3.connect(tmp_path / "clinic.db")) as connection:
        connection.executescript("CREATE TABLE beds (n); INSERT INTO beds VALUES (1), (2)")
    assert 'source = "beds"' in draft(f"sqlite:///{tmp_path}/clinic.db?table=beds")
    assert 'source = "clinic"' in draft(f"sqlite:///{tmp_path}/clinic.db")
    assert "source =" not in draft(pl.DataFrame({"age": [30, 40]}))


@pytest.mark.parametrize("last", [3, None])
def test_missing_values_are_refused_where_none_was_seen(last: int | None) -> None:
    text = draft(pl.DataFrame({"x": [1, 2, last]}))
    schema = sd.Schema.from_dict(tomllib.loads(text))
    assert schema.missing == ("own value" if last is None else "refuse")
    (line,) = [line for line in text.splitlines() if line.startswith("missing = ")]
    assert "   # " in line


def test_a_time_with_a_zone_is_drafted_so_that_it_can_be_read() -> None:
    frame = pl.DataFrame({"seen": [dt.datetime(2024, 1, day, tzinfo=dt.UTC) for day in (1, 2)]})
    schema = sd.Schema.from_dict(tomllib.loads(draft(frame).replace("# bounds", "bounds")))
    assert sd.read(frame, schema)["seen"].values.dtype == pl.Datetime("us", "UTC")
    assert schema["seen"].kind == "datetime"
