"""The pictures of an assessment, for its page and as files."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np
from markupsafe import Markup

from sudare.errors import InputError
from sudare.reports import charts
from sudare.suitability.assess import Assessment

MAX_BARS = 12  # that a person can take in
COST_STEP = 0.05  # by which records are told apart


class Picture(NamedTuple):
    """A picture for a page, and the title it needs when it stands alone."""

    title: str
    svg: Markup


def pictures(assessment: Assessment) -> dict[str, Picture]:
    """Return the pictures by name; those of what drives the cost only where some l is feasible."""
    drawn = {"bounds": _bounds(assessment), "values": _values(assessment)}
    if assessment.without:
        drawn["attributes"] = _attributes(assessment)
    if assessment.largest is not None:
        drawn["records"] = _records(assessment)
    return drawn


def write_pictures(assessment: Assessment, folder: Path) -> list[Path]:
    """Write each picture as SVG and as PNG, and return the files. Files with these names are replaced."""
    render = charts.png_renderer()
    files: dict[Path, bytes] = {}
    for name, picture in pictures(assessment).items():
        alone = charts.standalone(picture.svg, picture.title)
        files |= {folder / f"{name}.svg": alone.encode(), folder / f"{name}.png": render(alone)}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for file, data in files.items():
            file.write_bytes(data)
    except OSError as error:
        raise InputError(f"Cannot write the pictures into {folder}: {error.strerror}.") from error
    return list(files)


def added_costs(assessment: Assessment) -> dict[str, float]:
    """Return by how much the least cost falls without each attribute, the most first."""
    bound = None if assessment.largest is None else assessment.bound_l[assessment.largest]
    if bound is None:
        return {}
    falls = {name: bound - other for name, other in assessment.without.items()}
    return dict(sorted(falls.items(), key=lambda fall: -fall[1]))


def _bounds(assessment: Assessment) -> Picture:
    reached = {l: value for l, value in assessment.reached_k.items() if value is not None}
    by_l = {l: bound.value for l, bound in assessment.best_l.items()}
    by_k: dict[float, float] = {k: bound.value for k, bound in assessment.best_k.items()}
    as_large = "k-anonymity with blocks as large as that l needs, reached"
    series = [
        charts.Line(f"{assessment.diversity} l-diversity, at least", by_l),
        charts.Line(as_large, reached, charts.AMBER, "5 3"),
        charts.Line("k-anonymity, at least", by_k, charts.BEFORE),
    ]
    drawn = charts.lines([line for line in series if line.points], "l or k")
    return Picture("Distortion: what it costs at least", drawn)


def _values(assessment: Assessment) -> Picture:
    frequent = list(assessment.values.items())[:MAX_BARS]
    shares = [count / assessment.records for _, count in frequent]
    marks = {f"1/{l:g}": 1 / l for l in assessment.feasible}
    top = min(1.0, 1.1 * max(*shares, *marks.values()))
    drawn = charts.share_bars([value for value, _ in frequent], shares, top=top, marks=marks)
    return Picture(f"How frequent the values of {assessment.attribute} are", drawn)


def _attributes(assessment: Assessment) -> Picture:
    added = dict(list(added_costs(assessment).items())[:MAX_BARS])
    drawn = charts.horizontal_bars(
        list(added),
        list(added.values()),
        [f"{cost:+.4f}" for cost in added.values()],
        colours=[charts.AFTER if cost > 0 else charts.BEFORE for cost in added.values()],
        top=max(0.0, *added.values()),
    )
    return Picture(f"What each quasi attribute adds, for l = {assessment.largest:g}", drawn)


def _records(assessment: Assessment) -> Picture:
    steps = np.ceil(assessment.costs / COST_STEP - 1e-9).astype(np.int64)
    counts = np.bincount(steps, assessment.weights).astype(np.int64)
    labels = ["0", *(f"to {i * COST_STEP:.2f}" for i in range(1, len(counts)))]
    drawn = charts.vertical_bars(labels, counts.tolist())
    return Picture(f"What the records cost at least, for l = {assessment.largest:g}", drawn)
