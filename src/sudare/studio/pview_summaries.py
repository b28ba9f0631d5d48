"""What the pages show of a p-view: what it can be asked, and what it answers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl

from sudare.pview.pview import PView
from sudare.reports.words import MISSING, shown_value
from sudare.studio.project import touched
from sudare.studio.summaries import Names

MAX_ANSWERS = 10_000
MAX_LABELS = 500  # of an attribute that can be ticked


def asked(names: Names) -> dict[str, Any]:
    """Return the answers of a p-view."""
    answers: pl.DataFrame = names["answers"]
    return {
        "columns": answers.columns,
        "rows": [[_cell(value) for value in row] for row in answers.head(MAX_ANSWERS).rows()],
        "height": answers.height,
    }


def _cell(value: Any) -> Any:
    return value if isinstance(value, int | float) and not isinstance(value, bool) else shown_value(value)


def drawn(names: Names, path: str) -> dict[str, Any]:
    """Write synthetic rows as CSV."""
    names["rows"].write_csv(touched(Path(path)))
    return {"rows": names["rows"].height}


def domain(names: Names) -> dict[str, Any]:
    """Return the attributes of a p-view, and what they can be asked for."""
    view: PView = names["view"]
    return {
        "total": view.total,
        "promised": [str(one) for one in view.certificate.requirements],
        "axes": [
            {
                "name": axis.name,
                "ordered": axis.ordered,
                "text": axis.dtype == pl.String,
                "labels": axis.labels()[:MAX_LABELS],
                "missing": MISSING if axis.missing else None,
            }
            for axis in view.domain.axes
        ],
    }
