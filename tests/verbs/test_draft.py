from __future__ import annotations

import contextlib
import datetime as dt
import gzip
import re
import sqlite3
import tomllib
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sudare as sd
from sudare.tables.text import is_pattern
from sudare.verbs.draft import Draft, draft


def drafted(frame: pl.DataFrame, folder: Path) -> sd.Schema:
    path = folder / "sudare.toml"
    path.write_text(draft(frame).text, encoding="utf-8")
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
        ("zeta", list(range(1000, 1100)), "identifier", "100 of 100 distinct: looks like an identifier"),
        ("patient_id", [1, 2] * 50, "person", "'id' in its name, 2 of 100 distinct: the rows of one person"),
        ("household no", list(range(50)) * 2, "household", "50 of 100 distinct: the rows of one household"),
        ("case_number", list(range(300)), "identifier", "the number of a record"),
        ("familyName", ["a", "b"] * 50, "identifier", "'family name' in its name: the name of a person"),
        ("last", ["Ames", "Bose"] * 50, "identifier", "'last' in its name: the name of a person"),
        ("氏名", ["a", "b"] * 50, "identifier", "'氏名' in its name (Japanese): the name of a person"),
        ("remarks", ["a remark that says much about one person"] * 100, "other", "one value only"),
        ("zeta", [f"came in on day {i} with a cough" for i in range(100)], "identifier", "free text"),
        ("zeta", [f"p{i}@example.org" for i in range(50)] * 2, "identifier", "look like e-mail addresses"),
        ("zeta", ["4111 1111 1111 1111", "5500 0000 0000 0004"] * 50, "identifier", "look like card numbers"),
        ("zeta", ["150-0001", "530-0001"] * 50, "quasi", "look like Japanese post codes"),
        ("zeta", ["E11.9", "I10"] * 50, "sensitive", "look like ICD codes"),
        ("zeta", ["$1,200", "$70"] * 50, "sensitive", "look like amounts of money"),
        ("has_email", ["yes", "no"] * 50, "quasi", "outsiders may know it"),
        ("Diagnosis", ["a", "b"] * 50, "sensitive", "in its name: health"),
        ("annual-income", [1, 2] * 50, "sensitive", "'income' in its name: money"),
        ("outcome", ["a", "b"] * 50, "sensitive", "how it ended"),
        ("neighbourhood", [f"town {i}" for i in range(99)] + [None], "quasi", "a place"),
        ("fnlwgt", [1, 2] * 50, "weight", "how many people a record stands for"),
        ("instance weight", [1.5, 2.5] * 50, "weight", "how many people a record stands for"),
        ("weight", [900.5, 2000.5] * 50, "weight", "how many people a record stands for"),
        ("weight", [60.5, 80.5] * 50, "quasi", "looks and size of the body"),
        ("sampling_weight", [-1.5, 2.5] * 50, "quasi", "outsiders may know it"),  # which no weight can be
        ("patient_id", [1, 2, None, 3] * 25, "person", "it is missing in some rows"),
        ("empty", [None] * 100, "identifier", "every value is missing"),
        ("idea", ["a", "b"] * 50, "quasi", "2 distinct: outsiders may know it"),
    ],
)
def test_every_guess_has_its_reason(tmp_path: Path, name: str, values: list, role: str, reason: str) -> None:
    frame = pl.DataFrame({name: values})
    text = draft(frame).text
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
        ([f"{1 + i % 28:02d}.05.2024" for i in range(100)], "dates"),
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
    assert "# bounds = [17, 90]" in draft(frame).text
    assert drafted(frame, tmp_path)["age"].bounds is None


