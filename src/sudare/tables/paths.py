"""The rows of a hierarchy: each is the path from a value over its parents to the root; and what is wrong with some."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from sudare.errors import InputError
from sudare.tables.text import shown

ROOT = "*"
MAX_LEVELS = 1_000
"""Of a hierarchy, the values and the root included."""
MAX_VALUES = 10**7
"""Of a hierarchy."""
Row = tuple[str, ...]


def check_paths(paths: list[Row], lines: Sequence[str]) -> None:
    """Refuse what is not a tree of equal depth with one root; every message names value and line."""
    if not paths:
        raise InputError(
            "Hierarchy: it has no values. Give one row per value: the value, its parent, ..., the root."
        )
    depth = len(paths[0])
    if depth > MAX_LEVELS or len(paths) > MAX_VALUES:
        raise InputError(
            f"Hierarchy: {len(paths):,} values with {depth:,} levels are too many. It may have {MAX_VALUES:,} values and "
            f"{MAX_LEVELS:,} levels."
        )
    parent: dict[tuple[int, str], tuple[str, str]] = {}
    for path, line in zip(paths, lines, strict=True):
        if len(path) == 0:
            raise InputError(f"Hierarchy: {line} is empty. Give the value, its parent, ..., the root.")
        if len(path) != depth:
            raise InputError(
                f"Hierarchy: {shown(path[0])} ({line}) has {len(path)} levels, {shown(paths[0][0])} ({lines[0]}) "
                f"has {depth}. Give every value the same depth; repeat a value where it does not change."
            )
        if depth < 2:
            raise InputError(
                f"Hierarchy: {shown(path[0])} ({line}) has no level above it. Add a root, such as '{ROOT}', as the last level."
            )
        if path[-1] != paths[0][-1]:
            raise InputError(
                f"Hierarchy: {shown(path[0])} ({line}) ends in {shown(path[-1])}, {shown(paths[0][0])} ({lines[0]}) in "
                f"{shown(paths[0][-1])}. There must be one root: add '{ROOT}' as the last level of every value."
            )
        for level in range(depth - 1):
            own, above = path[level], path[level + 1]
            first, where = parent.setdefault((level, own), (above, line))
            if first != above:
                raise InputError(
                    f"Hierarchy: {shown(own)} at level {level} has two parents: {shown(first)} ({where}) and "
                    f"{shown(above)} ({line}). Give it one."
                )
        if (cyclic := _above_itself(path)) is not None:
            raise InputError(
                f"Hierarchy: {shown(cyclic)} ({line}) stands above itself: {shown_path(path)}. Remove the cycle."
            )


def shown_path(path: Row) -> str:
    """Write a path for an error message; a long one is cut."""
    return " > ".join(label[:60] for label in path[:12])


def _above_itself(path: Row) -> str | None:
    """Return a label of a path that comes again after another one; None if there is none."""
    last = {label: level for level, label in enumerate(path)}
    steps = enumerate(pairwise(path))
    return next((own for level, (own, above) in steps if own != above and last[own] > level), None)
