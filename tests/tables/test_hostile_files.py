"""Files from outside that are deep, huge, cyclic, or claim to be what they are not: a clear error, before the work."""

from __future__ import annotations

import gzip
import io
import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import sudare as sd
from benchmarks.fuzz.thrift import mutate_footer, read_struct, write_struct
from sudare.errors import InputError, ParameterError
from sudare.tables import archives, builders, parquet_files, text_files
from sudare.tables.arrow_files import read_arrow
from sudare.tables.parquet_files import PAGE_VALUES, Outline, read_parquet
from sudare.tables.text_files import parse_json, parse_toml, read_bytes


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[" * 65 + "]" * 65, "nested more than 64 deep"),
        ('{"a":' * 100_000, "nested more than 64 deep"),
        ("9" * 301, "301 digits"),
        ("-" + "9" * 300, "301 digits"),
        ("0." + "1" * 400, "402 digits"),
        ("1e400", "beyond all that can be counted"),
        ("NaN", "'NaN' is no number"),
        ("[-Infinity]", "'-Infinity' is no number"),
        ('{"a": 1, "b": 2, "a": 3}', "the key 'a' stands twice"),
        (r'"\ud800"', "surrogates not allowed"),
        ('{"a": 1', "not a valid JSON file"),
        ("", "not a valid JSON file"),
    ],
    ids=lambda given: given[:20],
)
def test_json_beyond_the_limits(text: str, message: str) -> None:
    with pytest.raises(InputError, match=rf"law\.json: .*{message}"):
        parse_json(text.encode(), "law.json")


def test_json_within_the_limits() -> None:
    text = (
        '{"deep": '
        + "[" * 63
        + "]" * 63
        + r', "text": "[[[[\"[[", "pair": "\ud83d\ude00", "n": '
        + "9" * 300
        + "}"
    )
    assert parse_json(text.encode(), "x") == json.loads(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a = " + "[" * 65 + "]" * 65, "nested more than 64 deep"),
        ("a = " + "{b=" * 1000, "nested more than 64 deep"),
        ("a." * 64 + "a = 1", "a key has more than 64 parts"),
        ("[" + "a . " * 50_000 + "a]", "a key has more than 64 parts"),
        ("a = " + "9" * 301, "a number has more than 300 digits"),
        ("a = 1\na = 2", "not a valid TOML file"),
        ("a = '\0'", "not a valid TOML file"),
    ],
    ids=lambda given: given[:20],
)
def test_toml_beyond_the_limits(text: str, message: str) -> None:
    with pytest.raises(InputError, match=rf"schema\.toml: .*{message}"):
        parse_toml(text.encode(), "schema.toml")


def test_toml_whose_strings_look_like_nesting() -> None:
    text = "\n".join(
        [
            'rows = [["[20, 30)", "[0, 50)"]]' + " # [[[[[",
            "many = [" + "1.5, " * 1000 + "]",
            f'long = "{"[" * 100}"',
            f"raw = '{'[' * 100}'",
            'lines = """' + "[\n" * 100 + '"""',
            "literal = '''" + '[\n"' * 100 + "'''",
            'quote = "\\"' + "[" * 100 + '"',
        ]
    )
    assert parse_toml(text.encode(), "x")["raw"] == "[" * 100


def test_a_file_that_is_too_large_or_endless(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"the law is too large. It may have 1,000 bytes"):
        read_bytes(Path("/dev/zero"), "the law", 1000)
    with pytest.raises(InputError, match="cannot be opened: embedded null byte"):
        read_bytes(Path("a\0b"), "the law")
    with pytest.raises(InputError, match="cannot be opened: Is a directory"):
        read_bytes(tmp_path, "the law")


# -- Hierarchies and schemas --------------------------------------------------------------------------


def test_a_mask_is_what_it_was() -> None:
    values = ["4056", "4057", "401", "**", "4*5"]
    masked = sd.Hierarchy.mask(values, pad=" ")
    width = 4
    rows = [(v, *(v.rjust(width)[: width - i] + "*" * i for i in range(1, width + 1))) for v in values]
    assert masked == sd.Hierarchy.from_rows(rows)


