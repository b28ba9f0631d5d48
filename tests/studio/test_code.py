"""Code that is shown is code that runs: Python that parses, commands that a shell takes apart again, SQL that quotes."""

from __future__ import annotations

import ast
import shlex
from pathlib import Path

import pytest
import sqlglot
import typer

import sudare as sd
from sudare.cli.app import imported
from sudare.studio import code
from sudare.studio.ask import quoted
from sudare.studio.choices import WAYS, Choice, Generalizing, Materializing, Randomizing, Viewing
from sudare.studio.column import from_nested
from sudare.studio.commands import commands
from sudare.studio.curve import curve
from sudare.studio.project import Project, Tried
from sudare.studio.roles import with_roles
from tests.studio.conftest import HOSTILE

CHOICES = [
    Choice(),
    Choice(
        generalize=Generalizing(
            k=None, l=2.5, diversity="entropy", attribute=HOSTILE[0], method="blind", suppress=0.1
        )
    ),
    Choice(generalize=Generalizing(l=3, diversity="recursive", c=2.0, harmless=HOSTILE[1:3], t=0.3)),
    Choice(generalize=Generalizing(l=3, diversity="proximity", within=10, relative=True)),
    Choice(
        generalize=Generalizing(
            k=3, t=0.2, distance="ordered", method="mdav", suppress=0.1, predict=HOSTILE[2]
        )
    ),
    Choice(generalize=Generalizing(k=3, method="full-domain", levels={HOSTILE[0]: 2, "age=1": 0})),
    Choice(generalize=Generalizing(k=None, k_map=5, population=f"/home/you/{HOSTILE[0]}.csv")),
    Choice(generalize=Generalizing(k=None, d_max=0.5, d_min=0.1, population=f"/home/you/{HOSTILE[0]}.csv")),
    Choice(generalize=Generalizing(beta=4, likeness="basic", disclosure=2, attribute=HOSTILE[0])),
    Choice(
        way="views",
        views=Viewing(views={"first": HOSTILE[:2], "second": ["b"]}, kind="entropy", attribute=HOSTILE[2]),
    ),
    Choice(way="randomize", randomize=Randomizing()),
    Choice(way="randomize", randomize=Randomizing(promise="epsilon", epsilon=0.5, bins=["age"])),
    Choice(way="pview", pview=Materializing(epsilon=0.5, delta=1e-6)),
]


@pytest.mark.parametrize("choice", CHOICES)
def test_python_calls_verbs_with_plain_values_only(choice: Choice) -> None:
    lines = code.making(choice, Path("/home/you/releases.db"), receiver=HOSTILE[3])
    for node in ast.walk(ast.parse("\n".join(lines))):
        if isinstance(node, ast.Call):
            assert ast.unparse(node.func).startswith("sd.")
        assert not isinstance(node, ast.JoinedStr | ast.Lambda | ast.BinOp)


@pytest.mark.parametrize("choice", CHOICES)
def test_requirements_are_what_was_chosen(choice: Choice) -> None:
    if choice.way == "generalize":
        made = [eval(one, {"sd": sd}) for one in code.requirements(choice.generalize)]
        one = choice.generalize
        assert [type(requirement).__name__ for requirement in made] == [
            name
            for name, value in (
                ("KAnonymity", one.k),
                ("LDiversity", one.l),
                ("TCloseness", one.t),
                ("BetaLikeness", one.beta),
                ("DeltaDisclosure", one.disclosure),
                ("KMap", one.k_map),
                ("DeltaPresence", one.d_max),
            )
            if value is not None
        ]


@pytest.mark.parametrize("choice", CHOICES)
def test_commands_have_options_that_there_are(tmp_path: Path, choice: Choice) -> None:
    project = Project.create(tmp_path, HOSTILE[1], "path", "people")
    project.set_schema(sd.Schema.from_roles(quasi=["age"], sensitive=["ill"]))
    with project.changing() as facts:
        facts.choice = choice
        facts.sampling_fraction, facts.population = 0.1, HOSTILE[1]
    for line in commands(project, ledger=Path("a ledger.db")).values():
        program, name, *rest = shlex.split(line)
        assert program == "sudare"
        command = imported(name)
        assert isinstance(command, typer.core.TyperCommand)
        known = {option for parameter in command.params for option in parameter.opts}
        values = set(HOSTILE)
        assert {word for word in rest if word.startswith("-") and word not in values} <= known


def test_every_way_has_a_choice() -> None:
    assert {choice.way for choice in CHOICES} == set(WAYS)


@pytest.mark.parametrize("name", HOSTILE)
def test_a_quoted_name_is_one_name(name: str) -> None:
    parsed = sqlglot.parse_one(f"SELECT {quoted(name)} FROM view", dialect="duckdb")
    (column,) = parsed.find_all(sqlglot.exp.Column)
    assert column.name == name


def test_a_role_that_changes_drops_what_only_the_old_one_has() -> None:
    schema = sd.Schema.from_roles(
        household="h", weight="w", quasi=["a"], linked={"h": True}, known={"w": False}
    )
    changed = with_roles(schema, {"h": "quasi", "w": "other", "a": "household"})
    roles = {name: str(own.role) for name, own in changed.attributes.items()}
    assert roles == {"h": "quasi", "w": "other", "a": "household"}
    with pytest.raises(sd.InputError, match="more than once"):
        with_roles(schema, {"a": "household"})


@pytest.mark.parametrize("text", ["", "[]", "3", '{"a": 3}', '{"a": {"b": [{}]}}'])
def test_a_tree_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(sd.InputError):
        from_nested(text)


def test_the_curve_has_a_point_and_a_bound_for_each_setting() -> None:
    tried = [
        Tried(asked=f"{k}-anonymity <b>", settings={"bound": 0.1 / k}, risk=1 / k, distortion=0.05 * k)
        for k in (2, 5, 10)
    ]
    drawn = curve(tried, "ja", "generalize", tried[0])
    assert drawn is not None
    assert drawn.count("<circle") == 6
    assert "<b>" not in drawn
    assert 'aria-label="' in drawn
