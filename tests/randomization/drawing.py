"""What tests draw by a plan: the rows in their original order, which a release does not have."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

import sudare as sd
from sudare.noise.keystream import Keystream
from sudare.plans.law import LawForm
from sudare.randomization.draw import draw, input_codes
from sudare.randomization.plan import RandomizationPlan
from sudare.randomization.published import PublishedCounts


def rows_of(plan: RandomizationPlan, table: sd.Table) -> dict[str, Any]:
    return {name: table.rows.column(name).codes for name in plan.attributes}


def original_codes(plan: RandomizationPlan, table: sd.Table) -> dict[str, np.ndarray]:
    """The code of every row, by law."""
    return input_codes(plan, plan.places(table), rows_of(plan, table))


def drawn_codes(plan: RandomizationPlan, table: sd.Table, source: Keystream) -> dict[str, np.ndarray]:
    return draw(plan, plan.places(table), rows_of(plan, table), source)


def drawn_rows(plan: RandomizationPlan, table: sd.Table, source: Keystream) -> pl.DataFrame:
    return plan.decode(drawn_codes(plan, table, source))


def forms_of(plan: RandomizationPlan) -> dict[str, LawForm]:
    return {law.name: LawForm.of(law.name, law.to_json()) for law in plan.laws}


def published(plan: RandomizationPlan, out: pl.DataFrame, *names: str) -> PublishedCounts:
    """What is published under the laws of these names, or of all."""
    forms = forms_of(plan)
    return PublishedCounts.of(out, {name: forms[name] for name in names or forms})
