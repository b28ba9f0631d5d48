"""The report of an assessment, for the holder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from sudare.reports.assessment_pictures import MAX_BARS, added_costs, pictures
from sudare.reports.assessment_tables import (
    BLOCKS,
    LARGEST_BLOCK,
    LEAST_COST,
    REACHED_COST,
    columns_by_k,
    columns_by_l,
    stronger_bounds,
)
from sudare.reports.page import render
from sudare.reports.words import shown_value
from sudare.suitability.assess import Assessment
from sudare.suitability.choices import sentences

MAX_COLUMNS = 8  # attributes of the records that cost most


def write_assessment_report(assessment: Assessment) -> str:
    """Tell the holder what can be promised, what it costs at least, what drives the cost, and what to do.

    >>> import sudare as sd
    >>> table = sd.read(sd.datasets.health_survey(200).select("age", "sex", "diagnosis"), sd.Schema.from_roles(
    ...     quasi=["age", "sex"], sensitive=["diagnosis"]))
    >>> "For the holder of the data only" in write_assessment_report(sd.assess(table, l=2, k=2))
    True
    """
    by_l = columns_by_l(assessment)
    return render(
        "assessment",
        assessment=assessment,
        quasi=assessment.worst.columns[:-1],
        max_bars=MAX_BARS,
        blocks=_text_table({head: by_l[head] for head in ("l", "possible", BLOCKS, *LARGEST_BLOCK.values())}),
        costs_by_l=_text_table({head: by_l[head] for head in ("l", LEAST_COST, REACHED_COST, "ratio")}),
        costs_by_k=_text_table(columns_by_k(assessment)),
        stronger=stronger_bounds(assessment),
        sentences=sentences,
        pictures=pictures(assessment),
        free=int(assessment.weights[assessment.costs == 0].sum()),
        costliest=costliest_records(assessment),
    )


class TextTable(NamedTuple):
    """A table of texts under heads."""

    heads: list[str]
    rows: list[list[str]]


def _text_table(columns: Mapping[str, Sequence[str]]) -> TextTable:
    """Turn columns into rows; a head that a terminal writes in lines is one line here."""
    heads = [head.replace("\n", " ") for head in columns]
    return TextTable(heads, [list(row) for row in zip(*columns.values(), strict=True)])


def costliest_records(assessment: Assessment) -> TextTable:
    """Show the records that cost most, by the attributes that add most if there are many."""
    *quasi, cost = assessment.worst.columns
    costliest = list(added_costs(assessment))[:MAX_COLUMNS]
    shown = quasi if len(quasi) <= MAX_COLUMNS else [name for name in quasi if name in costliest]
    rows = [
        [f"{row[cost]:.4f}", *(shown_value(row[name]) for name in shown)]
        for row in assessment.worst.to_dicts()
    ]
    return TextTable([cost, *shown], rows)
