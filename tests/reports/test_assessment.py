"""What the page of an assessment says, and that it says it of odd tables too."""

from __future__ import annotations

import re
import sys
from importlib.util import find_spec
from pathlib import Path
from xml.etree import ElementTree

import polars as pl
import pytest

import sudare as sd
from sudare.reports.assessment import MAX_COLUMNS, write_assessment_report
from sudare.reports.assessment_pictures import MAX_BARS, pictures, write_pictures
from sudare.reports.assessment_tables import stronger_bounds
from tests.conftest import unavailable
from tests.reports.pages import outside_requests


def assessed(frame: pl.DataFrame, sensitive: str, **asked: object) -> sd.Assessment:
    quasi = [name for name in frame.columns if name != sensitive]
    table = sd.read(frame, sd.Schema.from_roles(quasi=quasi, sensitive=[sensitive]))
    return sd.assess(table, **asked)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def survey() -> sd.Assessment:
    frame = sd.datasets.health_survey(400).select("age", "sex", "region", "diagnosis")
    return assessed(frame, "diagnosis", l=[2, 3, 13], k=[2, 5], diversity="entropy")


def test_page_tells_all_stages_in_order(survey: sd.Assessment) -> None:
    page = write_assessment_report(survey)
    stages = [
        "1. What was asked", "2. Can it be done?", "3. What does it cost at least?",
        "4. What drives the cost?", "5. What to do",
    ]  # fmt: skip
    assert [page.index(stage) for stage in stages] == sorted(page.index(stage) for stage in stages)
    assert "For the holder of the data only" in page
    assert "Entropy 13-diversity is impossible" in page
    for figure in (survey.best_l[3].value, survey.best_k[5].value, survey.reached_k[3]):
        assert f"<td>{figure:.4f}</td>" in page
    for l in survey.choices:
        assert re.search(rf"<h3>l = {l:g}</h3>\s*<ul>\s*<li><b>", page)
    for symbol in ("MaxNB", "BS_s", "BS_e", "DIS"):
        assert symbol not in page


def test_page_opens_without_a_network(survey: sd.Assessment) -> None:
    assert outside_requests(write_assessment_report(survey)) == []


def test_page_says_which_costs_have_a_stronger_argument(survey: sd.Assessment) -> None:
    first, *_, last = stronger_bounds(survey)
    raised = [k for k, bound in survey.best_k.items() if bound.value > survey.bound_k[k] + 1e-4]
    assert raised
    for k in raised:
        assert f"k = {k}" in first
        assert f"{survey.bound_k[k]:.4f} for k = {k}" in last
    assert last in write_assessment_report(survey)
    same = assessed(pl.DataFrame({"x": ["a", "b"] * 4, "s": list("uuvvuuvv")}), "s", l=2, k=2)
    assert stronger_bounds(same) == []


def test_data_is_escaped() -> None:
    frame = pl.DataFrame({"<b>": ["<i>", "x"] * 4, "y": list("aabbaabb"), "<s>": ["<script>", "u"] * 4})
    page = write_assessment_report(assessed(frame, "<s>", l=2, k=2))
    for text in ("<b>:", "<i>", "<s>", "<script>"):
        assert text not in page
    assert "&lt;script&gt;" in page


def test_nothing_feasible_is_an_answer_too() -> None:
    assessment = assessed(pl.DataFrame({"x": [1, 2, 3], "s": ["u", "u", "u"]}), "s", l=[2, 4], k=[9])
    page = write_assessment_report(assessment)
    assert "Distinct 2-diversity is impossible" in page
    assert "there is no cost to share out" in page
    assert "The records that cost most" not in page
    assert set(pictures(assessment)) == {"bounds", "values"}


def test_one_attribute_and_missing_values() -> None:
    assessment = assessed(
        pl.DataFrame({"x": ["a", None, "b", "b"], "s": ["u", "v", None, "v"]}), "s", l=2, k=2
    )
    page = write_assessment_report(assessment)
    assert "<td>(missing)</td>" in page
    assert "What each quasi attribute adds" not in page


def test_of_many_attributes_and_values_those_that_matter_are_shown() -> None:
    rows = range(120)
    columns = {f"q{a}": [str(r * (a + 3) % (a + 2)) for r in rows] for a in range(20)}
    assessment = assessed(pl.DataFrame({**columns, "s": [f"v{r % 30}" for r in rows]}), "s", l=2, k=2)
    drawn, page = pictures(assessment), write_assessment_report(assessment)
    assert drawn["attributes"].svg.count("text-anchor") == MAX_BARS
    assert drawn["values"].svg.count("<title>") == MAX_BARS
    for text in ("Less frequent values that are not shown: 18.", "not shown: 8.", "and 8 more"):
        assert text in page
    assert f"Only the {MAX_COLUMNS} attributes that add most are shown." in page
    costliest = min(assessment.without, key=lambda name: assessment.without[name])
    assert f">{costliest}</text>" in drawn["attributes"].svg
    assert f"<th>{costliest}</th>" in page


def test_pictures_as_files(survey: sd.Assessment, tmp_path: Path) -> None:
    if find_spec("resvg_py") is None:
        unavailable("resvg-py is not installed: pip install 'sudare[plots]'")
    files = write_pictures(survey, tmp_path / "new" / "plots")
    names = {f"{name}.{kind}" for name in pictures(survey) for kind in ("svg", "png")}
    assert {file.name for file in files} == names == {path.name for path in files[0].parent.iterdir()}
    for file in files:
        if file.suffix == ".svg":
            assert ElementTree.fromstring(file.read_bytes()).tag == "{http://www.w3.org/2000/svg}svg"
        else:
            assert file.read_bytes().startswith(b"\x89PNG")
            assert file.stat().st_size > 3_000
    (tmp_path / "file").touch()
    with pytest.raises(sd.InputError, match="Cannot write the pictures into"):
        write_pictures(survey, tmp_path / "file")


def test_without_the_extra_nothing_is_written(
    survey: sd.Assessment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "resvg_py", None)
    with pytest.raises(sd.SudareError, match=r"sudare\[plots\]"):
        write_pictures(survey, tmp_path / "plots")
    assert not (tmp_path / "plots").exists()
