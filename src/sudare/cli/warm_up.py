"""`sudare warm-up`: compile everything now, so that no later command waits for it."""

from __future__ import annotations

from sudare.cli.output import say, working
from sudare.warm_up import WALKS, walk_all


def warm_up() -> None:
    """Compile everything now, on all cores, so that no later command waits for it: once after installing."""
    with working("Compiling"):
        for done, name in enumerate(walk_all(), start=1):
            say("{} of {}: {}", done, len(WALKS), name)
