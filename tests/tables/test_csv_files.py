from __future__ import annotations

import codecs
import csv
import datetime as dt
import gzip
import io
from pathlib import Path

import polars as pl
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import sudare as sd
from sudare import CsvFormat, InputError, Schema
from sudare.tables import csv_files, csv_format

moderate = settings(max_examples=100)
DELIMITERS = [",", ";", "\t", "|"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file that the examples of a property write over and over."""
    return tmp_path_factory.mktemp("csv") / "people.csv"


def written(folder: Path, content: str | bytes, name: str = "people.csv") -> Path:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def records(folder: Path, content: str | bytes, name: str = "people.csv", **format: object) -> list[tuple]:
    """Read a file without a schema: the header and the rows."""
    frame = sd.read(written(folder, content, name), csv=CsvFormat(**format)).frame()
    return [tuple(frame.columns), *frame.rows()]


def texts(path: Path, names: list[str], **format: object) -> pl.DataFrame:
    """Read a file as it is, every column as text: a quoted empty field is a value, an unquoted one is missing."""
    schema = Schema.from_roles(other=names, types=dict.fromkeys(names, "text"), missing_values=())
    format = {"trim": False, "encoding": "utf-8", **format}
    return sd.read(path, schema, csv=CsvFormat(**format)).frame()


# -- any text survives -----------------------------------------------------------------------------

FIELD = st.one_of(
    st.text(st.sampled_from(list("ab,;|\t\"\n\r '\\#é😀東\x00")), max_size=6),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=6),
)
NAMES = st.lists(
    FIELD.filter(lambda name: name and name[0] not in "\ufeff*^"), min_size=1, max_size=4, unique=True
)


@st.composite
def tables(draw: st.DrawFn, field: st.SearchStrategy[str] = FIELD) -> tuple[list[str], list[list[str]]]:
    names = draw(
        NAMES if field is FIELD else st.lists(field.filter(bool), min_size=1, max_size=4, unique=True)
    )
    rows = draw(st.lists(st.lists(field, min_size=len(names), max_size=len(names)), max_size=8))
    return names, [*rows, ["x"] * len(names)]  # no column is all empty


def python_csv(names: list[str], rows: list[list[str]], **format: object) -> str:
    text = io.StringIO(newline="")
    csv.writer(text, **format).writerows([names, *rows])
    return text.getvalue()


@settings(max_examples=250)
@given(
    tables(),
    st.sampled_from(DELIMITERS),
    st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
    st.sampled_from(["\n", "\r\n"]),
    st.booleans(),
)
def test_texts_written_by_python_are_read_back(
    path: Path, table: tuple[list[str], list[list[str]]], delimiter: str, quoting: int, end: str, mark: bool
) -> None:
    names, rows = table
    text = python_csv(names, rows, delimiter=delimiter, quoting=quoting, lineterminator=end)
    # Python up to 3.12 leaves a carriage return unquoted where lines end otherwise, and cannot read it back.
    assume(list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)) == [names, *rows])
    path.write_bytes(codecs.BOM_UTF8 * mark + text.encode())
    frame = texts(path, names, delimiter=delimiter)
    unquoted_empty = quoting == csv.QUOTE_MINIMAL and len(names) > 1
    assert frame.columns == names
    assert [list(row) for row in frame.rows()] == [
        [None if field == "" and unquoted_empty else field for field in row] for row in rows
    ]


@moderate
@given(tables(st.text(st.sampled_from(list('ab,;"  é😀')), max_size=5)), st.sampled_from(DELIMITERS))
def test_files_with_carriage_returns_only(
    path: Path, table: tuple[list[str], list[list[str]]], delimiter: str
) -> None:
    names, rows = table
    path.write_bytes(
        python_csv(names, rows, delimiter=delimiter, quoting=csv.QUOTE_ALL, lineterminator="\r").encode()
    )
    assert [list(row) for row in texts(path, names, delimiter=delimiter).rows()] == rows


@pytest.mark.parametrize("inside", ["\r", "\n", "\r\n"])
def test_line_ends_inside_quotes_in_files_with_carriage_returns_only(folder: Path, inside: str) -> None:
    content = f'a,b\r1,"x{inside}y"\r2,z\r'
    assert records(folder, content) == [("a", "b"), (1, f"x{inside}y"), (2, "z")]


PIECES = st.lists(
    st.sampled_from(["a", "b", " ", ",", '"', '""', "\n", "\r\n", '",', ',"', '"\n', "é"]), max_size=25
)


@settings(max_examples=400)
@given(PIECES)
def test_any_bytes_are_read_as_python_reads_them_or_refused(path: Path, pieces: list[str]) -> None:
    text = "".join(["x,y\n", *pieces])
    path.write_bytes(text.encode())
    try:
        frame = texts(path, ["x", "y"], delimiter=",")
    except InputError:
        return
    expected = list(csv.reader(io.StringIO(text, newline=""), strict=True))[1:]
    while expected and not expected[-1]:  # blank lines at the end
        expected.pop()
    assert [[field or "" for field in row] for row in frame.rows()] == expected


@settings(max_examples=200)
@given(st.lists(st.tuples(*[st.from_regex(r'([ab ][ab "]{0,3})?', fullmatch=True)] * 2), max_size=5))
def test_quotes_inside_unquoted_fields_are_just_characters(path: Path, rows: list[tuple[str, str]]) -> None:
    rows = [("x", "5' 7\""), *rows]
    path.write_text("".join(f"{a},{b}\n" for a, b in [("one", "two"), *rows]))
    frame = texts(path, ["one", "two"], delimiter=",")
    assert [tuple(field or "" for field in row) for row in frame.rows()] == rows


def test_a_large_file_with_line_ends_inside_quotes(path: Path) -> None:
    rows = [[str(i), f'line 1 of {i}\nline 2, "quoted"\n', "é" * (i % 50)] for i in range(30_000)]
    path.write_text(python_csv(["id", "note", "pad"], rows, lineterminator="\n"), newline="")
    frame = texts(path, ["id", "note", "pad"])
    assert [[field or "" for field in row] for row in frame.rows()] == rows


# -- the format is detected -------------------------------------------------------------------------


@pytest.mark.parametrize("delimiter", DELIMITERS)
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("last", [True, False], ids=["ended", "not ended"])
def test_the_delimiter_and_the_line_ends_are_detected(
    folder: Path, delimiter: str, end: str, last: bool
) -> None:
    lines = [["name", "note", "age"], ["Ann", f'"x{delimiter}y"', "30"], ["Bob", "'", "40"]]
    content = end.join(delimiter.join(line) for line in lines) + end * last
    expected = [("name", "note", "age"), ("Ann", f"x{delimiter}y", 30), ("Bob", "'", 40)]
    assert records(folder, content) == expected


def test_commas_in_texts_do_not_make_them_the_delimiter(folder: Path) -> None:
    content = 'name;note\nA;"x, y, z"\nB;u, v, w\n'
    assert records(folder, content) == [("name", "note"), ("A", "x, y, z"), ("B", "u, v, w")]


def test_a_declared_delimiter_is_taken(folder: Path) -> None:
    assert records(folder, "a:b\n1:x,y\n", delimiter=":") == [("a", "b"), (1, "x,y")]


def test_a_declared_quote_is_taken(folder: Path) -> None:
    assert records(folder, "a,b\n'x,''y',\"\n", quote="'") == [("a", "b"), ("x,'y", '"')]


def test_one_column_needs_no_delimiter(folder: Path) -> None:
    assert records(folder, "name\nAnn Lee\nBob\n") == [("name",), ("Ann Lee",), ("Bob",)]


def test_the_format_in_a_schema_is_taken(folder: Path) -> None:
    path = written(folder, "a:b\n1,5:x\n")
    schema = Schema.from_dict(
        {"csv": {"delimiter": ":", "decimal": ","}, "attributes": {n: {"role": "other"} for n in "ab"}}
    )
    assert sd.read(path, schema).frame().rows() == [(1.5, "x")]
    assert sd.read(path, schema, csv=CsvFormat(delimiter=":")).frame().rows() == [(1.5, "x")]


@pytest.mark.parametrize("field", ["delimiter", "quote"])
@pytest.mark.parametrize("value", ["", ",,", "é"])
def test_delimiter_and_quote_are_one_character(field: str, value: str) -> None:
    with pytest.raises(InputError, match=rf"csv\.{field} must be one ASCII character. Got '{value}'"):
        Schema.from_dict({"csv": {field: value}, "attributes": {"a": {"role": "other"}}})


@pytest.mark.parametrize(
    ("content", "value"),
    [
        ("a;b\n1,5;x\n2;y\n", 1.5),
        ("a;b\n-1,5;x\n2,25;y\n", -1.5),
        ("a\tb\n1.5\tx\n2\ty\n", 1.5),
        ('a,b\n"1,5",x\n', "1,5"),
    ],
)
def test_a_decimal_comma_is_detected(folder: Path, content: str, value: object) -> None:
    assert records(folder, content)[1][0] == value


def test_a_decimal_comma_can_be_declared_where_commas_separate(folder: Path) -> None:
    assert records(folder, 'a,b\n"1,5",x\n', decimal=",")[1] == (1.5, "x")


ADULT = "age, work, pay\n39, State-gov, <=50K\n50, ?, >50K\n"


def test_blanks_after_every_delimiter_are_not_part_of_the_values(folder: Path) -> None:
    assert records(folder, ADULT) == [("age", "work", "pay"), (39, "State-gov", "<=50K"), (50, "?", ">50K")]


def test_blanks_can_be_declared_part_of_the_values(folder: Path) -> None:
    assert records(folder, ADULT, trim=False)[1] == (39, " State-gov", " <=50K")


def test_a_few_blanks_are_part_of_the_values(folder: Path) -> None:
    assert records(folder, "a,b\n1, x\n2,y \n3,z\n") == [("a", "b"), (1, " x"), (2, "y "), (3, "z")]


def test_blanks_can_be_declared_not_part_of_the_values(folder: Path) -> None:
    assert records(folder, "a,b \n 1, x\n2,y\t\n", trim=True) == [("a", "b"), (1, "x"), (2, "y")]


def test_quotes_after_blanks_are_quotes_where_blanks_are_not_part_of_the_values(folder: Path) -> None:
    content = 'name, note\n"Ann", "x, y"\n"Bob", "z"\n'
    assert records(folder, content) == [("name", "note"), ("Ann", "x, y"), ("Bob", "z")]


def test_a_format_that_shows_only_behind_a_long_first_record(folder: Path) -> None:
    long = "long, " * 30_000
    assert records(folder, f'a;b\n"{long}";1,5\nshort;2,5\n', decimal=",") == [
        ("a", "b"),
        (long, 1.5),
        ("short", 2.5),
    ]


# -- encodings -------------------------------------------------------------------------------------

JAPANESE = "氏名,年齢,病名\n山田太郎,30,高血圧\n髙橋花子,41,かぜ①\n"
READ = [("氏名", "年齢", "病名"), ("山田太郎", 30, "高血圧"), ("髙橋花子", 41, "かぜ①")]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp932"])
def test_encodings_are_detected(folder: Path, encoding: str) -> None:
    assert records(folder, JAPANESE.encode(encoding)) == READ


@pytest.mark.parametrize("mark", [codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE])
def test_both_byte_orders_of_utf_16(folder: Path, mark: bytes) -> None:
    encoding = "utf-16-le" if mark == codecs.BOM_UTF16_LE else "utf-16-be"
    assert records(folder, mark + JAPANESE.encode(encoding)) == READ


@pytest.mark.parametrize(
    ("encoding", "written_as"),
    [
        ("utf-8", "utf-8"), ("utf-8", "utf-8-sig"), ("UTF8", "utf-8-sig"), ("utf-8-sig", "utf-8"),
        ("shift_jis", "cp932"), ("Shift-JIS", "cp932"), ("cp932", "cp932"), ("euc_jp", None),
        ("utf-16", "utf-16"), ("utf-16-le", "utf-16-le"), ("gb18030", "gb18030"),
    ],
)  # fmt: skip
def test_encodings_can_be_declared(folder: Path, encoding: str, written_as: str | None) -> None:
    text = JAPANESE if written_as else JAPANESE.replace("髙", "高").replace("①", "")
    expected = [
        tuple(v.replace("髙", "高").replace("①", "") if isinstance(v, str) else v for v in row)
        for row in READ
    ]
    content = text.encode(written_as or encoding)
    assert records(folder, content, encoding=encoding) == (READ if written_as else expected)


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "iso8859_15"])
def test_western_encodings_can_be_declared(folder: Path, encoding: str) -> None:
    content = "name;café\nJosé;ñ\n".encode(encoding)
    assert records(folder, content, encoding=encoding) == [("name", "café"), ("José", "ñ")]


def test_a_guessed_encoding_is_noted(folder: Path) -> None:
    table = sd.read(written(folder, JAPANESE.encode("cp932")))
    assert table.source.notes == ("not UTF-8; read as shift_jis",)
    assert sd.read(written(folder, JAPANESE)).source.notes == ()
    declared = sd.read(written(folder, JAPANESE.encode("cp932")), csv=CsvFormat(encoding="shift_jis"))
    assert declared.source.notes == ()


@pytest.mark.parametrize(
    ("content", "place", "byte"),
    [
        (b"name,age\nAnn,30\nJos\xe9,40\n", "line 3, byte 4 of the line", "0xE9"),
        (b"\xffname\n", "line 1, byte 1 of the line", "0xFF"),
        (b'name,age\n"x\ny",1\n\xe4\xb8', "line 4, byte 1 of the line", "0xE4"),
        ("name\nÉlodie Lefèvre\n".encode("latin-1"), "line 2, byte 1 of the line", "0xC9"),
    ],
)
@pytest.mark.parametrize("chunk", [1, 5, 2**24])
def test_undecodable_bytes_are_named_with_line_and_byte(
    folder: Path, monkeypatch: pytest.MonkeyPatch, content: bytes, place: str, byte: str, chunk: int
) -> None:
    monkeypatch.setattr(csv_format, "CHUNK", chunk)
    with pytest.raises(InputError, match=rf"people\.csv, {place}: {byte} is not UTF-8 .* Say which encoding"):
        records(folder, content)


@pytest.mark.parametrize("chunk", [1, 2**24])
def test_bytes_that_the_declared_encoding_does_not_have(
    folder: Path, monkeypatch: pytest.MonkeyPatch, chunk: int
) -> None:
    monkeypatch.setattr(csv_format, "CHUNK", chunk)
    with pytest.raises(InputError, match=r"people\.csv, line 2, byte 3 of the line: 0x81 is not shift_jis"):
        records(folder, "名\n山".encode("cp932") + b"\x81\n", encoding="shift_jis")


@pytest.mark.parametrize("chunk", [1, 2, 3, 5])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "cp932"])
def test_characters_may_lie_across_chunks(
    folder: Path, monkeypatch: pytest.MonkeyPatch, encoding: str, chunk: int
) -> None:
    monkeypatch.setattr(csv_format, "CHUNK", chunk)
    assert records(folder, JAPANESE.encode(encoding)) == READ


def test_an_unknown_encoding(folder: Path) -> None:
    with pytest.raises(InputError, match=r"people\.csv: there is no encoding 'utf-9'"):
        records(folder, "a\n1\n", encoding="utf-9")


# -- compressed files ------------------------------------------------------------------------------


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp932"])
def test_gzip(folder: Path, encoding: str) -> None:
    assert records(folder, gzip.compress(JAPANESE.encode(encoding)), "people.csv.gz") == READ


def test_gzip_with_line_numbers_and_blank_lines(folder: Path) -> None:
    assert records(folder, gzip.compress(b"a,b\n1,2\n\n\n"), "p.tsv.gz", delimiter=",") == [
        ("a", "b"),
        (1, 2),
    ]
    with pytest.raises(InputError, match=r"people\.csv\.gz, line 3: 1 field, but the header has 2: '3'"):
        records(folder, gzip.compress(b"a,b\n1,2\n3\n"), "people.csv.gz")


WHOLE = gzip.compress("".join(["a,b\n", *(f"{i},{i * i}\n" for i in range(3000))]).encode())


@pytest.mark.parametrize(
    "content",
    [
        b"a,b\n1,2\n",
        WHOLE[: len(WHOLE) // 2],
        WHOLE[:100] + bytes(byte ^ 255 for byte in WHOLE[100:140]) + WHOLE[140:],
        WHOLE[:-8] + bytes(8),
    ],
    ids=["not compressed", "cut off", "damaged", "wrong checksum"],
)
def test_a_damaged_gzip_file_is_refused(folder: Path, content: bytes) -> None:
    with pytest.raises(InputError, match=r"people\.csv\.gz: the file cannot be read"):
        records(folder, content, "people.csv.gz")


@pytest.mark.parametrize("name", ["p.csv", "p.TSV", "p.txt", "p.tab", "p.CSV.GZ"])
def test_endings_of_csv_files(folder: Path, name: str) -> None:
    content = b"a,b\n1,2\n"
    assert records(folder, gzip.compress(content) if "GZ" in name else content, name) == [("a", "b"), (1, 2)]


# -- headers ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("content", ["", "\n", "\r\n\r\n", "\ufeff", "\ufeff\n"])
@pytest.mark.parametrize("name", ["people.csv", "people.csv.gz"])
def test_an_empty_file(folder: Path, content: str, name: str) -> None:
    data = gzip.compress(content.encode()) if name.endswith("gz") else content
    with pytest.raises(InputError, match=rf"{name}: the file is empty; it needs a header line"):
        records(folder, data, name)


@pytest.mark.parametrize("content", ["a,b", "a,b\n", "a,b\n\n\n", "\ufeffa,b\r\n"])
def test_a_header_without_records(folder: Path, content: str) -> None:
    with pytest.raises(
        InputError, match=r"people\.csv: the table is empty; there is no record after the header"
    ):
        records(folder, content)


@pytest.mark.parametrize(
    ("header", "message"),
    [
        ("a,b,a", "line 1: columns 1 and 3 are both named 'a'. Rename one"),
        ('a,"a"', "line 1: columns 1 and 2 are both named 'a'"),
        ("a,,c", "line 1: column 2 has no name"),
        ('"",b', "line 1: column 1 has no name"),
        ("a,b,", "line 1: column 3 has no name"),
    ],
)
def test_headers_that_do_not_name_each_column(folder: Path, header: str, message: str) -> None:
    with pytest.raises(InputError, match=rf"people\.csv, {message}"):
        records(folder, f"{header}\n1,2,3\n", delimiter=",")


def test_names_that_differ_only_in_blanks_are_the_same_where_blanks_do_not_count(folder: Path) -> None:
    with pytest.raises(InputError, match="columns 1 and 2 are both named 'a'"):
        records(folder, "a, a\n1, 2\n")


def test_a_name_over_two_lines(folder: Path) -> None:
    content = codecs.BOM_UTF8 + b'"first\nname",b\n1,x\n2,y,z\n'
    with pytest.raises(InputError, match=r"people\.csv, line 4: 3 fields, but the header has 2"):
        records(folder, content)
    assert records(folder, content.replace(b",z", b"")) == [("first\nname", "b"), (1, "x"), (2, "y")]


def test_a_quote_that_never_ends_in_the_header(folder: Path) -> None:
    for length in (10, 100_000):
        with pytest.raises(InputError, match=r"people\.csv, line 1: .*quote"):
            records(folder, '"a,b\n' + "1,2\n" * length)


# -- damaged records -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("1,2\n3\n4,5\n", "line 3: 1 field, but the header has 2: '3'. Fix the record"),
        ("1,2\n3,4,5\n", "line 3: 3 fields, but the header has 2: '3,4,5'"),
        ("1,2\n3,4,5", "line 3: 3 fields, but the header has 2: '3,4,5'"),
        ("1,2\n3", "line 3: 1 field, but the header has 2: '3'"),
        ("1,2\n\n3,4\n", "line 3: the line is empty, and records follow it"),
        ("\n1,2\n", "line 2: the line is empty"),
        ("1,2\n \n3,4\n", "line 3: 1 field, but the header has 2"),
        ('1,2\n"x,3\n4,5\n', "line 3: a quoted field that starts in this record never ends"),
        ('1,2\n3,"x\n\n', "line 3: a quoted field that starts in this record never ends"),
        ('1,2\n"a" b,3\n', "line 3: text follows a closing quote: '\"a\" b,3'. Double the quotes"),
        ('1,2\n"a"b",3\n', "line 3: text follows a closing quote"),
    ],
)
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("before", ["", '"x\ny",1\n', '"x\n\n""\n,\n",1\n2,"\n"\n'])
def test_damaged_records_are_refused_with_their_line(
    folder: Path, body: str, message: str, end: str, before: str
) -> None:
    if end == "\r":
        before = ""  # what becomes of line ends inside quotes there has a test of its own
    number = int(message.split(":")[0].removeprefix("line "))
    expected = message.replace(f"line {number}", f"line {number + before.count(chr(10))}", 1)
    with pytest.raises(InputError) as refused:
        records(folder, ("a,b\n" + before + body).replace("\n", end), delimiter=",")
    assert str(refused.value).startswith(f"people.csv, {expected}")


@moderate
@given(tables(), st.data())
def test_the_line_of_a_record_with_a_field_too_many(
    path: Path, table: tuple[list[str], list[list[str]]], data: st.DataObject
) -> None:
    names, rows = table
    row = data.draw(st.integers(0, len(rows) - 1))
    before = python_csv(names, rows[:row], quoting=csv.QUOTE_ALL, lineterminator="\n")
    bad = [*rows[:row], [*rows[row], "too many"], *rows[row + 1 :]]
    text = python_csv(names, bad, quoting=csv.QUOTE_ALL, lineterminator="\n")
    path.write_bytes(text.encode())
    reason = f"{len(names) + 1} fields, but the header has {len(names)}: "
    with pytest.raises(InputError) as refused:
        texts(path, names, delimiter=",")
    assert str(refused.value).startswith(f"people.csv, line {before.count(chr(10)) + 1}: {reason}")


@moderate
@given(tables(), st.data())
def test_the_line_of_a_value_of_the_wrong_type(
    path: Path, table: tuple[list[str], list[list[str]]], data: st.DataObject
) -> None:
    names, rows = table
    assume("n" not in names)
    wrong = data.draw(st.integers(0, len(rows) - 1))
    quoted = {"quoting": csv.QUOTE_ALL, "lineterminator": "\n"}
    before = python_csv([*names, "n"], [[*row, "5"] for row in rows[:wrong]], **quoted)
    numbered = [[*row, "five" if i == wrong else "5"] for i, row in enumerate(rows)]
    path.write_bytes(python_csv([*names, "n"], numbered, **quoted).encode())
    schema = Schema.from_roles(other=[*names, "n"], types={"n": "integer"})
    with pytest.raises(InputError) as refused:
        sd.read(path, schema, csv=CsvFormat(delimiter=",", trim=False))
    line = before.count("\n") + 1
    assert f"people.csv, line {line}, column 'n': 'five' is not a whole number" in str(refused.value)


def test_a_long_damaged_record_is_cut_in_the_message(folder: Path) -> None:
    with pytest.raises(InputError) as refused:
        records(folder, "a,b\n" + "x" * 10_000 + "\n1,2\n")
    assert len(str(refused.value)) < 300


# -- values ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("blank", ["\n", "\n\n\n", "\r\n", "\r\n\r\n", "\n\r\n"])
@pytest.mark.parametrize("content", ["a,b\n1,2", "a\n1", 'a,b\n1,"2"', "a,b\n1,"])
def test_blank_lines_at_the_end_do_not_count(folder: Path, content: str, blank: str) -> None:
    content = content if content != "a,b\n1," else "a,b\n1,x\n2,"
    assert records(folder, content + blank) == records(folder, content)


def test_the_last_value_may_be_missing(folder: Path) -> None:
    assert records(folder, "a,b\n1,2\n3,") == [("a", "b"), (1, 2), (3, None)]
    assert records(folder, "a,b\n1,2\n,\n\n") == [("a", "b"), (1, 2), (None, None)]
    assert records(folder, 'a\n1\n""\n') == [("a",), (1,), (None,)]


def test_blank_lines_of_a_single_column_are_missing_values(folder: Path) -> None:
    assert records(folder, "a\n1\n\n2\n") == [("a",), (1,), (None,), (2,)]


def test_texts_become_the_values_they_are(folder: Path) -> None:
    content = (
        "id,age,height,born,seen,zip,flag\n"
        "007,30,1.8,1994-01-31,2024-05-01 10:30,01234,true\n"
        "123,-4,2,1990-12-01,2024-05-01T10:30:05.5,99999,false\n"
    )
    frame = sd.read(written(folder, content)).frame()
    assert frame.rows() == [
        ("007", 30, 1.8, dt.date(1994, 1, 31), dt.datetime(2024, 5, 1, 10, 30), "01234", "true"),
        ("123", -4, 2.0, dt.date(1990, 12, 1), dt.datetime(2024, 5, 1, 10, 30, 5, 500_000), "99999", "false"),
    ]
    assert frame.schema["age"] == pl.Int64
    assert frame.schema["height"] == pl.Float64


def test_long_numbers_stay_apart(folder: Path) -> None:
    content = "card\n12345678901234567890\n12345678901234567891\n"
    assert sd.read(written(folder, content)).frame()["card"].n_unique() == 2


def with_missing_values(folder: Path, content: str, missing_values: tuple[str, ...] | None) -> list[tuple]:
    schema = Schema.from_roles(other=["a", "b"], missing_values=missing_values)
    return sd.read(written(folder, content), schema).frame().rows()


def test_empty_fields_are_missing_unless_something_else_is_said(folder: Path) -> None:
    content = 'a,b\n1,x\n,""\nNA,y\n'
    assert with_missing_values(folder, content, None) == [("1", "x"), (None, None), ("NA", "y")]
    assert with_missing_values(folder, content, ("", "NA")) == [(1, "x"), (None, None), (None, "y")]


def test_without_missing_values_a_quoted_empty_field_is_a_value_and_an_unquoted_one_is_missing(
    folder: Path,
) -> None:
    content = 'a,b\n"",\n,""\nx,y\n'
    assert with_missing_values(folder, content, ()) == [("", None), (None, ""), ("x", "y")]


def test_missing_values_are_found_behind_blanks(folder: Path) -> None:
    path = written(folder, ADULT)
    names = ["age", "work", "pay"]
    table = sd.read(path, Schema.from_roles(other=names, missing_values=["?"]))
    assert table.frame()["work"].to_list() == ["State-gov", None]


def test_slices_do_not_eat_a_mark_at_their_start(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = folder / "marks.csv"
    path.write_bytes("c,d\naaaaaaaa,1\n\ufeffab,2\nab,3\n".encode())
    whole = sd.read(path).frame()
    for size in range(4, 30):
        monkeypatch.setattr(csv_files, "SLICE", size)
        assert sd.read(path).frame().equals(whole)
    assert whole["c"].to_list() == ["aaaaaaaa", "\ufeffab", "ab"]


TRICKY = [
    'a,b\n"x\ny",1\n"p""q",2\nz,3\n',
    'a,b\r\n"x\r\ny",1\r\n"",2\r\nz,3',
    "a;b\n1,5;x\n2,25;y\n\n\n",
    'a,b\nst"ray,1\n"quo,ted",2\n  pad ,3\n',
]


@pytest.mark.parametrize("text", TRICKY)
def test_slices_are_parsed_as_the_whole(folder: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    path = folder / "tricky.csv"
    path.write_bytes(text.encode())
    whole = sd.read(path).frame()
    for size in (1, 3, 7, 12, 20):
        monkeypatch.setattr(csv_files, "SLICE", size)
        assert sd.read(path).frame().equals(whole)
