"""How often a test tries: the fixture `tries` gives a loop its seeds."""

from __future__ import annotations

from collections.abc import Callable

Tries = Callable[[int], range]
