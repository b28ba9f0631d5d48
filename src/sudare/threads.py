"""All cores at work: compiled functions that let go of Python's lock run in threads."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from numba import config

Part = TypeVar("Part")
Found = TypeVar("Found")

CORES: int = config.NUMBA_NUM_THREADS  # type: ignore[attr-defined]
MIN_SHARED = 100_000  # steps of work: fewer are not worth a thread


def use(cores: int) -> None:
    """Use so many cores from now on, where others use the rest."""
    global CORES
    CORES = cores


def in_threads(work: Callable[[Part], Found], parts: Sequence[Part], steps: int = MIN_SHARED) -> list[Found]:
    """Do the work for every part, on as many cores as there are, and return what it returns in the parts' order.

    `steps` says how much work it is: a little is done here, part after part.

    >>> in_threads(lambda piece: sum(range(10)[piece]), pieces(10, 4))
    [6, 22, 17]
    """
    workers = min(CORES, len(parts)) if steps >= MIN_SHARED else 1
    if workers <= 1:
        return [work(part) for part in parts]
    with ThreadPoolExecutor(workers) as threads:
        return list(threads.map(work, parts))


def pieces(size: int, length: int) -> list[slice]:
    """Cut so many things into pieces of a length; the last may be shorter."""
    return [slice(low, min(low + length, size)) for low in range(0, size, length)]
