"""The parts that a published table is written in: a large one stands in several Parquet files, one after the other.

`data.00001.parquet`, `data.00002.parquet`, ... have PART_ROWS rows each, but for the last, which has the rest. A table that
fits into one part is `data.parquet`. Where a part ends depends on nothing but the rows, so the same rows give the same files.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from sudare.errors import InputError
from sudare.tables.runs import PublishedRows, Runs

PART_ROWS = 2**21  # a part is held in memory while it is written, and most of its rows may be different
_NUMBERED = re.compile(r"(.+)\.(?!00000)([0-9]{5})")  # no view has a dot in its name


def part_names(table: str, rows: int) -> list[str]:
    """Return the names of the files that a table of so many rows is written to.

    >>> part_names("data", 1000)
    ['data.parquet']
    >>> part_names("data", PART_ROWS + 1)
    ['data.00001.parquet', 'data.00002.parquet']
    """
    if rows <= PART_ROWS:
        return [f"{table}.parquet"]
    return [f"{table}.{number:05}.parquet" for number in range(1, -(-rows // PART_ROWS) + 1)]


def in_parts(rows: PublishedRows) -> Iterator[Runs]:
    """Yield the rows of each part that a table is written in."""
    part: list[Runs] = []
    room = PART_ROWS
    for some in rows.parts():
        while some.height > room:
            first, some = some.split(room)
            yield Runs.joined([*part, first])
            part, room = [], PART_ROWS
        part.append(some)
        room -= some.height
    yield Runs.joined(part)


def tables_of(paths: Iterable[Path]) -> dict[str, list[Path]]:
    """Return the Parquet files among some paths by the table that they hold, its parts in their order.

    >>> [*tables_of([Path("T.00002.parquet"), Path("T.00001.parquet"), Path("U.parquet"), Path("U.csv")]).values()]
    [[PosixPath('T.00001.parquet'), PosixPath('T.00002.parquet')], [PosixPath('U.parquet')]]
    """
    tables: dict[str, list[Path]] = {}
    for path in sorted(paths, key=lambda path: (_table_and_number(path), path)):
        if path.suffix == ".parquet":
            tables.setdefault(_table_and_number(path)[0], []).append(path)
    return tables


def table_of(path: Path) -> str:
    """Return the table that a file holds, or a part of it.

    >>> table_of(Path("T.00002.parquet")), table_of(Path("T.csv"))
    ('T', 'T')
    """
    return _table_and_number(path)[0]


def refuse_gaps(paths: Sequence[Path]) -> None:
    """Refuse files that are not all parts of one table, in their order.

    >>> refuse_gaps([Path("data.00001.parquet"), Path("data.00003.parquet")])
    Traceback (most recent call last):
    sudare.errors.InputError: data.00003.parquet: part 2 of the table 'data' is missing before it. Ask for the folder again.
    """
    table, number = _table_and_number(paths[0])
    if number == 0 and len(paths) > 1:
        raise InputError(
            f"{paths[1]}: this is a part of the table '{table}', which {paths[0].name} beside it has as a whole. Take one of "
            "them out."
        )
    if number == 1 and len(paths) == 1:
        raise InputError(
            f"{paths[0]}: this is one part of the table '{table}', and the others are missing. Name the folder that has all "
            "of them."
        )
    for expected, path in enumerate(paths, start=min(number, 1)):
        if _table_and_number(path) != (table, expected):
            raise InputError(
                f"{path}: part {expected} of the table '{table}' is missing before it. Ask for the folder again."
            )


def refuse_sizes(paths: Sequence[Path], rows: Sequence[int]) -> None:
    """Refuse parts of other sizes than a table is cut into."""
    if len(paths) == 1:
        return
    for path, own in zip(paths, rows, strict=True):
        if own != PART_ROWS and (path != paths[-1] or not 0 < own < PART_ROWS):
            raise InputError(
                f"{path}: this part has {own:,} rows. Every part has {PART_ROWS:,}, and the last one no more. Ask for the "
                "folder again."
            )


def _table_and_number(path: Path) -> tuple[str, int]:
    """Return which table a file holds, and which part of it; 0 for all of it."""
    numbered = _NUMBERED.fullmatch(path.stem)
    return (numbered[1], int(numbered[2])) if numbered else (path.stem, 0)