def test_masks_of_long_values() -> None:
    longest = "x" * builders.MAX_MASKED_WIDTH
    assert sd.Hierarchy.mask([longest]).height == builders.MAX_MASKED_WIDTH
    with pytest.raises(InputError, match=r"1 values of up to 20,000 characters .* may have 999 characters"):
        sd.Hierarchy.mask(["x" * 20_000])
    with pytest.raises(InputError, match="times the square of the longest be 100,000,000"):
        sd.Hierarchy.mask([f"{i:0>900}" for i in range(700)])
    for empty in ([], [""]):
        with pytest.raises(InputError, match="Hierarchy: "):
            sd.Hierarchy.mask(empty)


def test_trees_that_never_end() -> None:
    tree: dict[str, Any] = {"a": ["b"]}
    tree["c"] = tree
    with pytest.raises(InputError, match="more than 64 levels deep"):
        sd.Hierarchy.from_tree(tree)
    rows = [[str(i) for i in range(1001)]]
    with pytest.raises(InputError, match="1 values with 1,001 levels are too many"):
        sd.Hierarchy.from_rows(rows)
    assert sd.Hierarchy.from_rows([[str(i) for i in range(1000)]]).height == 999


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.csv", b";" * 10**6),
        ("a.csv", b'"\n";' * 10**5),
        ("a.csv", b"x" * 200_000 + b";*"),
        ("a.csv", b"\xff\xfe"),
        ("a.json", b"[" * 10**6),
        ("a.json", b'{"a": ' * 10**5),
        ("a.toml", b"a." * 10**5 + b"a = 1"),
        ("a.toml", b"a = " + b"[" * 10**5),
        ("a.json", b'{"a": NaN}'),
    ],
)
def test_hierarchy_files_that_go_on_and_on(name: str, content: bytes, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=name):
        sd.Hierarchy.from_file(tmp_path / name)


@pytest.mark.parametrize(
    "recipe",
    [
        'hierarchy = { kind = "intervals", quantiles = 1000000000000 }',
        f'hierarchy = {{ kind = "intervals", width = 1, fanout = 1{"0" * 200} }}',
        'hierarchy = "a\\u0000b"',
        'hierarchy = { kind = "rows", rows = 5 }',
        'hierarchy = { kind = "rows", rows = [5] }',
        'hierarchy = { kind = "rows", rows = [["a", "*"]], more = 1 }',
    ],
)
def test_recipes_that_ask_for_too_much(recipe: str, tmp_path: Path) -> None:
    path = tmp_path / "schema.toml"
    path.write_text(f'[attributes.age]\nrole = "quasi"\ntype = "integer"\n{recipe}\n')
    with pytest.raises((InputError, ParameterError)):
        sd.read(pl.DataFrame({"age": [1, 2, 3]}), path)


def test_a_schema_with_very_many_problems_tells_some_of_them(tmp_path: Path) -> None:
    path = tmp_path / "schema.toml"
    path.write_text("\n".join(f'[attributes.a{i}]\nrole = "nobody"' for i in range(3000)))
    with pytest.raises(InputError, match="and 2,980 problems more") as error:
        sd.Schema.from_toml(path)
    assert len(str(error.value).splitlines()) == 21


def test_limits_are_the_documented_ones() -> None:
    assert (text_files.MAX_DEPTH, text_files.MAX_DIGITS) == (64, 300)
    assert (text_files.TOML_BYTES, text_files.MAX_BYTES, text_files.CSV_BYTES) == (
        2 * 10**6,
        16 * 10**6,
        64 * 10**6,
    )
    assert (builders.FILE_VALUES, text_files.MAX_FIELDS) == (300_000, 1_500_000)
    assert (parquet_files.VALUES_FLOOR, parquet_files.UNPACKED_FLOOR) == (10**8, 2**28)


