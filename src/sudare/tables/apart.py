"""Readers that are written in C or Rust, in a process of their own: a file that breaks them breaks nothing else.

A damaged .sav file makes the reader of SPSS files write where it must not, and a workbook with one cell in its last corner
asks for half a terabyte. No exception tells either. So such a reader runs apart, with only as much memory as the file can
need; what it read comes back as an Arrow table, and if it breaks off, that is an error like any other.
"""

from __future__ import annotations

import importlib
import io
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl

from sudare.errors import InputError

MEMORY_FLOOR, MEMORY_PER_BYTE = 4 * 2**30, 64
"""Bytes of memory for a reader: so many, or so many for each byte of its file."""
START = (
    "import sys, json; sys.path[:] = json.loads(sys.argv[1]); from sudare.tables.apart import main; main()"
)
ONE_THREAD = {
    "POLARS_MAX_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
}  # each takes room

Read = Callable[..., tuple[pl.DataFrame, dict[str, Any]]]
"""Reads a file, with options that JSON can write; returns its table, and what else is to be known of it, also plain."""


def read_apart(read: Read, path: Path, **options: Any) -> tuple[pl.DataFrame, dict[str, Any]]:
    """Let a function of a module read a file in another process."""
    most = max(MEMORY_FLOOR, MEMORY_PER_BYTE * path.stat().st_size)
    asked = {
        "module": read.__module__,
        "name": read.__name__,
        "path": str(path),
        "options": options,
        "most": most,
    }
    done = subprocess.run(
        [sys.executable, "-P", "-c", START, json.dumps(sys.path)],
        input=json.dumps(asked).encode(),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=os.environ | ONE_THREAD,
        check=False,
    )
    head, _, table = done.stdout.partition(b"\n")
    if done.returncode != 0 or not head:
        raise InputError(
            f"{path}: the file cannot be read: it is damaged, or made to harm: its reader broke off over it. Ask for it again, or "
            "export it as .csv."
        )
    answer = json.loads(head)
    if "refused" in answer:
        raise InputError(answer["refused"])
    return pl.read_ipc(io.BytesIO(table)), answer


def main() -> None:
    """Read what is asked for on the standard input, and write it to the standard output."""
    asked = json.load(sys.stdin)
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints is no answer
    _limit_memory(asked["most"])
    table = io.BytesIO()
    try:
        read: Read = getattr(importlib.import_module(asked["module"]), asked["name"])
        frame, answer = read(Path(asked["path"]), **asked["options"])
        frame.write_ipc(table)
    except InputError as error:
        answer = {"refused": str(error)}
    except MemoryError:
        answer = {
            "refused": f"{asked['path']}: the file cannot be read: its reader asks for more than {asked['most'] / 10**9:.1f} GB of "
            "memory. Export it as .csv or .parquet."
        }
    out.write(json.dumps(answer).encode() + b"\n")
    out.write(table.getbuffer())
    out.close()


def _limit_memory(most: int) -> None:
    try:
        import resource
    except ImportError:  # Windows has none
        return
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # a core file would have people in it
