"""The room itself: nothing is marked safe on the way, rows are not looked at, and jinja2 is loaded only for a page."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from jinja2 import UndefinedError

import sudare as sd
from sudare.engines.engine import Engine
from sudare.plans.tuples import TuplePlan
from sudare.plans.views import ViewsPlan
from sudare.privacy.multi_view import RemainingValues
from sudare.release.certify import verified
from sudare.reports.generalization import write_generalization_report
from sudare.reports.page import render
from sudare.reports.randomization import write_randomization_report
from sudare.reports.views import write_views_report
from sudare.tables.counts import Counts
from sudare.tables.dictionary import Dictionary

REPORTS = Path(str(resources.files("sudare.reports")))
TEMPLATES = sorted((REPORTS / "templates").glob("*.jinja"))


def test_every_page_extends_the_one_base_and_no_template_marks_anything_safe() -> None:
    pages = [path for path in TEMPLATES if "parts" not in path.name and path.stem != "base.html"]
    assert {path.name.split(".")[0] for path in pages} == {
        "generalization", "views", "randomization", "assessment", "evidence", "pview", "pview_page",
    }  # fmt: skip
    for path in pages:
        assert '{% extends "base.html.jinja" %}' in path.read_text()
    for path in TEMPLATES:
        assert not re.search(r"\|\s*safe\b|autoescape|Markup", path.read_text())


def test_text_becomes_markup_in_two_places_only() -> None:
    marked = {
        str(path.relative_to(REPORTS)) for path in REPORTS.rglob("*.py") if "Markup(" in path.read_text()
    }
    assert marked == {"charts/svg.py", "page.py"}


def test_a_value_that_a_template_needs_and_is_not_given_is_an_error() -> None:
    with pytest.raises(UndefinedError):
        render("assessment")


def test_jinja2_is_not_loaded_before_a_page_is_written() -> None:
    command = "import sudare, sudare.cli, sys; print('jinja2' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", command], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


# -- Pages see dictionaries and counts ---------------------------------------------------------------


class CountsOnly:
    """An engine that tells dictionaries and counts, and no row."""

    def __init__(self, engine: Engine) -> None:
        self.names, self._engine = engine.names, engine

    def __len__(self) -> int:
        return len(self._engine)

    def dictionary(self, name: str) -> Dictionary:
        return self._engine.dictionary(name)

    def counts(self, names: Sequence[str]) -> Counts:
        return self._engine.counts(names)

    def pieces(self, names: Sequence[str], together: Sequence[str]) -> Iterator[Counts]:
        return self._engine.pieces(names, together)


def without_rows(table: sd.Table) -> sd.Table:
    return replace(table, rows=CountsOnly(table.rows))  # type: ignore[arg-type]


def people() -> pl.DataFrame:
    return pl.DataFrame(
        {
            "age": [20 + i % 40 for i in range(240)],
            "sex": [("f", "m", None)[i % 3] for i in range(240)],
            "when": pl.date_range(pl.date(2024, 1, 1), pl.date(2024, 8, 27), eager=True),
            "ill": [("flu", "HIV", "cold", None)[i % 4] for i in range(240)],
        }
    )


def schema(**declared: Any) -> sd.Schema:
    return sd.Schema.from_roles(quasi=["age", "sex", "when"], sensitive=["ill"], **declared)


def test_a_generalized_tables_page_needs_no_rows() -> None:
    table = sd.read(people(), schema())
    release = sd.generalize(table, sd.KAnonymity(5))
    assert isinstance(release.plan, TuplePlan)
    checked = verified(release.handed_over, release.declared)
    arguments = (release.handed_over.frames["data"], release.certificate, release.holder, checked)
    page = write_generalization_report(release.plan.locate(without_rows(table)), *arguments)
    assert page == release.report


def test_several_views_page_needs_no_rows() -> None:
    table = sd.read(people(), schema())
    release = sd.generalize_views(table, {"a": ["age", "sex"], "b": ["when"]}, sd.MultiViewDiversity(2))
    assert isinstance(release.plan, ViewsPlan)
    located = release.plan.locate(without_rows(table))
    sensitive = located.counts.column("ill").astype(np.int64)
    seen = RemainingValues.of([*located.block_of.T], sensitive, located.counts.weights)
    rest = (release.certificate, release.holder)
    assert (
        write_views_report(located.table, release.handed_over.frames, located, seen, *rest) == release.report
    )


@pytest.mark.parametrize("joint", [None, {"who": ["sex", "ill"]}])
def test_a_randomized_tables_page_needs_no_rows(joint: dict[str, list[str]] | None) -> None:
    bounds = {"age": (0, 120), "when": ("2020-01-01", "2029-12-31")}
    domains = {"sex": ["f", "m"], "ill": ["flu", "HIV", "cold"]}
    table = sd.read(people(), schema(bounds=bounds, domains=domains, types={"when": "date"}))
    release = sd.randomize(table, sd.PkAnonymity(5), joint=joint, unsafe_seed=1)
    left_out = [name for name in table.columns if name not in release.frame().columns]
    arguments: Any = (left_out, release.frame(), release.plan, release.certificate, release.holder)
    assert write_randomization_report(without_rows(table), *arguments) == release.report


def test_the_original_is_counted_as_its_rows_are() -> None:
    """Once by counts and dictionaries, as pages do, and once by rows."""
    frame = people()
    table = sd.read(frame, schema())
    page = sd.generalize(table, sd.KAnonymity(5)).report
    alone = frame.group_by("age", "sex", "when").len()["len"].to_list().count(1)
    assert f"<b>{alone} of 240 people</b> were the only one" in page
    for value, count in frame["sex"].value_counts().rows():
        assert f"<title>{'(missing)' if value is None else value}: {count}</title>" in page
