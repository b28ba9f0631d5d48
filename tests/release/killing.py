"""Work in children: in one that kills itself at a chosen step, or in several at once.

The first is for tests that a run killed at any step does no harm. A step is a line of one of the given modules, or the way into or out of a function that can reach the disk,
wherever it is called from. One process forks a child for step 1, 2, 3, ... until a child comes to its end.
Such a process should be a light one, for a fork copies only one of its threads: start it with `forker`.
"""

from __future__ import annotations

import itertools
import os
import signal
import subprocess
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType, ModuleType
from typing import IO, Any

_LONGEST_RUN = 120  # seconds; a child that hangs is ended by the system, and then the test fails

# Libraries that would start threads as they are imported are told not to; whatever else waits for a signal
# there (such as polars' cleaner) holds no lock.
_FEW_THREADS = {
    "OPENBLAS_NUM_THREADS": "1",
    "POLARS_MAX_THREADS": "1",
    "_RJEM_MALLOC_CONF": "background_thread:false",
}


@contextmanager
def forker(module: str, *arguments: str) -> Iterator[IO[str]]:
    """Run a test module as a program of its own, which must come to a good end; gives its output."""
    command = [sys.executable, "-W", "ignore::DeprecationWarning", "-m", module, *arguments]
    environment, root = os.environ | _FEW_THREADS, Path(__file__).parents[2]
    with subprocess.Popen(command, cwd=root, env=environment, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process.stdout
        except BaseException:
            process.kill()
            raise
    assert process.returncode == 0


def survives(work: Callable[[], object]) -> bool:
    """Do the work in a child. False if it was killed on the way."""
    code = _exit_code(_start(work))
    assert code in (0, -signal.SIGKILL), f"the child failed by itself: exit code {code}"
    return code == 0


def at_once(works: Iterable[Callable[[], object]]) -> None:
    """Do each work in a child of its own, all at the same time; each must come to a good end."""
    children = [_start(work) for work in works]
    codes = [_exit_code(child) for child in children]
    assert not any(codes), f"exit codes {codes}"


def _start(work: Callable[[], object]) -> int:
    child = os.fork()
    if child == 0:
        try:
            signal.alarm(_LONGEST_RUN)
            work()
            os._exit(0)
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(1)
    return child


def _exit_code(child: int) -> int:
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def die_at(step: int, *modules: ModuleType) -> None:
    """Kill this process at the given step, counted from here on."""

    def die(now: int, at_disk: bool) -> None:
        if now == step:
            os.kill(os.getpid(), signal.SIGKILL)

    at_each_step(die, *modules)


def at_each_step(act: Callable[[int, bool], object], *modules: ModuleType) -> None:
    """At each step from here on, act on its number and on whether a given module itself calls for the disk."""
    steps = itertools.count(1)
    files = {module.__file__ for module in modules}

    def at_line(frame: FrameType, event: str, arg: object) -> Any:
        if frame.f_code.co_filename not in files:
            return None
        act(next(steps), False)
        return at_line

    def at_call(frame: FrameType, event: str, arg: object) -> None:
        if event.startswith("c_") and _reaches_the_disk(arg) and not _imports(frame):
            act(next(steps), frame.f_code.co_filename in files)

    sys.settrace(at_line)
    sys.setprofile(at_call)


def _reaches_the_disk(function: object) -> bool:
    modules = {getattr(function, "__module__", None), type(getattr(function, "__self__", None)).__module__}
    return not modules.isdisjoint({"posix", "io", "_io", "sqlite3"})


def _imports(frame: FrameType) -> bool:
    return frame.f_code.co_filename.startswith("<frozen importlib")
