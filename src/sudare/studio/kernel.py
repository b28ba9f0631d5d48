"""The process in which a project's work is done: it runs the same Python that the studio shows, and tells how far it is.

It reads orders from its standard input, one JSON object on each line, and answers on its standard output. It ends when its
input does, so that it does not outlive the studio.
"""

from __future__ import annotations

import errno
import json
import os
import queue
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from time import monotonic
from typing import Any

from sudare import progress
from sudare.errors import SudareError
from sudare.studio.project import stamp

EVERY = 0.15  # seconds between two words on how far a step is


class Teller:
    """Writes answers, one line each."""

    def __init__(self, descriptor: int) -> None:
        self._file = os.fdopen(descriptor, "w", encoding="utf-8")
        self._lock = threading.Lock()
        self._numbers = count()

    def tell(self, **answer: Any) -> None:
        """Write an answer."""
        with self._lock:
            self._file.write(json.dumps(answer) + "\n")
            self._file.flush()

    @contextmanager
    def step(self, text: str, total: int, unit: str) -> Iterator[progress.Step]:
        """Tell of a step of work, from its beginning to its end."""
        number = next(self._numbers)
        self.tell(step=number, text=text, total=int(total), unit=unit)
        try:
            yield _Advancing(self, number)
        finally:
            self.tell(ended=number)


class _Advancing:
    def __init__(self, teller: Teller, number: int) -> None:
        self._teller, self._number, self._done, self._told = teller, number, 0, 0.0

    def advance(self, amount: int) -> None:
        """Tell that so much more is done, now and then."""
        self._done += int(amount)
        if monotonic() - self._told > EVERY:
            self._told = monotonic()
            self._teller.tell(at=self._number, done=self._done)


class Kernel:
    """Runs cells of Python. What a cell made is kept until it, or one before it, is another."""

    def __init__(self) -> None:
        self.names: dict[str, Any] = {}
        self._held: dict[str, str] = {}

    def run(self, cells: list[dict[str, str]], tell: Callable[[str], None]) -> None:
        """Run those cells that are not held already, in their order, and tell of each."""
        mark = ""
        for cell in cells:
            mark = stamp(f"{mark}{cell['code']}{cell['rests']}".encode())
            if self._held.get(cell["name"]) == mark:
                continue
            if cell["kind"] == "held":
                raise GoneError
            tell(cell["name"])
            self._held.pop(cell["name"], None)
            exec(compile(cell["code"], f"<{cell['name']}>", "exec"), self.names)
            if cell["kind"] != "once":
                self._held[cell["name"]] = mark


class GoneError(Exception):
    """What was to be worked on is no longer held."""


def explained(error: BaseException) -> dict[str, Any]:
    """Say what went wrong, as the page shows it: by whose fault, and in which words."""
    if isinstance(error, KeyboardInterrupt):
        return {"kind": "stopped", "text": ""}
    if isinstance(error, GoneError):
        return {"kind": "gone", "text": ""}
    if isinstance(error, SudareError):
        return {"kind": "refused", "type": type(error).__name__, "text": str(error)}
    if isinstance(error, MemoryError):
        return {"kind": "memory", "text": str(error)}
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
        return {"kind": "disk", "text": str(error)}
    if isinstance(error, OSError):
        return {"kind": "system", "text": str(error)}
    traceback.print_exception(error)
    return {"kind": "unexpected", "text": f"{type(error).__name__}: {error}"}


def main() -> None:
    """Work until the input ends."""
    os.umask(0o077)
    teller = Teller(os.dup(1))
    os.dup2(2, 1)  # whatever else is printed is no answer
    progress.listen(teller)
    orders: queue.Queue[str] = queue.Queue()
    threading.Thread(target=_listen, args=(orders,), daemon=True).start()
    kernel = Kernel()
    while True:
        try:
            _obey(kernel, json.loads(orders.get()), teller)
        except KeyboardInterrupt:  # too late, or while there was nothing to stop
            continue


def _obey(kernel: Kernel, order: dict[str, Any], teller: Teller) -> None:
    try:
        kernel.run(order["cells"], lambda name: teller.tell(stage=name))
        teller.tell(stage=order["show"])
        found = _showing(order["show"])(kernel.names, **order["options"])
        teller.tell(found=found)
    except BaseException as error:
        teller.tell(error=explained(error))


def _showing(name: str) -> Callable[..., dict[str, Any]]:
    """Return what makes plain data of what cells made."""
    from sudare.studio import pview_summaries, sample_summaries, summaries  # polars takes long to load

    modules = (summaries, sample_summaries, pview_summaries)
    found: Callable[..., dict[str, Any]] = next(
        getattr(module, name) for module in modules if hasattr(module, name)
    )
    return found


def _listen(orders: queue.Queue[str]) -> None:
    for line in sys.stdin:
        orders.put(line)
    os._exit(0)  # the studio has ended; nothing that is half written has its name


if __name__ == "__main__":
    main()
