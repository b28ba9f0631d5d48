"""All figures: the regions of Figs 1 and 2, and the histograms, before and after."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

import sudare as sd
from papers.optimal_pram.data import Case
from papers.optimal_pram.measure import Row
from papers.optimal_pram.regions import figure_1, figure_2
from papers.page import Panel, panels
from sudare.reports.charts import AFTER, AMBER, BEFORE

TOP = 900.0
"""All figures have the same height, as in the paper: Case 3's largest count is 898."""
ENDS = {1: ("1", "74"), 2: ("1", "74"), 3: ("17", "90 years")}


def figures(cases: Sequence[Case], rows: Sequence[Row]) -> dict[str, str]:
    """Return the pictures, by the name of the file."""
    before = {
        f"figure-{case.number + 2}.svg": panels(
            [[Panel(f"Case {case.number}: {case.words}", case.v, BEFORE)]], top=TOP, ends=ENDS[case.number]
        )
        for case in cases
    }
    row_at = {(row.case, row.k): row for row in rows}
    once = [
        [
            Panel("original", cases[0].v, BEFORE),
            Panel(f"conventional, k = {k}", row_at[1, k].one[0], AMBER),
            Panel(f"optimal, k = {k}", row_at[1, k].one[1], AFTER),
        ]
        for k in sorted(k for case, k in row_at if case == 1)
    ]
    least = min(k for case, k in row_at if case == 3)
    mean = [
        [
            Panel("original", cases[2].v, BEFORE),
            Panel(f"conventional, k = {least}", row_at[3, least].mean[0], AMBER),
            Panel(f"optimal, k = {least}", row_at[3, least].mean[1], AFTER),
        ]
    ]
    flat = np.sort(cases[0].v)[::-1]
    zero = sd.pram.optimal_pram(flat, k=least)
    two = {
        "figure-1.svg": figure_1(),
        "figure-2.svg": figure_2(
            flat, sd.PkAnonymity(least).epsilon(cases[0].records), float(zero.leave[-1])
        ),
    }
    return (
        two
        | before
        | {
            "figure-6.svg": panels(once, top=TOP, ends=ENDS[1]),
            "figure-7.svg": panels(mean, top=TOP, ends=ENDS[3]),
        }
    )
