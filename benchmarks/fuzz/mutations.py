"""Changes that a hostile or careless hand makes to a file: to its bytes, its text, its tree, its numbers."""

from __future__ import annotations

import copy
import io
import json
import random
from collections.abc import Callable, Sequence
from typing import Any

import polars as pl

from benchmarks.fuzz import thrift

MAX_CHARACTERS = 10**5  # characters before a change, which may make each two thousand
DEEP = "@deep@"  # replaced by nesting that no encoder would write
ODD: Sequence[Any] = (
    None, True, False, 0, 1, -1, 2, 255, 256, 2**31, -(2**31) - 1, 2**40, 2**63, -(2**63) - 1, 10**30, 0.5, -0.5, 1e-320, 1e300,
    -1e308, float("nan"), float("inf"), float("-inf"), "", "x", "0", "-1", "1/0", "1/3", "9" * 400, "1e999999999", "NaN", "\0",
    "a\nb", "*", '"', "'; DROP", "\ud800", "[20, 30)", "2024-02-30", "Int64", "Float64", "String", "Date", "epsilon", "rho", [], {},
    [[]], [None], {"a": 1}, [1, 2, 3], DEEP, "x" * 10_000, list(range(300)),
)  # fmt: skip


def mutate_bytes(content: bytes, rng: random.Random) -> bytes:
    """Flip, set, cut out, repeat or insert bytes, a few times."""
    mutated = bytearray(content)
    for _ in range(rng.choice([1, 1, 1, 2, 3, 8, 30])):
        at = rng.randrange(len(mutated) + 1)
        end = min(len(mutated), at + rng.choice([1, 1, 2, 4, 16, 100]))
        match rng.randrange(6):
            case 0 if at < len(mutated):
                mutated[at] ^= 1 << rng.randrange(8)
            case 1:
                mutated[at:end] = bytes(
                    rng.choice([0, 1, 0x7F, 0x80, 0xFF, rng.randrange(256)]) for _ in mutated[at:end]
                )
            case 2:
                del mutated[at:end]
            case 3:
                mutated[at:at] = mutated[at:end] * rng.choice([1, 2, 50])
            case 4:
                mutated[at:at] = rng.choice(
                    [
                        b"\0",
                        b"\xff\xfe",
                        b"\xed\xa0\x80",
                        b'"',
                        b"[",
                        b"9" * 500,
                        b"-",
                        b";",
                        b",",
                        b"\r",
                        b"\n",
                    ]
                )
            case _ if rng.random() < 0.3:
                del mutated[at:]
    return bytes(mutated)


def mutate_text(content: bytes, rng: random.Random) -> bytes:
    """Change lines and words of a text, or its bytes."""
    if rng.random() < 0.3:
        return mutate_bytes(content, rng)
    lines = content.split(b"\n")
    for _ in range(rng.choice([1, 1, 2, 4])):
        if sum(map(len, lines)) > MAX_CHARACTERS:
            break
        at = rng.randrange(len(lines))
        words = lines[at].split(b" ")
        match rng.randrange(7):
            case 0:
                lines.insert(at, lines[rng.randrange(len(lines))])
            case 1 if len(lines) > 1:
                del lines[at]
            case 2:
                words[rng.randrange(len(words))] = _plain(rng.choice(ODD), rng)
                lines[at] = b" ".join(words)
            case 3:
                lines[at] = (lines[at] * rng.choice([2, 30, 3000]))[: 10 * MAX_CHARACTERS]
            case 4:
                lines[at] += _plain(rng.choice(ODD), rng)
            case 5:
                sign = rng.choice([b",", b";", b"=", b".", b"[", b'"', b" "])
                lines[at] = lines[at][:1000].replace(
                    sign, rng.choice([b"", sign * 2, b"\0", b"[[", sign * 2000])
                )
            case _:
                other = rng.randrange(len(lines))
                lines[at], lines[other] = lines[other], lines[at]
    return b"\n".join(lines)


def _plain(value: Any, rng: random.Random) -> bytes:
    if value == DEEP:
        return rng.choice([b"[", b"{a=", b"a."]) * rng.choice([70, 100_000])
    return (value if isinstance(value, str) else json.dumps(value)).encode(errors="surrogatepass")


