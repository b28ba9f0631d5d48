"""A second process compiles what a run needs last, while the run compiles what it needs first.

Each takes what the other has made (`compiled.py`), so that nothing depends on the second one: where there is one core, or where it
cannot be started or ends early, the run compiles everything by itself.
"""

from __future__ import annotations

import subprocess
import sys
from functools import cache
from pathlib import Path
from threading import Thread
from typing import Any

from sudare import threads
from sudare.compiled import Kernel

WALK = "import sys; from sudare.warm_up import walk_ahead; walk_ahead(sys.argv[1])"


def compile_ahead(walk: str, last: Any) -> None:
    """Let another process take a walk of `warm_up`, unless what the run needs last is compiled."""
    if threads.CORES > 1 and isinstance(last, Kernel) and not last.is_ready():
        _begin(walk)


@cache  # once: if it could not be started, or ended early, it would again
def _begin(walk: str) -> None:
    if not Path(sys.executable or "").name.startswith("python"):  # a program that brings Python along
        return
    try:
        process = subprocess.Popen(
            [sys.executable, "-P", "-c", WALK, walk],
            stdin=subprocess.PIPE,  # held open by this process alone: when it ends, so does the other one
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        Thread(target=_attend, args=(process,), daemon=True).start()
    except (OSError, RuntimeError):
        return


def _attend(process: subprocess.Popen[bytes]) -> None:
    """Wait for the other process, and let go of what ends it once there is nothing to end."""
    process.wait()
    if process.stdin is not None:
        process.stdin.close()
