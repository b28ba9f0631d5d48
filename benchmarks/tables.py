"""Reading and counting, with polars' own reader and group-by in the same run as the yardstick."""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

import numpy as np
import polars as pl

import sudare as sd
from benchmarks.common import in_child, peak_gigabytes, seconds, show

# Eight columns such as a census has: how many values, and whether they are text.
COLUMNS = {
    "age": (90, False),
    "sex": (2, True),
    "education": (16, True),
    "marital": (7, True),
    "race": (5, True),
    "country": (42, True),
    "postcode": (1000, False),
    "occupation": (50, True),
}
CHOICES = {"3 columns": list(COLUMNS)[:3], "6 columns": list(COLUMNS)[:6], "8 columns": list(COLUMNS)}


def census(rows: int) -> pl.DataFrame:
    """Skewed and independent: most tuples of eight columns are unique, the worst case for counting."""
    rng = np.random.default_rng(1)
    frame = {}
    for name, (size, text) in COLUMNS.items():
        share = 1 / np.arange(1, size + 1)
        codes = pl.Series(rng.choice(size, rows, p=share / share.sum()))
        frame[name] = pl.Series([f"{name} {i}" for i in range(size)]).gather(codes) if text else codes
    return pl.DataFrame(frame)


def measure(kind: str, path: str) -> dict[str, float]:
    """One job, measured in a process of its own."""
    if kind == "polars csv":
        return {"seconds": seconds(lambda: pl.read_csv(path), 1), "gigabytes": peak_gigabytes()}
    if kind == "polars parquet":
        return {"seconds": seconds(lambda: pl.read_parquet(path), 1), "gigabytes": peak_gigabytes()}
    if kind == "read":
        return {"seconds": seconds(lambda: sd.read(path), 1), "gigabytes": peak_gigabytes()}
    names = CHOICES[kind]
    table = sd.read(path)
    other = names[::-1]  # what was counted last is remembered, so another is counted between

    def counted() -> None:
        table.counts(names)
        table.counts(other)

    ours = seconds(counted) / 2
    distinct = len(table.counts(names))
    memory = peak_gigabytes()
    frame = table.frame().select(names)
    text = seconds(lambda: frame.group_by(names).len())
    coded = pl.DataFrame({name: table.rows.column(name).codes for name in names})
    codes = seconds(lambda: coded.group_by(names).len())
    assert coded.group_by(names).len().height == distinct
    return {
        "seconds": ours,
        "gigabytes": memory,
        "distinct": distinct,
        "polars": text,
        "polars on codes": codes,
    }


def main(quick: bool = False) -> None:
    for rows in (20_000,) if quick else (1_000_000, 10_000_000):
        with tempfile.TemporaryDirectory() as folder:
            csv, parquet = Path(folder, "census.csv"), Path(folder, "census.parquet")
            frame = census(rows)
            frame.write_csv(csv)
            frame.write_parquet(parquet)
            del frame
            _reading(rows, csv, parquet)
            _counting(rows, parquet)


def _reading(rows: int, csv: Path, parquet: Path) -> None:
    lines = []
    for path in (csv, parquet):
        ours = in_child("benchmarks.tables", "--measure", "read", path)
        polars = in_child("benchmarks.tables", "--measure", f"polars {path.suffix[1:]}", path)
        lines.append(
            [
                path.suffix[1:],
                f"{ours['seconds']:.2f} s",
                f"{polars['seconds']:.2f} s",
                f"{ours['seconds'] / polars['seconds']:.1f}",
                f"{ours['gigabytes']:.2f} GB",
                f"{polars['gigabytes']:.2f} GB",
            ]
        )
    title = f"Reading {rows:,} rows x 8 columns (ours: checked, typed, coded; polars: parsed)"
    show(title, ["file", "sudare", "polars", "ratio", "memory", "polars' memory"], lines)


def _counting(rows: int, parquet: Path) -> None:
    lines = []
    for kind in CHOICES:
        measured = in_child("benchmarks.tables", "--measure", kind, parquet)
        lines.append(
            [
                kind,
                f"{measured['distinct']:,}",
                f"{measured['seconds']:.3f} s",
                f"{measured['seconds'] / measured['polars']:.2f}",
                f"{measured['seconds'] / measured['polars on codes']:.2f}",
                f"{measured['gigabytes']:.2f} GB",
            ]
        )
    headers = [
        "counting",
        "distinct",
        "sudare",
        "ratio to polars",
        "to polars on codes",
        "memory, reading included",
    ]
    show(f"Counting {rows:,} rows", headers, lines)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--measure"]:
        print(json.dumps(measure(sys.argv[2], sys.argv[3])))
    else:
        main(quick="--quick" in sys.argv)
