"""Who stands out: by sets of columns, and in the population behind the table; and that each change can be undone."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import polars as pl
import pytest

import sudare as sd
from sudare.studio.project import BEFORE, MAX_BEFORE
from tests.studio.conftest import Visitor


@pytest.fixture(scope="module")
def everybody(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file of a population: the people of the table, and many more."""
    path = tmp_path_factory.mktemp("everybody") / "everybody.csv"
    sd.datasets.health_survey(3000).select("age", "sex", "region").write_csv(path)
    return path


def test_sets_of_columns_are_counted_when_asked_for(opened: Visitor) -> None:
    assert "Find these sets" in opened.get("risk").text
    opened.post("sets")
    opened.wait()
    found = opened.project.found("sets")
    assert found is not None
    rows = pl.read_csv(opened.project.facts.source)
    quasi = opened.project.schema().names("quasi")
    by_names = {tuple(one["names"]): one["alone"] for one in found["sets"]}
    assert {names for names in by_names if len(names) == 1} == {(name,) for name in quasi}
    for names, alone in by_names.items():
        assert rows.group_by(names).len().filter(pl.col("len") == 1).height == alone
    assert all(names in by_names for names in combinations(quasi, 2) if by_names.get(names, 1))
    page = opened.get("risk").text
    assert "age + sex" in page
    assert "column_sets(table, 3)" in opened.get("code").text
    assert "--sets 3" in page
    assert "No larger set tells anybody apart" in page  # there are three columns
    opened.post("sets", {"columns": "2"})
    opened.wait()
    again = opened.project.found("sets")
    assert again is not None
    assert max(len(one["names"]) for one in again["sets"]) == 2
    assert "--sets 2" in opened.get("risk").text
    opened.post("sets", {"columns": "999"})
    opened.wait()
    assert opened.project.facts.columns_together == len(quasi)
    for wrong in ("0", "-1", "x", "1.5", "9" * 50):
        refused = opened.post("sets", {"columns": wrong})
        assert refused.status_code == 422, wrong
        assert "a whole number from 1 on" in refused.text


def test_the_risk_in_a_population_is_that_of_the_attacks(opened: Visitor, everybody: Path) -> None:
    opened.post("population", {"share": "2", "population": str(everybody)})
    told = opened.wait()
    assert told["state"] == "done", opened.get("risk").text
    found = opened.project.found("population")
    assert found is not None
    schema = opened.project.schema()
    table = sd.read(opened.project.facts.source, schema)
    sampled = sd.attack(table, schema, kind="population", sampling_fraction=0.02)
    mapped = sd.attack(table, schema, kind="k_map", population=str(everybody))
    assert found["sampled"]["expected"] == pytest.approx(sampled.expected)
    assert found["mapped"]["k"] == mapped.k
    page = opened.get("risk").text
    assert f"{mapped.population:,} people whom a record could belong to" in page
    code = opened.get("script").text
    assert "kind='k_map'" in code
    assert "sampling_fraction=0.02" in code
    opened.post("population", {"share": "2"})
    opened.wait()
    again = opened.project.found("population")
    assert again is not None
    assert again["mapped"] is None  # and nothing is left of what was asked before


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({}, "Say which share"),
        ({"share": "0"}, "more than 0"),
        ({"share": "101"}, "at most 100%"),
        ({"share": "abc"}, "must be a number"),
        ({"population": "/nowhere/everybody.csv"}, "there is no such file"),
    ],
)
def test_a_population_that_is_none_is_refused(opened: Visitor, fields: dict[str, object], words: str) -> None:
    before = opened.project.facts.sampling_fraction
    page = opened.post("population", fields)
    assert page.status_code == 422
    assert words in page.text
    assert opened.project.facts.sampling_fraction == before


def test_k_map_is_asked_for_with_a_population(opened: Visitor, everybody: Path) -> None:
    asked = {"way": "generalize", "with-k-map": "1", "k-map": "20", "method": "mondrian"}
    refused = opened.post("choose", asked)
    assert refused.status_code == 422
    assert "Name a file of them" in refused.text
    tried = opened.post("preview", asked | {"population": str(everybody)})
    assert "20-map" in tried.text
    opened.post("choose", asked | {"population": str(everybody)})
    assert opened.wait(300)["state"] == "done", opened.get("run").text
    found = opened.project.found("run")
    assert found is not None
    assert found["requirements"] == ["20-map"]
    assert found["measured"]["k_map"] >= 20


def test_delta_presence_is_asked_for_with_a_population(opened: Visitor, everybody: Path) -> None:
    asked = {"way": "generalize", "with-d-max": "1", "d-max": "0.9", "d-min": "0", "method": "mondrian"}
    assert opened.post("choose", asked).status_code == 422
    tried = opened.post("preview", asked | {"population": str(everybody)})
    assert "distortion" in tried.text
    opened.post("choose", asked | {"population": str(everybody)})
    assert opened.wait(300)["state"] == "done", opened.get("run").text
    found = opened.project.found("run")
    assert found is not None
    assert found["requirements"] == ["(0, 0.9)-presence"]
    assert found["measured"]["presence"] <= 0.9


