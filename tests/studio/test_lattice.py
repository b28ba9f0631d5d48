"""The lattice of levels: what is shown is what each choice comes to, and a node that is taken is what the run publishes."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import sudare as sd
from sudare.generalization.nodes import MOST_NODES, lattice
from sudare.studio.commands import commands
from tests.studio.conftest import Visitor

ASKED = {"way": "generalize", "with-k": "1", "k": "4", "suppress": "5", "method": "minimal"}


@pytest.fixture
def looking(opened: Visitor) -> Visitor:
    """A visitor who looks at the lattice of 4-anonymity."""
    opened.post("explore", ASKED)
    opened.wait()
    return opened


def nodes_on(page: str) -> dict[str, str]:
    """Return the class of each node of the page by its levels."""
    return dict(re.findall(r'<button name="node" value="([\d,]+)" class="node ([^"]+)"', page))


def test_every_node_is_what_it_comes_to(looking: Visitor) -> None:
    page = looking.get("lattice").text
    shown = nodes_on(page)
    table = sd.read(looking.project.facts.source, looking.project.schema())
    seen = lattice(table, [sd.KAnonymity(4)], suppress=0.05)
    assert seen.is_whole
    assert set(shown) == {",".join(map(str, node.levels)) for node in seen.nodes}
    for node in seen.nodes:
        kind = shown[",".join(map(str, node.levels))].split()
        assert ("fails" in kind) == (not node.holds)
        assert ("best" in kind) == (node.levels == seen.best)
        words = f"Distortion {node.cost:.3f}; {node.left_out:,} people left out"
        assert words in page
    assert page.count("<line ") == sum(
        sum(abs(a - b) for a, b in zip(one.levels, other.levels, strict=True)) == 1
        for i, one in enumerate(seen.nodes)
        for other in seen.nodes[:i]
    )


def test_filters_leave_nodes_out(looking: Visitor) -> None:
    every = nodes_on(looking.get("lattice").text)
    holding = nodes_on(looking.get("lattice?holding=1").text)
    assert set(holding) == {value for value, kind in every.items() if "fails" not in kind}
    low = nodes_on(looking.get("lattice?low-0=1&high-0=1&holding=").text)
    assert set(low) == {value for value in every if value.startswith("1,")}
    assert "No node is left" in looking.get("lattice?most=0").text
    for wrong in ("most=abc", "low-0=-1", "high-0=9999999999999", "low-0=x", "most=nan"):
        answer = looking.get(f"lattice?{wrong}")
        assert answer.status_code in (200, 422), wrong
    assert "must be a number" in looking.get("lattice?most=abc").text


def test_a_node_that_is_taken_is_what_is_published(looking: Visitor) -> None:
    names = looking.project.schema().names("quasi")
    value = next(
        value
        for value, kind in nodes_on(looking.get("lattice").text).items()
        if not {"fails", "best"} & set(kind.split()) and "0" not in value.split(",")[0]
    )
    page = looking.post("lattice?holding=1", {"node": value})
    assert page.url.query == b"holding=1"
    assert "taken" in nodes_on(page.text)[value].split()
    levels = dict(zip(names, map(int, value.split(",")), strict=True))
    project = looking.project
    assert (project.facts.choice.generalize.taken, project.facts.choice.generalize.method) == (
        levels,
        "full-domain",
    )
    command = commands(project)["run"]
    assert all(f"--level {name}={level}" in command for name, level in levels.items())
    assert f"levels={levels!r}" in looking.get("script").text
    form = looking.get("choose").text
    assert "at the levels that were taken from the lattice" in form
    assert f"{project.facts.choice.generalize.k}" in form
    tried = looking.post("preview", ASKED | {"method": "full-domain", "levels": json.dumps(levels)})
    assert f"({', '.join(f'{name} {level}' for name, level in levels.items())})" in tried.text
    assert "quickest method" not in tried.text
    assert "quickest method" in looking.post("preview", ASKED).text
    looking.post("run")
    assert looking.wait(300)["state"] == "done", looking.get("run").text
    looking.post("write", {"folder": str(looking.project.next_release())})
    looking.wait()
    folder = Path(looking.project.facts.releases[-1]["folder"])
    assert json.loads((folder / "keep" / "holder.json").read_text("utf-8"))["levels"] == levels
    assert sd.verify(folder).measured["k"] >= 4
    assert looking.post("undo").url.path.endswith("/choose")
    assert looking.project.facts.choice.generalize.taken is None


def test_levels_are_left_to_the_method_again(looking: Visitor) -> None:
    value = next(iter(nodes_on(looking.get("lattice").text)))
    looking.post("lattice", {"node": value})
    assert looking.project.facts.choice.generalize.taken is not None
    page = looking.post("lattice", {"node": ""})
    assert "No node is taken" in page.text
    assert looking.project.facts.choice.generalize.levels is None
    looking.post("lattice", {"node": value})
    looking.post("choose", ASKED | {"method": "full-domain"})  # the box that keeps levels is not ticked
    looking.wait()
    assert looking.project.facts.choice.generalize.levels is None


@pytest.mark.parametrize("value", ["9,9,9", "1", "a,b", "0,0,0,0"])
def test_a_node_that_is_none_is_refused(looking: Visitor, value: str) -> None:
    before = looking.project.facts.choice
    answer = looking.post("lattice", {"node": value})
    assert answer.status_code == 422
    assert "There is no such node" in answer.text
    assert looking.project.facts.choice == before


def test_levels_in_a_form_that_are_none_are_refused(looking: Visitor) -> None:
    for value in ("{", "[1]", '{"age": "x"}', "[" * 10_000, '{"age": 1.5}'):
        answer = looking.post("choose", ASKED | {"method": "full-domain", "levels": value})
        assert answer.status_code == 422, value


def test_nothing_asked_of_blocks_is_said(looking: Visitor, survey: Path) -> None:
    asked = {"way": "generalize", "with-k-map": "1", "k-map": "3", "population": str(survey)}
    answer = looking.post("explore", asked)
    assert answer.status_code == 422
    assert "The lattice shows k-anonymity" in answer.text
    assert "The lattice shows k-anonymity" in looking.get("lattice").text


def test_what_is_counted_in_a_population_is_left_out_and_said(looking: Visitor, survey: Path) -> None:
    assert "k-map and delta-presence are not looked at here" not in looking.get("lattice").text
    both = {"with-k-map": "1", "k-map": "3", "with-d-max": "1", "d-max": "0.9", "population": str(survey)}
    before = nodes_on(looking.get("lattice").text)
    looking.post("explore", ASKED | both)
    looking.wait()
    page = looking.get("lattice").text
    assert "k-map and delta-presence are not looked at here" in page
    assert nodes_on(page) == before


def test_nodes_are_held_to_shares_of_values(looking: Visitor) -> None:
    asked = {"with-beta": "1", "beta": "3", "with-disclosure": "1", "disclosure": "3"}
    fields = {"way": "generalize", "attribute": "diagnosis", "likeness": "basic", "method": "full-domain"}
    looking.post("explore", asked | fields)
    assert looking.wait()["state"] == "done", looking.get("lattice").text
    table = sd.read(looking.project.facts.source, looking.project.schema())
    likeness = sd.BetaLikeness(3, "basic", "diagnosis")
    seen = lattice(table, [likeness, sd.DeltaDisclosure(3, "diagnosis")])
    shown = nodes_on(looking.get("lattice").text)
    assert {node.holds for node in seen.nodes} == {True, False}
    for node in seen.nodes:
        assert ("fails" in shown[",".join(map(str, node.levels))].split()) == (not node.holds)


@pytest.mark.parametrize(
    ("change", "is_current"),
    [
        ({"beta": 3.0}, False),
        ({"likeness": "basic"}, False),
        ({"disclosure": 3.0}, False),
        ({"k": 5}, False),
        ({"d_max": 0.5}, True),
        ({"levels": {"age": 1}}, True),
    ],
    ids=str,
)
def test_what_was_seen_is_not_taken_for_what_is_asked_now(
    looking: Visitor, change: dict[str, object], *, is_current: bool
) -> None:
    project = looking.project
    assert project.is_current("lattice")
    with project.changing() as facts:
        own = facts.choice.generalize.model_copy(update=change)
        facts.choice = facts.choice.model_copy(update={"generalize": own})
    assert project.is_current("lattice") == is_current


def test_what_cannot_be_is_said_on_the_page(looking: Visitor) -> None:
    closeness = {"way": "generalize", "with-t": "1", "t": "0.3", "suppress": "5", "attribute": "diagnosis"}
    looking.post("explore", closeness)
    assert looking.wait()["state"] == "failed"
    page = looking.get("lattice")
    assert "no record may be left out" in page.text
    assert looking.wait()["state"] == "failed"  # and it is not begun again and again


def test_of_a_large_lattice_the_page_goes_from_node_to_node(visitor: Visitor, tmp_path: Path) -> None:
    path = tmp_path / "survey.csv"
    frame = sd.datasets.health_survey(200).select(
        "age",
        "sex",
        "region",
        "education",
        "height_cm",
        "weight_kg",
        "annual_income",
        "smoker",
        "postcode",
        "diagnosis",
    )
    frame.write_csv(path)
    visitor.open(path)
    visitor.roles(**dict.fromkeys(frame.columns[:-1], "quasi"))
    visitor.post("explore", {"way": "generalize", "with-k": "1", "k": "3"})
    visitor.wait()
    page = visitor.get("lattice").text
    found = visitor.project.found("lattice")
    assert found is not None
    assert found["choices"] > MOST_NODES
    assert f"{len(found['nodes'])} of {found['choices']:,} choices" in page
    other = next(node["levels"] for node in found["nodes"] if node["levels"] != found["centre"])
    visitor.post("lattice", {"node": ",".join(map(str, other))})
    visitor.wait()
    again = visitor.project.found("lattice")
    assert again is not None
    assert again["centre"] == other
    shown = nodes_on(visitor.get("lattice").text)
    assert len(shown) == len(again["nodes"])
    assert "taken" in shown[",".join(map(str, other))].split()


def test_levels_of_other_columns_count_no_longer(looking: Visitor) -> None:
    value = next(iter(nodes_on(looking.get("lattice").text)))
    looking.post("lattice", {"node": value})
    looking.roles(sex="other")
    looking.get("lattice")
    assert looking.wait()["state"] == "done"
    page = looking.get("lattice").text
    assert "No node is taken" in page
    assert nodes_on(page)
    looking.roles(sex="quasi")
