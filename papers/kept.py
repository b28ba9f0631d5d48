"""What long measurements found, kept in a folder: one that was stopped goes on where it was."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple


class Kept(NamedTuple):
    """A folder of found things, as JSON; without one, nothing is kept."""

    folder: Path | None = None

    def once(self, name: str, find: Callable[[], Any]) -> Any:
        """Return what was found under this name before, or else find it now, as JSON has it.

        >>> Kept().once("a sum", lambda: (1, 2))
        [1, 2]
        """
        if self.folder is None:
            return json.loads(json.dumps(find()))
        file = self.folder / f"{name.replace('/', ' ')}.json"
        if not file.exists():
            found = json.dumps(find())
            self.folder.mkdir(parents=True, exist_ok=True)
            whole = file.with_suffix(".part")
            whole.write_text(found)
            whole.replace(file)
        return json.loads(file.read_text())


NOTHING = Kept()
"""Nothing is kept."""
