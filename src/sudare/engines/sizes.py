"""Whether a source fits into memory, judged by its size before it is read.

What the engine in memory needs at its peak depends most on how many rows are different, which nobody knows before they are
read: so there is what a source may need, and what it needs at least. Both were measured through reading, generalizing and
writing tables of 8 columns: of a million rows that are all different, 21 bytes for a byte of CSV and 125 for a value of a
Parquet file; of ten million rows made from Adult's, 3 for a byte of CSV.
"""

from __future__ import annotations

import os
import re
import sys
from glob import has_magic
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal, NamedTuple

from sudare.engines.sources import is_csv, is_elsewhere, is_parquet
from sudare.errors import InputError, ParameterError
from sudare.tables.csv_files import PACKED
from sudare.tables.databases import is_url
from sudare.tables.file_kinds import refuse_other_kind
from sudare.tables.parquet_files import SLICED_VALUES_PER_BYTE, outline_of
from sudare.tables.part_folders import parts_in

PER_CSV_BYTE, PER_VALUE = 24, 150
"""Bytes of memory that may be needed for each byte of a CSV file, and for each value of a Parquet file."""
LEAST = 8
"""A table whose rows are much alike needs so many times less."""
TEXT_PER_BYTE = 6  # of a packed file
UNITS = {
    "KB": 10**3,
    "MB": 10**6,
    "GB": 10**9,
    "TB": 10**12,
    "KIB": 2**10,
    "MIB": 2**20,
    "GIB": 2**30,
    "TIB": 2**40,
}
INSTALL = 'install it: pip install "sudare[duckdb]"'


class Fit(NamedTuple):
    """Who is to hold the rows of a source, and what is said about it."""

    engine: Literal["memory", "duckdb"]
    notes: tuple[str, ...] = ()


def fit(source: Any, memory: str | None) -> Fit:
    """Choose the engine for a source: the one in memory if it has room, else DuckDB.

    >>> import polars as pl
    >>> fit(pl.DataFrame({"age": [30]}), None)
    Fit(engine='memory', notes=())
    """
    if isinstance(source, str | Path) and is_parquet(str(source)) and _is_for_databases(source):
        return Fit("duckdb")
    allowed = sys.maxsize if memory is None else size_of(memory)
    need = needed(source)
    room = min(free_memory(), allowed) if need else allowed
    if need <= room:
        return Fit("memory")
    sizes = f"it may need {need / 10**9:,.1f} GB of memory, and {room / 10**9:,.1f} GB are free"
    if find_spec("duckdb") is not None:
        return Fit("duckdb", (f'{sizes}: read with engine="duckdb", which keeps rows on disk',))
    if need > LEAST * room:
        raise InputError(f"{source}: {sizes}. DuckDB, which keeps rows on disk, can read it: {INSTALL}")
    return Fit("memory", (f"{sizes}. If it does not fit, DuckDB keeps rows on disk; {INSTALL}",))


def _is_for_databases(source: str | Path) -> bool:
    """Tell whether files are several, or elsewhere."""
    return is_elsewhere(str(source)) or (has_magic(str(source)) and not Path(source).exists())


def needed(source: Any) -> int:
    """Return how many bytes of memory a source may need; none if it is read as a whole by any engine."""
    if not isinstance(source, str | Path) or is_url(str(source)) or not Path(source).exists():
        return 0
    path = Path(source)
    if path.is_dir():
        return sum(map(needed, parts_in(path)))
    if is_csv(path):
        return PER_CSV_BYTE * path.stat().st_size * (TEXT_PER_BYTE if path.suffix.lower() in PACKED else 1)
    if is_parquet(str(path)):
        refuse_other_kind(path, path.suffix.lower())
        outline = outline_of(path, str(path), SLICED_VALUES_PER_BYTE)
        return PER_VALUE * outline.rows * len(outline.names)
    return 0


def size_of(memory: str) -> int:
    """Return how many bytes a size means.

    >>> size_of("2GB"), size_of("1.5 GiB")
    (2000000000, 1610612736)
    """
    match = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([KMGT]i?B)\s*", memory, re.IGNORECASE)
    if match is None:
        raise ParameterError(f"'memory' must be a size such as '2GB'. Got {memory!r} instead.")
    return int(float(match[1]) * UNITS[match[2].upper()])


def free_memory(proc: Path = Path("/proc"), cgroup: Path = Path("/sys/fs/cgroup")) -> int:
    """Return how many bytes of memory this process may still take: what the machine has left, and what it is allowed.

    Where a system does not tell what is left, all that the machine has counts.
    """
    return min([_left_in_machine(proc), *_left_in_group(cgroup)])


def _left_in_machine(proc: Path) -> int:
    try:
        match = re.search(r"^MemAvailable:\s+([0-9]+) kB$", (proc / "meminfo").read_text(), re.MULTILINE)
    except OSError:
        match = None
    if match:
        return 1024 * int(match[1])
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):  # Windows does not tell
        return sys.maxsize


def _left_in_group(cgroup: Path) -> list[int]:
    """Return what a container's limit leaves, in either of the two forms that Linux has for it."""
    left = []
    for limit, used in (
        ("memory.max", "memory.current"),
        ("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes"),
    ):
        try:
            most, now = (cgroup / limit).read_text(), (cgroup / used).read_text()
            # What files were read stays there only as long as nobody needs the room.
            stat = (cgroup / limit).with_name("memory.stat").read_text()
            cached = re.search(r"^(?:total_)?inactive_file ([0-9]+)$", stat, re.MULTILINE)
            left.append(int(most) - int(now) + (int(cached[1]) if cached else 0))
        except (OSError, ValueError):  # no such file, or "max": no limit
            continue
    return left
