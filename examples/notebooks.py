"""Write every example as a notebook, without any output: cells are marked by `# %%` in its source."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sudare.studio.notebook import Kind
from sudare.studio.notebook import notebook as made_notebook

HERE = Path(__file__).parent


def notebook(source: str) -> dict[str, Any]:
    """Return a notebook of an example."""
    return made_notebook(_cells(source))


def _cells(source: str) -> Iterator[tuple[Kind, str]]:
    for words, text in re.findall(r"^# %%( \[markdown\])?\n(.*?)(?=^# %%|\Z)", source, re.M | re.S):
        lines = text.strip("\n").splitlines()
        if words:
            yield "markdown", "\n".join(line.removeprefix("#").removeprefix(" ") for line in lines)
        else:
            yield "code", "\n".join(lines)


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