def test_question_marks_are_missing_and_numbers_stay_numbers(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text("age,town,code\n" + "30,?,NA\n?,Ayr,x\n" * 20 + "41,NA,y\n")
    (tmp_path / "sudare.toml").write_text(draft(path).text)
    schema = sd.Schema.from_toml(tmp_path / "sudare.toml")
    assert schema.missing_values == ("", "?")  # NA could be a town, and a code
    assert schema["age"].type == "integer"
    assert sd.read(path, schema)["age"].missing


def test_na_among_numbers_is_missing(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text("age\n" + "30\nNA\n" * 20)
    assert 'missing_values = ["", "NA"]' in draft(path).text


def test_what_is_doubtful_is_named_first() -> None:
    text = draft(pl.DataFrame({"idea": ["a", "b"] * 50, "zeta": [1.5, 2.5] * 50})).text
    head, body = text.split("\n\n", 1)
    assert "# Doubtful, to be looked at first (2):\n#   idea, zeta" in head
    assert body.count("# doubtful, it may be sensitive; ") == 2
    assert "oubtful" not in draft(pl.DataFrame({"age": [30, 40] * 50, "income": [1.5, 2.5] * 50})).text


def test_a_table_without_anything_sensitive_is_told_so() -> None:
    assert "No column looks sensitive" in draft(pl.DataFrame({"sex": ["f", "m"] * 20})).text
    assert "No column looks sensitive" not in draft(pl.DataFrame({"income": [1, 2] * 20})).text


def test_an_unusual_format_is_written_down(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_bytes("größe;ort\n1,5;Köln\n1,7;Ulm\n".encode("latin-1"))
    text = draft(path, sd.CsvFormat(encoding="latin-1")).text
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
    assert f'source = "{source}"' in draft(path).text


def test_a_draft_names_a_database_by_its_table_and_a_frame_not_at_all(tmp_path: Path) -> None:
    with contextlib.closing(sqlite3.connect(tmp_path / "clinic.db")) as connection:
        connection.executescript("CREATE TABLE beds (n); INSERT INTO beds VALUES (1), (2)")
    assert 'source = "beds"' in draft(f"sqlite:///{tmp_path}/clinic.db?table=beds").text
    assert 'source = "clinic"' in draft(f"sqlite:///{tmp_path}/clinic.db").text
    assert "source =" not in draft(pl.DataFrame({"age": [30, 40]})).text


@pytest.mark.parametrize("last", [3, None])
def test_missing_values_are_refused_where_none_was_seen(last: int | None) -> None:
    text = draft(pl.DataFrame({"x": [1, 2, last]})).text
    schema = sd.Schema.from_dict(tomllib.loads(text))
    assert schema.missing == ("own value" if last is None else "refuse")
    (line,) = [line for line in text.splitlines() if line.startswith("missing = ")]
    assert "   # " in line


def test_a_time_with_a_zone_is_drafted_so_that_it_can_be_read() -> None:
    frame = pl.DataFrame({"seen": [dt.datetime(2024, 1, day, tzinfo=dt.UTC) for day in (1, 2)]})
    schema = sd.Schema.from_dict(tomllib.loads(draft(frame).text.replace("# bounds", "bounds")))
    assert sd.read(frame, schema)["seen"].values.dtype == pl.Datetime("us", "UTC")
    assert schema["seen"].kind == "datetime"


# -- columns that make trees for others --------------------------------------------------------------


def places() -> pl.DataFrame:
    zips = [f"{town:03d}{street:02d}" for town in range(30) for street in range(4)]
    rows = [zips[i % len(zips)] for i in range(600)]
    return pl.DataFrame(
        {"zip": rows, "city": [f"C{zip[:3]}" for zip in rows], "region": [f"R{zip[1]}" for zip in rows]}
    )


def saved(drafted: Draft, folder: Path) -> sd.Schema:
    for name, text in drafted.files.items():
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="")
    (folder / "sudare.toml").write_text(drafted.text, encoding="utf-8")
    return sd.Schema.from_toml(folder / "sudare.toml")


def test_what_follows_from_a_column_is_its_hierarchy(tmp_path: Path) -> None:
    frame = places()
    drafted = draft(frame)
    assert list(drafted.files) == ["hierarchies/zip.csv"]  # larger than a line of the schema should be
    assert "each has one city > region, which is its hierarchy" in drafted.text
    assert "it follows from 'zip'" in drafted.text
    assert "lists the data's own values" in drafted.text
    table = sd.read(frame, saved(drafted, tmp_path))
    path = table["zip"].hierarchy.rows()[0]
    assert path == (frame["zip"].min(), "C000", "R0", "*")
    assert table["city"].hierarchy.rows()[0] == ("C000", "R0", "*")


def test_nothing_follows_where_one_row_says_otherwise() -> None:
    frame = places()
    frame[0, "city"] = "C001"
    assert "which is its hierarchy" not in draft(frame.drop("region")).text


def test_every_hierarchy_can_be_saved_and_names_no_path_but_its_own(tmp_path: Path) -> None:
    names = ["../age", "/etc/age", "Age", "age", "a" * 300]
    frame = pl.DataFrame({name: [i % 40 for i in range(100)] for name in names})
    drafted = draft(frame, hierarchies=True)
    assert len(drafted.files) == len(names)
    assert all(re.fullmatch(r"hierarchies/[\w-]+\.csv", path) for path in drafted.files)
    assert len({path.lower() for path in drafted.files}) == len(names)
    table = sd.read(frame, saved(drafted, tmp_path))
    assert all(table[name].hierarchy.height > 2 for name in names)


@settings(max_examples=50)
@given(st.lists(st.text(max_size=5), min_size=3, max_size=12, unique=True))
def test_any_texts_are_saved_and_read_again(
    tmp_path_factory: pytest.TempPathFactory, values: list[str]
) -> None:
    folder = tmp_path_factory.mktemp("saved")
    tree = sd.Hierarchy.from_rows([(f"v{value}", f"group {i % 2}", "*") for i, value in enumerate(values)])
    (folder / "tree.csv").write_text(tree.to_csv(), encoding="utf-8", newline="")
    assert sd.Hierarchy.from_csv(folder / "tree.csv") == tree


# -- units of protection ---------------------------------------------------------------------------------


def test_one_number_of_persons_is_kept_with_what_may_be_said_of_it() -> None:
    frame = pl.DataFrame(
        {"patient_id": [i // 3 for i in range(300)], "customer id": [i // 6 for i in range(300)]}
    )
    text = draft(frame).text
    schema = sd.Schema.from_dict(tomllib.loads(text))
    assert (schema["patient_id"].role, schema["customer id"].role) == ("person", "identifier")
    assert "# linked = true" in text
    assert "# most_rows = 3 " in text


def test_a_day_and_a_month_that_cannot_be_told_apart_are_doubted() -> None:
    frame = pl.DataFrame({"visit_date": [f"0{1 + i % 9}/0{1 + i % 5}/2020" for i in range(90)]})
    text = draft(frame).text
    assert "day and month may be the other way round, %m/%d/%Y" in text
    assert sd.Schema.from_dict(tomllib.loads(text))["visit_date"].format == "%d/%m/%Y"


@pytest.mark.parametrize("engine", ["memory", "duckdb", pytest.param("spark", marks=pytest.mark.slow)])
@pytest.mark.parametrize("ending", ["csv", "parquet", "frame"])
def test_a_column_without_values_is_drafted_and_dropped(
    tmp_path: Path, engine: str, ending: str, request: pytest.FixtureRequest
) -> None:
    if engine == "spark":
        request.getfixturevalue("spark")
    frame = pl.DataFrame({"age": [30, 40] * 20, "gone": pl.Series([None] * 40, dtype=pl.String)})
    path = tmp_path / f"people.{ending}"
    source: Path | pl.DataFrame = path
    if ending == "frame":
        source = frame.with_columns(void=None)
    elif ending == "csv":
        frame.with_columns(pl.lit("?").alias("gone")).write_csv(path)  # which means: not known
    else:
        frame.write_parquet(path)
    schema = sd.Schema.from_dict(tomllib.loads(draft(source, engine=engine).text))
    assert schema["gone"].role == "identifier"
    table = sd.read(source, schema, engine=engine)
    assert len(table["gone"].values) == 0
    assert sd.generalize(table, sd.KAnonymity(2)).frame().columns == ["age"]


@pytest.mark.parametrize("role", ["quasi", "sensitive", "other", "weight", "person"])
def test_only_an_identifier_may_lack_every_value(role: str) -> None:
    frame = pl.DataFrame({"age": [30, 40], "gone": pl.Series([None, None], dtype=pl.Int64)})
    schema = sd.Schema.from_dict({"attributes": {"age": {"role": "quasi"}, "gone": {"role": role}}})
    with pytest.raises(sd.InputError, match=r'every value is missing\..*role = "identifier"'):
        sd.read(frame, schema)


def test_the_bounds_of_dates_in_another_form_are_dates() -> None:
    days = [f"{1 + i % 28:02}.01.2020" for i in range(300)]
    drafted = draft(pl.DataFrame({"seen": days})).text
    assert "# bounds = [2020-01-01, 2020-01-28]" in drafted
    declared = sd.Schema.from_dict(tomllib.loads(drafted.replace("# bounds", "bounds")))
    assert sd.read(pl.DataFrame({"seen": days}), declared)["seen"].values.dtype == pl.Date


def test_hierarchies_of_dates_in_another_form_are_saved_as_dates() -> None:
    texts = [f"{1 + i % 12}/{1 + i % 28}/2020" for i in range(60)]
    drafted = draft(pl.DataFrame({"report_date": texts}), hierarchies=True)
    ((path, hierarchy),) = drafted.files.items()
    assert path == "hierarchies/report_date.csv"
    assert "2020-01-01;2020-01;2020-Q1;2020;2020s;*" in hierarchy.splitlines()
    assert 'format = "%m/%d/%Y"' in drafted.text
