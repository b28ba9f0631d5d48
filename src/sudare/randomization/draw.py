"""Drawing by a plan: every record gets new values, each by the law of its attributes.

This is where rows are rewritten. They come as the codes of a table's dictionaries and leave as the codes of the plan's
domains, some at a time, so that little more than both is held in memory.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from sudare.noise.keystream import Keystream
from sudare.randomization.grids import Codes, code_type
from sudare.randomization.plan import RandomizationPlan

CHUNK = 2**20
"""Rows that are rewritten at a time. It is fixed: what a seed draws depends on it."""


def draw(
    plan: RandomizationPlan, places: Mapping[str, Codes], rows: Mapping[str, Codes], source: Keystream
) -> dict[str, Codes]:
    """Draw an output code for every row, by law, in the order of the rows.

    `rows` has the dictionary's code of every row, by column, and `places` says which value of its domain each of these
    codes is (`plan.places`). The keystream is used up in order: chunk by chunk, and law by law in each.
    """
    size = len(next(iter(rows.values())))
    drawn = {law.name: np.empty(size, dtype=code_type(len(law.domain))) for law in plan.laws}
    for start in range(0, size, CHUNK):
        chunk = slice(start, start + CHUNK)
        inputs = input_codes(plan, places, {name: codes[chunk] for name, codes in rows.items()})
        for law in plan.laws:
            drawn[law.name][chunk] = law.sample(inputs[law.name], source)
    return drawn


def input_codes(
    plan: RandomizationPlan, places: Mapping[str, Codes], rows: Mapping[str, Codes]
) -> dict[str, Codes]:
    """Return the code of every row in the domain of each law: what goes into its channel."""
    return {
        law.name: law.domain.combined([places[name][rows[name]] for name in law.attributes])
        for law in plan.laws
    }