def mutate_tree(tree: Any, rng: random.Random) -> Any:
    """Change values of a tree of plain data: to another type, an odd value, one key more or less."""
    mutated = copy.deepcopy(tree)
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        places = list(_places(mutated))
        holder, key = rng.choice(places)
        match rng.randrange(8):
            case 0:
                del holder[key]
            case 1 if isinstance(holder, dict):
                holder[rng.choice(["more", "", "\0", "values", str(key) * 2])] = holder.pop(key)
            case 2 if isinstance(holder, list):
                holder[key:key] = [copy.deepcopy(holder[key])] * rng.choice([1, 2, 50])
            case 3:
                other, name = rng.choice(places)
                if name in other if isinstance(other, dict) else name < len(other):
                    holder[key] = copy.deepcopy(other[name])
            case 4 if isinstance(holder[key], int | float) and not isinstance(holder[key], bool):
                holder[key] = rng.choice(
                    [-holder[key], holder[key] * 2, holder[key] + 1, str(holder[key]), holder[key] * 1e9]
                )
            case _:
                holder[key] = copy.deepcopy(rng.choice(ODD))
        if not list(_places(mutated)):
            break
    return mutated


def _places(node: Any) -> Any:
    keys = list(node) if isinstance(node, dict) else range(len(node)) if isinstance(node, list) else ()
    for key in keys:
        yield node, key
        yield from _places(node[key])


def json_bytes(tree: Any, rng: random.Random) -> bytes:
    """Write a tree as JSON, at times with a key twice, or harmed afterwards."""
    text = json.dumps(tree, ensure_ascii=rng.random() < 0.5, indent=rng.choice([None, 2]))
    text = text.replace(json.dumps(DEEP), "[" * rng.choice([70, 100_000]))
    if rng.random() < 0.03:
        text = text.replace('":', '": 1, "twice": 2, "twice":', 1)
    content = text.encode(errors="surrogatepass")
    return mutate_bytes(content, rng) if rng.random() < 0.1 else content


def mutate_parquet(content: bytes, rng: random.Random) -> bytes:
    """Change a Parquet file: its bytes, the numbers of its footer, or the table in it."""
    chance = rng.random()
    if chance < 0.35:
        return mutate_bytes(content, rng)
    if chance < 0.7:
        return thrift.mutate_footer(content, rng)
    return written(mutate_frame(pl.read_parquet(io.BytesIO(content)), rng), pl.DataFrame.write_parquet)


def written(frame: pl.DataFrame, write: Callable[[pl.DataFrame, io.BytesIO], Any]) -> bytes:
    """Write a frame into bytes."""
    file = io.BytesIO()
    write(frame, file)
    return file.getvalue()


TYPES = (
    pl.Int8(), pl.Int64(), pl.UInt8(), pl.UInt64(), pl.Float32(), pl.Float64(), pl.String(), pl.Boolean(), pl.Date(), pl.Datetime("us"),
    pl.Datetime("ns", "UTC"), pl.Duration("us"), pl.Time(), pl.Binary(), pl.Categorical(), pl.Decimal(10, 2), pl.List(pl.Int64), pl.Null(),
)  # fmt: skip


def mutate_frame(frame: pl.DataFrame, rng: random.Random) -> pl.DataFrame:
    """Change the columns of a frame: types, values, names, order, number of rows."""
    for _ in range(rng.choice([1, 1, 2])):
        column = frame[rng.choice(frame.columns)] if frame.width else pl.Series("x", [1])
        match rng.randrange(7):
            case 0:
                try:
                    frame = frame.with_columns(column.cast(rng.choice(TYPES), strict=False))
                except pl.exceptions.PolarsError:
                    continue
            case 1 | 2:
                values = column.to_list()
                for _ in range(rng.choice([1, 3, len(values)])):
                    if values:
                        values[rng.randrange(len(values))] = rng.choice(
                            [v for v in ODD if not isinstance(v, list | dict)]
                        )
                try:
                    frame = frame.with_columns(
                        pl.Series(column.name, values, dtype=column.dtype, strict=False)
                    )
                except (pl.exceptions.PolarsError, OverflowError, TypeError, UnicodeEncodeError):
                    continue
            case 3:
                frame = (
                    frame.rename(
                        {column.name: rng.choice(["more", "", "0", "weight", column.name + " "])},
                        strict=False,
                    )
                    if frame.width == 1
                    else frame.drop(column.name)
                )
            case 4:
                frame = frame.with_columns(
                    column.alias(rng.choice(["more", "00", column.name + "\u200b", ""]))
                )
            case 5:
                frame = frame.select(rng.sample(frame.columns, frame.width))
            case _:
                frame = (
                    pl.concat([frame] * rng.choice([2, 50]))
                    if rng.random() < 0.5
                    else frame[: rng.randrange(frame.height + 1)]
                )
    return frame