def test_shares_of_values_are_asked_for(opened: Visitor) -> None:
    asked = {"way": "generalize", "with-beta": "1", "beta": "6", "likeness": "basic", "method": "mondrian"}
    page = opened.get("choose").text
    assert 'name="with-beta"' in page
    assert 'name="with-disclosure"' in page
    opened.post("choose", asked | {"with-disclosure": "1", "disclosure": "3", "attribute": "diagnosis"})
    assert opened.wait(300)["state"] == "done", opened.get("run").text
    found = opened.project.found("run")
    assert found is not None
    assert found["requirements"] == ["basic 6-likeness of 'diagnosis'", "3-disclosure privacy of 'diagnosis'"]
    assert found["measured"]["beta"] <= 6
    assert found["measured"]["disclosure"] < 3


def test_microaggregation_publishes_means_and_says_how_well_models_predict(opened: Visitor) -> None:
    names = list(opened.project.schema().attributes)
    saved = opened.post(f"column/{names.index('age')}", {"kind": "none", "numbers": "means"})
    assert saved.status_code == 200
    opened.wait()
    asked = {"way": "generalize", "with-k": "1", "k": "5", "method": "mdav", "predict": "diagnosis"}
    opened.post("choose", asked)
    assert opened.wait(300)["state"] == "done", opened.get("run").text
    (view,) = opened.project.found("run")["views"]  # type: ignore[index]
    assert "age_mean" in view["columns"]
    assert "method='mdav'" in opened.get("script").text
    report = opened.get("report/report").text
    assert "diagnosis" in report
    assert "predict" in report


def test_undo_goes_back_change_by_change(opened: Visitor) -> None:
    project = opened.project
    opened.roles()
    stood = project.schema_stamp()
    run = project.found("run")
    opened.roles(region="other")
    opened.post("choose", {"way": "generalize", "with-k": "1", "k": "7", "method": "mondrian"})
    opened.wait()
    assert opened.project.facts.choice.generalize.k == 7
    assert "Undo: Choose" in opened.get("risk").text
    assert opened.post("undo").url.path.endswith("/choose")
    assert opened.project.facts.choice.generalize.k == 5
    assert opened.project.schema_stamp() != stood
    assert opened.post("undo").url.path.endswith("/roles")
    assert opened.project.schema_stamp() == stood
    assert run is not None
    opened.wait()


def test_what_was_made_before_a_change_that_is_undone_is_current_again(opened: Visitor) -> None:
    opened.post("choose", {"way": "generalize", "with-k": "1", "k": "4", "method": "mondrian"})
    opened.wait()
    opened.roles(sex="other")
    assert not opened.project.is_current("run")
    opened.post("undo")
    assert opened.project.is_current("run")


def test_looking_at_roles_is_no_change_and_old_changes_are_forgotten(opened: Visitor) -> None:
    folder = opened.project.folder / BEFORE
    for one in folder.glob("*.json"):
        one.unlink()
    opened.roles()
    assert "Undo" not in opened.get("roles").text
    assert opened.post("undo").url.path.endswith("/roles")
    project = opened.project
    for k in range(2, MAX_BEFORE + 10):
        with project.undoable("choose"), project.changing() as facts:
            facts.choice.generalize.k = k
    assert len(list(folder.glob("*.json"))) == MAX_BEFORE
    project.undo()
    assert opened.project.facts.choice.generalize.k == MAX_BEFORE + 8
    sorted(folder.glob("*.json"))[-1].write_text("damaged")
    assert opened.get("roles").status_code == 200


def test_a_part_of_the_people_is_drawn_once_and_the_walk_goes_on_with_it(
    visitor: Visitor, survey: Path
) -> None:
    visitor.open(survey)
    visitor.roles()
    visitor.post("draw", {"part": "40"})
    assert visitor.wait()["state"] == "done", visitor.get("risk").text
    facts, whole = visitor.project.facts, pl.read_csv(survey)
    assert (facts.drawn_from, facts.sampling_fraction) == (str(survey), 0.4)
    drawn = pl.read_parquet(facts.source)
    assert drawn.height == 120
    assert drawn.join(whole, on=whole.columns, how="semi", nulls_equal=True).height == 120
    assert Path(facts.source).stat().st_mode & 0o777 == 0o600
    found = visitor.project.found("read")
    assert found is not None
    assert found["rows"] == 120
    page = visitor.get("risk").text
    assert f"These are 40% of the people of {survey}" in page
    assert visitor.project.schema().sampling_fraction == 0.4
    visitor.post("choose", {"way": "generalize", "with-k": "1", "k": "4", "method": "mondrian"})
    assert visitor.wait(300)["state"] == "done", visitor.get("run").text
    assert "300 people" in visitor.get("report/report").text  # whom the drawn ones stand for
    assert f"drawn_from = {str(survey)!r}" in visitor.get("script").text
    first = facts.source
    visitor.post("draw", {"part": "50"})
    visitor.wait()
    again = visitor.project.facts
    assert again.source != first
    assert (again.drawn_from, again.sampling_fraction) == (str(survey), pytest.approx(0.2))
    assert not visitor.project.is_current("run")
    assert visitor.post("undo").url.path.endswith("/risk")
    assert visitor.project.facts.source == first
    assert visitor.project.is_current("run")
    visitor.wait()  # it is read again
    visitor.post("undo")
    visitor.wait()
    visitor.post("undo")
    assert (visitor.project.facts.source, visitor.project.facts.drawn_from) == (str(survey), None)
    assert visitor.project.schema().sampling_fraction is None
    for wrong in ("", "0", "100", "-1", "x", "nan"):
        assert visitor.post("draw", {"part": wrong}).status_code == 422, wrong
    assert visitor.project.facts.drawn_from is None