def lower(monkeypatch: pytest.MonkeyPatch, times: int) -> None:
    """Lower some limits as many times, so that what exceeds them is soon made."""
    for module, name in (
        (builders, "FILE_VALUES"),
        (builders, "MAX_FIELDS"),
        (parquet_files, "VALUES_FLOOR"),
        (parquet_files, "UNPACKED_FLOOR"),
    ):
        monkeypatch.setattr(module, name, getattr(module, name) // times)


def test_small_files_that_are_too_large_for_their_kind(tmp_path: Path) -> None:
    (tmp_path / "schema.toml").write_bytes(b"#" * 2_000_001)
    with pytest.raises(InputError, match=r"the schema is too large. It may have 2,000,000 bytes"):
        sd.Schema.from_toml(tmp_path / "schema.toml")
    (tmp_path / "law.json").write_bytes(b" " * 16_000_001)
    with pytest.raises(InputError, match="It may have 16,000,000 bytes"):
        text_files.read_json(tmp_path / "law.json", "the law")


@pytest.mark.parametrize("content", ["a;*\n" * 1_000_001, "\n" * 2_000_001, "\r" * 2_000_001])
def test_hierarchy_files_of_too_many_fields(content: str, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(content.encode())
    with pytest.raises(InputError, match="It may have 1,500,000 fields in all"):
        sd.Hierarchy.from_file(tmp_path / "a.csv")


def test_hierarchies_of_too_many_values(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lower(monkeypatch, 100)
    (tmp_path / "a.csv").write_text("".join(f"{i};*\n" for i in range(3_001)))
    with pytest.raises(InputError, match=r"3,001 values. It may have 3,000"):
        sd.Hierarchy.from_file(tmp_path / "a.csv")
    with pytest.raises(InputError, match="the tree is too large"):
        sd.Hierarchy.from_tree({"*": list(range(3_001))})
    deep: Any = [str(i) for i in range(500)]
    for _ in range(60):
        deep = {"a": deep}
    with pytest.raises(InputError, match="15,000 names on all their paths"):
        sd.Hierarchy.from_tree(deep)


def test_a_key_that_stands_twice_among_very_many() -> None:
    keys = ",".join(f'"{i}":1' for i in range(100_000))
    with pytest.raises(InputError, match="the key '99999' stands twice"):
        parse_json(f'{{{keys},"99999":2}}'.encode(), "law.json")


# -- Parquet and Arrow --------------------------------------------------------------------------------


def parquet(frame: pl.DataFrame, **options: Any) -> bytes:
    file = io.BytesIO()
    frame.write_parquet(file, **options)
    return file.getvalue()


FRAME = pl.DataFrame({"a": np.arange(1000) % 7, "s": [f"x{i % 13}" for i in range(1000)]})


@pytest.mark.parametrize(
    "options", [{}, {"compression": "snappy"}, {"row_group_size": 100}, {"data_page_size": 100}]
)
def test_an_outline_agrees_with_what_is_read(options: dict[str, Any]) -> None:
    content = parquet(FRAME, **options)
    outline = Outline.of(content)
    assert (outline.names, outline.rows) == (("a", "s"), 1000)
    assert read_parquet(content).equals(FRAME)


def footer_of(content: bytes) -> tuple[bytes, Any]:
    length = int.from_bytes(content[-8:-4], "little")
    return content[: -8 - length], read_struct(content, len(content) - 8 - length)[0]


def with_footer(body: bytes, footer: Any) -> bytes:
    whole = write_struct(footer)
    return body + whole + len(whole).to_bytes(4, "little") + b"PAR1"


def put(node: Any, old: int, new: int) -> Any:
    """Change a number wherever it stands."""
    if isinstance(node, tuple) and len(node) == 3:
        number, kind, value = node
        return number, kind, new if kind in (4, 5, 6) and value == old else put(value, old, new)
    if isinstance(node, tuple):
        kind, items = node
        return kind, [new if kind in (4, 5, 6) and item == old else put(item, old, new) for item in items]
    return [put(item, old, new) for item in node] if isinstance(node, list) else node


@pytest.mark.parametrize("rows", [10**6, PAGE_VALUES + 1, 2**31, 2**40, -1])
def test_a_footer_that_claims_more_rows_than_the_pages_have(
    rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    body, footer = footer_of(parquet(FRAME))
    assert read_parquet(with_footer(body, footer)).equals(FRAME)
    monkeypatch.setattr(pl, "read_parquet", lambda *a, **k: pytest.fail("polars was asked"))
    with pytest.raises(InputError, match="the file cannot be read"):
        read_parquet(with_footer(body, put(footer, 1000, rows)))


def test_random_numbers_in_footers_and_pages() -> None:
    """Under no limit of memory here; the fuzzer has one."""
    rng, content = random.Random(1), parquet(FRAME)
    refused = 0
    for _ in range(300):
        try:
            read_parquet(mutate_footer(content, rng))
        except InputError:
            refused += 1
    assert refused > 100


@pytest.mark.parametrize("content", [b"", b"PAR1", b"PAR1PAR1PAR1", b"x" * 100])
def test_what_is_no_parquet_file(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "x.parquet").write_bytes(content)
    for source in (content, tmp_path / "x.parquet"):
        with pytest.raises(InputError, match="the file cannot be read"):
            read_parquet(source)


def test_a_packed_buffer_that_claims_too_much(tmp_path: Path) -> None:
    path = tmp_path / "x.feather"
    FRAME.write_ipc(path, compression="zstd")
    content = path.read_bytes()
    unpacked = (8000).to_bytes(8, "little")
    assert unpacked in content
    path.write_bytes(content.replace(unpacked, (2**50).to_bytes(8, "little")))
    with pytest.raises(InputError, match="it is damaged"):
        read_arrow(path)


def test_json_lines_that_are_too_deep(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text('{"a": ' + "[" * 10**5 + "]" * 10**5 + "}\n")
    with pytest.raises(InputError, match="nested more than 64 deep"):
        sd.read(path)


# -- Tables that unpack to far more than they hold ---------------------------------------------------


def no_reading(monkeypatch: pytest.MonkeyPatch) -> None:
    for reader in ("read_parquet", "read_ipc", "read_ndjson"):
        monkeypatch.setattr(pl, reader, lambda *a, **k: pytest.fail("polars was asked"))


def test_a_parquet_file_of_far_more_text_than_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    lower(monkeypatch, 100)
    text = pl.Series(["x" * 500_000])
    content = parquet(pl.DataFrame({f"c{i}": text for i in range(6)}))
    no_reading(monkeypatch)
    with pytest.raises(InputError, match=r"it unpacks to 3,00\d,\d+ bytes, where 2,684,354 are the most"):
        read_parquet(content)


def test_a_parquet_file_of_far_more_values_than_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    lower(monkeypatch, 100)
    zeros = pl.zeros(126_000, dtype=pl.Int8, eager=True)
    content = parquet(pl.DataFrame({f"c{i}": zeros for i in range(8)}))
    no_reading(monkeypatch)
    with pytest.raises(InputError, match="126,000 rows of 8 columns, where 1,000,000 values are the most"):
        read_parquet(content)


def test_large_tables_are_not_bombs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten million rows of eight columns, two of them constant, in which the others have few values: a tenth of all that."""
    lower(monkeypatch, 10)
    rows = 1_000_000
    few, none = pl.Series(np.arange(rows, dtype=np.int16) % 91), pl.zeros(rows, dtype=pl.Int16, eager=True)
    frame = pl.DataFrame({f"c{i}": few if i < 6 else none for i in range(8)})
    assert Outline.of(parquet(frame)).rows == rows
    assert Outline.of(parquet(frame, compression="uncompressed")).rows == rows


def test_an_arrow_file_that_unpacks_to_far_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x.feather"
    zeros = pl.zeros(30_000_000, dtype=pl.Int64, eager=True)
    pl.DataFrame({f"c{i}": zeros for i in range(5)}).write_ipc(path, compression="zstd")
    no_reading(monkeypatch)
    with pytest.raises(InputError, match="are the most for its size"):
        read_arrow(path)


def test_a_gzipped_csv_file_that_unpacks_to_far_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "g.csv.gz"
    path.write_bytes(gzip.compress(b"a\n" + b"1\n" * 500_000))
    assert len(sd.read(path)) == 500_000
    monkeypatch.setattr(archives, "UNPACKED_FLOOR", 999_999)
    monkeypatch.setattr(archives, "UNPACKED_PER_BYTE", 2)
    with pytest.raises(InputError, match="unpacks to more than 999,999 bytes"):
        sd.read(path)


def test_a_csv_header_of_very_many_columns(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(",".join(f"a{i}" for i in range(10_001)) + "\n")
    with pytest.raises(InputError, match=r"the header names 10,001 columns. 10,000 are the most"):
        sd.read(tmp_path / "a.csv")


def test_json_lines_whose_every_line_has_another_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text("".join(f'{{"a{i % 2000}": 1}}\n' for i in range(2_500)))
    lower(monkeypatch, 100)
    no_reading(monkeypatch)
    with pytest.raises(InputError, match="2,501 rows of 2,000 columns"):
        sd.read(path)
