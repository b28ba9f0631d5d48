"""Writing Jupyter notebooks: cells without any output."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

Kind = Literal["markdown", "code"]


def notebook(cells: Iterable[tuple[Kind, str]]) -> dict[str, Any]:
    """Return a notebook of some cells, as JSON has it.

    >>> [cell["source"] for cell in notebook([("markdown", "# Read"), ("code", "import sudare as sd")])["cells"]]
    ['# Read', 'import sudare as sd']
    """
    python = {
        "kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"},
        "language_info": {"name": "python"},
    }
    made = [_cell(place, kind, source) for place, (kind, source) in enumerate(cells)]
    return {"cells": made, "metadata": python, "nbformat": 4, "nbformat_minor": 5}


def _cell(place: int, kind: Kind, source: str) -> dict[str, Any]:
    runs: dict[str, Any] = {"execution_count": None, "outputs": []} if kind == "code" else {}
    return {"id": f"cell-{place}", "cell_type": kind, "metadata": {}, "source": source, **runs}
