"""What a wheel brings along beside the source: kernels that were compiled where it is built, if they were (`make wheel`).

They serve the same Python, Numba and kind of processor; elsewhere kernels are compiled when they are first needed.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class CompiledKernels(BuildHookInterface):  # type: ignore[misc]
    """Add Numba's files, which stand in folders that Hatchling leaves out."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Name each file and its place in the wheel; an editable installation has them already."""
        if version == "editable":
            return
        source = Path(self.root, "src")
        for file in source.rglob("*.nb[ic]"):
            build_data["force_include"][str(file)] = str(file.relative_to(source))
