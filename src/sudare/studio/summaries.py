"""What the pages show of what a step made: plain data, and pages of reports as files of the project's own folder."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import polars as pl

from sudare.plans.generalization import GeneralizationPlan
from sudare.privacy.column_sets import ColumnSets
from sudare.privacy.telling import telling_columns
from sudare.privacy.uniqueness import joining_columns, warnings_about
from sudare.pview.pview import PView
from sudare.reports.assessment import write_assessment_report
from sudare.reports.generalization import block_sizes
from sudare.reports.pview import write_pview_report
from sudare.reports.pview_page import write_pview_page
from sudare.reports.words import shown_value
from sudare.studio.contingency import contingency
from sudare.studio.levels import write_values
from sudare.studio.preview import fixed, sample_of
from sudare.studio.project import (
    ANALYSTS,
    ASSESSMENT,
    REPORT,
    SAMPLE,
    SCHEMA,
    write_private,
    written_whole,
)
from sudare.tables.attribute import Role
from sudare.tables.folders import CERTIFICATE, HAND_OVER, KEEP
from sudare.tables.runs import PublishedRows
from sudare.tables.table import Table
from sudare.tables.text import text_of
from sudare.tables.undeclared import MAX_LISTED, type_of
from sudare.verification.findings import Verification

MAX_SHOWN = 12  # values of a column that a page shows
MAX_TUPLES = 300_000  # that are counted anew without each column
MAX_SETS = 12  # of columns, of each size, that a page shows
MAX_ROWS = 8  # rows of what is published
SEED = 20090526  # of the sample: which rows it has does not matter, only that they stay the same

Names = Mapping[str, Any]


def opened(names: Names, folder: str) -> dict[str, Any]:
    """Write the draft into the project's folder."""
    drafted = names["drafted"]
    for name, text in drafted.files.items():
        path = Path(folder) / name
        path.parent.mkdir(mode=0o700, exist_ok=True)
        write_private(path, text)
    write_private(Path(folder) / SCHEMA, drafted.text)
    return {"reasons": drafted.reasons}


def read(names: Names, folder: str) -> dict[str, Any]:
    """Describe the table and its columns, say who stands out, and put a sample aside for previews."""
    table: Table = names["table"]
    write_sample(table, Path(folder))
    write_values(table, Path(folder))
    quasi = table.names(Role.quasi)
    found: dict[str, Any] = {
        "rows": len(table),
        "source": table.name,
        "notes": list(table.source.notes),
        "warnings": [
            *warnings_about(table, table.names(Role.sensitive)),
            *joining_columns(table, list(table.columns)),
            *telling_columns(table, list(table.columns)),
        ],
        "columns": {name: described(table, name) for name in table.columns},
        "risk": None,
    }
    if quasi:
        pieces = pl.concat([pl.Series(piece.weights) for piece in table.rows.pieces(quasi, quasi)])
        weights = pieces.to_numpy()
        sizes = block_sizes(weights)
        found["risk"] = names["risk"].summary() | {"alone": sizes.alone, "by_size": sizes.by_size}
        found["tells"] = told_apart(table, quasi, sizes.alone) if len(weights) <= MAX_TUPLES else []
    return found


def told_apart(table: Table, quasi: list[str], alone: int) -> list[dict[str, Any]]:
    """Say of each quasi column how many are alone by it, and by the others without it; what tells most apart first."""
    counts, found = table.counts(quasi), []
    for name in quasi:
        others = [other for other in quasi if other != name]
        without = int((counts.select(others).weights == 1).sum()) if others else 0
        own = int((counts.select([name]).weights == 1).sum())
        found.append({"name": name, "own": own, "without": without, "adds": alone - without})
    return sorted(found, key=lambda one: (-one["adds"], -one["own"]))


def told_apart_by(names: Names) -> dict[str, Any]:
    """Return the sets of columns by which most are alone, of each size."""
    found: ColumnSets = names["sets"]
    return {
        "sets": [asdict(one) for one in found.of_size(MAX_SETS)],
        "all": len(found.sets),
        "limit": found.limit,
        "exhausted": found.exhausted,
        "rows": len(names["table"]),
    }


def drawn_people(names: Names) -> dict[str, Any]:
    """Return where the schema of those who were drawn is, and which share they are."""
    return {"schema": str(names["beside"]), "sampling_fraction": names["drawn"].schema.sampling_fraction}


def among(names: Names) -> dict[str, Any]:
    """Return how likely people are found by who does not know whether they are in the table."""
    sampled, mapped = names["sampled"], names["mapped"]
    return {
        "sampled": None if sampled is None else sampled.summary(),
        "mapped": None if mapped is None else mapped.summary(),
    }


def described(table: Table, name: str) -> dict[str, Any]:
    """Describe a column: its type, its values, and its hierarchy's levels."""
    column, counts = table[name], table.counts([name])
    values = column.values
    held = counts.codes[:, 0] == len(values)
    several = type_of(values.dtype) != "text"
    frequent = (-counts.weights).argsort(kind="stable")[:MAX_SHOWN]
    return {
        "type": type_of(values.dtype),
        "distinct": len(values),
        "missing": int(counts.weights[held].sum()),
        "low": text_of(values.min()) if several and len(values) else None,
        "high": text_of(values.max()) if several and len(values) else None,
        "domain": [text_of(value) for value in values.to_list()] if len(values) <= MAX_LISTED else None,
        "frequent": [
            [_value(values, int(counts.codes[row, 0])), int(counts.weights[row])] for row in frequent
        ],
        "levels": None if column.hierarchy is None else column.hierarchy.height,
    }


