"""What the paper prints: Fig. 3, as its text reads it (there are no tables), and its example."""

from __future__ import annotations

from typing import NamedTuple

import polars as pl

LS = range(2, 9)
ROWS, DRAWS = 200, 30

RAW = "the views as they are"
OURS = "simultaneous (ours)"
PAPERS = "simultaneous, the paper's score"
ALL = "all-attributes"
TIGHT = "all-attributes, tight labels"
FIRST = "sequential, T1 first"
SECOND = "sequential, T2 first"
STOP = ", stops"
"""Says that Mondrian is read so that a block is left alone at its first refused cut."""


class Printed(NamedTuple):
    """The DM of a view, from and to; one number where the text has one."""

    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.low:,.0f}" if self.low == self.high else f"{self.low:,.0f} to {self.high:,.0f}"

    @property
    def middle(self) -> float:
        return (self.low + self.high) / 2


PROPOSED, WHOLE, FINE = Printed(2_500, 3_000), Printed(4_000, 6_000), Printed(700, 700)
PAPER: dict[str, tuple[Printed, Printed]] = {
    PAPERS: (PROPOSED, PROPOSED),
    ALL: (WHOLE, WHOLE),
    FIRST: (FINE, Printed(10_000, 10_000)),
    SECOND: (Printed(15_000, 15_000), FINE),
}
PAPER |= {method + STOP: PAPER[method] for method in (ALL, FIRST, SECOND)}

# -- the example of sections 3 and 4: Tables 1 to 5 ------------------------------------------------------

AGES = [20, 21, 22, 23, 24, 25, 26]
HEIGHTS = [180, 180, 175, 160, 185, 170, 165]
ILLNESS = ["cold", "pneumonia", "cold", "HIV", "pneumonia", "HIV", "cold"]
TABLE_1 = pl.DataFrame({"age": AGES, "height": HEIGHTS, "illness": ILLNESS})
TABLE_2 = pl.DataFrame(
    {"age": ["[20, 22]"] * 3 + ["[23, 24]"] * 2 + ["[25, 26]"] * 2, "illness": ILLNESS},
)
TABLE_3 = pl.DataFrame(
    {
        "height": [f"[{height // 10 * 10}, {height // 10 * 10 + 9}]" for height in HEIGHTS],
        "illness": ILLNESS,
    }
)
TABLE_4 = pl.DataFrame(
    {"age": ["[20, 21]"] * 2 + ["[22, 23]"] * 2 + ["[24, 26]"] * 3, "illness": ILLNESS},
)
DISTANCES = [2, 2, 1, 1, 2, 2, 2]
"""Table 5: cut at 24 years and at 170 cm. Their squares sum to 22."""
