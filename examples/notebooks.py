"""Write every example as a notebook, without any output: cells are marked by `# %%` in its source."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent


def notebook(source: str) -> dict[str, Any]:
    """Return a notebook of an example."""
    cells: list[dict[str, Any]] = []
    for kind, text in re.findall(r"^# %%( \[markdown\])?\n(.*?)(?=^# %%|\Z)", source, re.M | re.S):
        lines = text.strip("\n").splitlines(keepends=True)
        if kind:
            lines = [line.removeprefix("#").removeprefix(" ") for line in lines]
            cells.append({"cell_type": "markdown", "metadata": {}, "source": lines})
        else:
            cells.append(
                {"cell_type": "code", "metadata": {}, "source": lines, "outputs": [], "execution_count": None}
            )
    for number, cell in enumerate(cells):
        cell["id"] = f"cell-{number}"
    language = {
        "language_info": {"name": "python"},
        "kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"},
    }
    return {"nbformat": 4, "nbformat_minor": 5, "metadata": language, "cells": cells}


def examples() -> list[Path]:
    """Return all examples."""
    return sorted(file for file in HERE.glob("*.py") if file.name != Path(__file__).name)


def written(example: Path) -> str:
    """Return the file of an example's notebook."""
    return json.dumps(notebook(example.read_text(encoding="utf-8")), indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    folder = HERE / "notebooks"
    folder.mkdir(exist_ok=True)
    for example in examples():
        (folder / f"{example.stem}.ipynb").write_text(written(example), encoding="utf-8")