def _value(values: pl.Series, code: int) -> str:
    return shown_value(None if code == len(values) else values[code])


def write_sample(table: Table, folder: Path) -> None:
    """Put a sample aside, with the hierarchies that the whole table has."""
    sample = sample_of(table, SEED)
    with written_whole(folder / SAMPLE) as path:
        sample.write_parquet(path)
    write_private(folder / f"{SAMPLE}.toml", fixed(table, sample.columns).to_toml())


def assessed(names: Names, folder: str) -> dict[str, Any]:
    """Write the report of an assessment, and return what it says."""
    assessment = names["assessment"]
    write_private(Path(folder) / ASSESSMENT, write_assessment_report(assessment))
    choices = {
        f"{l:g}": [{"action": one.action, "text": one.text, "bound": one.bound} for one in offered]
        for l, offered in assessment.choices.items()
    }
    return {
        "attribute": assessment.attribute,
        "choices": choices,
        "bound_k": {str(k): bound for k, bound in assessment.bound_k.items()},
        "bound_l": {f"{l:g}": bound for l, bound in assessment.bound_l.items()},
        "warnings": assessment.warnings,
    }


def released(names: Names, folder: str) -> dict[str, Any]:
    """Write the report of what was made, and return what it promises and what attacks reach."""
    release = names["release"]
    if isinstance(release, PView):
        return _pview_released(release, names["table"], Path(folder))
    write_private(Path(folder) / REPORT, release.report)
    certificate, frames = release.certificate, release.handed_over.frames
    is_table = isinstance(release.plan, GeneralizationPlan)
    return {
        "requirements": [str(one) for one in certificate.requirements],
        "measured": certificate.measured,
        "caveats": list(certificate.caveats),
        "method": certificate.method,
        "rows": {name: frame.height for name, frame in frames.items()},
        "views": [
            {
                "name": name,
                "columns": frame.columns,
                "rows": some_rows(frame),
            }
            for name, frame in frames.items()
        ],
        "findings": findings(release.verification),
        "distortion": release.holder.get("utility", {}).get("distortion"),
        "bound": release.holder.get("bound"),
        "before": reached(names["before"]) if is_table else {},
        "after": reached(names["after"]) if is_table else {},
        "told": {kind: str(one) for kind, one in names["after"].items()} if is_table else {},
    }


def some_rows(published: PublishedRows) -> list[list[str]]:
    """Return a few different rows of what is published: of very many, from among the first."""
    first = next(published.parts()).rows
    some = first.gather_every(max(1, first.height // MAX_ROWS)).head(MAX_ROWS)
    return [[shown_value(value) for value in row] for row in some.rows()]


def _pview_released(pview: PView, table: Table, folder: Path) -> dict[str, Any]:
    write_private(folder / REPORT, write_pview_report(table, pview))
    write_private(folder / ANALYSTS, write_pview_page(pview))
    certificate = pview.certificate
    return {
        "requirements": [str(one) for one in certificate.requirements],
        "measured": certificate.measured,
        "caveats": list(certificate.caveats),
        "method": certificate.method,
        "rows": {},
        "views": [],
        "findings": [],
        "distortion": None,
        "bound": None,
        "before": {},
        "after": {},
        "told": {},
    }


def reached(results: Mapping[str, Any]) -> dict[str, dict[str, float]]:
    """Return what attacks reach: for each figure that pages compare, by the attribute that it is about, a share."""
    found: dict[str, dict[str, float]] = {}
    if risk := results.get("reidentification"):
        found["largest"], found["marketer"] = {"": risk.prosecutor.largest}, {"": risk.marketer}
        found["at_risk"] = {"": risk.prosecutor.share_at_risk}
    if known := results.get("homogeneity"):
        found["homogeneity"] = {name: own["share"] for name, own in known.summary().items()}
    if known := results.get("background"):
        found["background"] = {name: own["share"] for name, own in known.summary()["by_attribute"].items()}
    return found


def counted_together(names: Names) -> dict[str, Any]:
    """Return how many people have which values of two columns, before and after."""
    table: Table = names["table"]
    counts, after, pair = names["together_before"], names["together_after"], names["pair"]
    values = [table[name].decode(counts.codes[:, place]) for place, name in enumerate(pair)]
    return {
        "columns": list(pair),
        "before": contingency(zip(*values, counts.weights, strict=True)),
        "after": contingency(zip(*after.rows.iter_columns(), after.lengths, strict=True)),
    }


def findings(verification: Verification) -> list[dict[str, Any]]:
    """Return what was recounted."""
    return [
        {"requirement": one.requirement, "value": one.value, "holds": one.holds, "where": one.where}
        for one in verification.findings
    ]


def written(names: Names, folder: str) -> dict[str, Any]:
    """Return what lies in the folders, and what the files were found to hold."""
    target = Path(folder)
    parts = {
        part: [
            {"name": file.name, "bytes": file.stat().st_size} for file in sorted((target / part).iterdir())
        ]
        for part in (HAND_OVER, KEEP)
    }
    verification = names["verification"]
    certificate = (target / HAND_OVER / CERTIFICATE).read_text("utf-8")
    found = {
        "folder": folder,
        "parts": parts,
        "findings": findings(verification),
        "holds": verification.holds,
    }
    return found | {"certificate": certificate}


def nothing(names: Names) -> dict[str, Any]:
    """Return nothing: that it ran is all that is asked."""
    return {}
