"""A child process that makes and reads one input after another, within limits, and tells how each ended."""

from __future__ import annotations

import json
import os
import resource
import sys
import tempfile
import time
import traceback
import warnings
from pathlib import Path

from benchmarks.fuzz.readers import READERS, make
from sudare.errors import SudareError

GIGABYTE = 2**30


def main() -> None:
    """Answer lines of a reader's name and a number."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    warnings.simplefilter("ignore")
    folder = Path(tempfile.mkdtemp(dir=sys.argv[1]))
    limited: set[str] = set()
    for line in sys.stdin:
        reader, number = json.loads(line)
        if reader not in limited:  # what is compiled and cached for the first time is not the input's fault
            _warm_up(reader, folder)
            limited.add(reader)
            _limit_memory()
        print(json.dumps(run(reader, number, folder)), file=answers, flush=True)


def _warm_up(reader: str, folder: Path) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    for number in range(3):
        run(reader, -1 - number, folder)


def _limit_memory() -> None:
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    most = pages * resource.getpagesize() + GIGABYTE
    resource.setrlimit(resource.RLIMIT_AS, (most, resource.RLIM_INFINITY))


def run(reader: str, number: int, folder: Path) -> dict[str, object]:
    """Make an input from a number and read it."""
    make(reader, number, folder)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.perf_counter()
    error = ""
    try:
        READERS[reader].read(folder)
        outcome = "read"
    except SudareError:
        outcome = "refused"
    except BaseException as wrong:
        outcome, error = type(wrong).__name__, "".join(traceback.format_exception(wrong))[-3000:]
    seconds = time.perf_counter() - start
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    return {"outcome": outcome, "error": error, "seconds": seconds, "kilobytes": grown}


if __name__ == "__main__":
    main()
