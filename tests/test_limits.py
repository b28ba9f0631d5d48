"""The page of limits says what the code does."""

from __future__ import annotations

from pathlib import Path

from sudare.ledger import entries, several
from sudare.plans import law, plan
from sudare.pview import saved
from sudare.suitability import facts
from sudare.tables import (
    apart,
    archives,
    builders,
    number_builders,
    parquet_files,
    part_folders,
    paths,
    schema,
    text_files,
)

PAGE = Path(__file__).parents[1] / "docs" / "limits.md"


def test_the_page_of_limits_names_them_all() -> None:
    rows = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| ")][1:]
    told = [row.split("|")[2].strip() for row in rows]
    assert told == [
        f"{text_files.TOML_BYTES:,} bytes",
        f"{text_files.MAX_BYTES:,} bytes",
        f"{text_files.CSV_BYTES:,} bytes",
        f"{text_files.MAX_FIELDS:,}",
        str(text_files.MAX_DEPTH),
        str(text_files.MAX_DIGITS),
        f"{schema.MAX_ATTRIBUTES:,}",
        f"{paths.MAX_LEVELS:,}",
        f"{builders.FILE_VALUES:,}",
        f"{paths.MAX_VALUES:,}",
        f"{builders.MAX_MASKED_WIDTH:,}",
        f"{builders.MAX_MASKED_CHARACTERS:,}",
        f"{number_builders.MAX_QUANTILES:,} and {number_builders.MAX_FANOUT:,}",
        f"{parquet_files.VALUES_FLOOR:,}, or {parquet_files.VALUES_PER_BYTE} per byte of the file",
        f"{parquet_files.VALUES_FLOOR:,}, or {parquet_files.SLICED_VALUES_PER_BYTE:,} per byte of the file",
        f"{parquet_files.UNPACKED_FLOOR:,}, or {parquet_files.UNPACKED_PER_BYTE} per byte of the file",
        f"{archives.UNPACKED_FLOOR:,}, or {archives.UNPACKED_PER_BYTE} per byte of the file",
        f"{archives.MAX_MEMBERS:,}",
        f"{part_folders.MAX_PARTS:,}",
        f"{apart.MEMORY_FLOOR:,} bytes, or {apart.MEMORY_PER_BYTE} per byte of the file",
        f"{parquet_files.MAX_COLUMNS:,}",
        f"{parquet_files.PAGE_VALUES:,}",
        f"{parquet_files.PAGE_BYTES:,}",
        f"{saved.MAX_AXES:,}",
        f"{saved.MAX_DOMAIN_CELLS:,}",
        f"{saved.MAX_ROWS:,}",
        f"{saved.MAX_VALUES:,}",
        f"{law.MAX_VALUES:,}",
        f"{law.MAX_MATRIX:,}",
        f"{law.MAX_AXES} and {law.MAX_FACES}",
        f"{law.MAX_POINTS:,}",
        f"{law.MAX_STEPS:,}",
        f"{plan.MAX_ROWS:,}",
        f"{entries.MAX_HARMLESS:,}",
        f"{entries.MAX_PERIODS:,}",
        f"{several.MAX_WAYS:,}",
        f"{facts.MAX_LEFT_OUT:,}",
    ]
