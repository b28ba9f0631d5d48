"""What the command line can, Python can, by the same names and with the same defaults; and the other way round."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import pytest

import sudare as sd
from sudare import warm_up
from sudare.attacks.background import background
from sudare.attacks.composition import composition
from sudare.attacks.homogeneity import homogeneity
from sudare.attacks.households import households
from sudare.attacks.intersection import intersection
from sudare.attacks.k_map import k_map
from sudare.attacks.knowing import by_definetti, by_downcoding, by_minimality
from sudare.attacks.law_game import by_game
from sudare.attacks.population import population
from sudare.attacks.presence import presence
from sudare.attacks.proximity import proximity
from sudare.attacks.randomized import by_law
from sudare.attacks.reidentification import reidentification
from sudare.attacks.skewness import skewness
from sudare.cli.app import COMMANDS, OLD_COMMANDS, OLD_OPTIONS, imported
from sudare.studio.app import studio_app
from sudare.verbs.draft import draft

# The verbs, and what else in Python a command puts together: requirements, a method's own parameters, the writing.
BLOCKS = (sd.KAnonymity, sd.LDiversity, sd.TCloseness, sd.BetaLikeness, sd.DeltaDisclosure, sd.DeltaPresence)
VERBS: dict[str, list[Callable[..., Any]]] = {
    "apply": [sd.apply, sd.Release.write],
    "assess": [sd.assess],
    "attack": [
        sd.attack,
        homogeneity,
        background,
        reidentification,
        skewness,
        proximity,
        intersection,
        composition,
        by_law,
        by_game,
        by_minimality,
        by_downcoding,
        by_definetti,
        households,
        population,
        k_map,
        presence,
    ],
    "combine": [sd.combine, sd.PView.save],
    "draw": [sd.draw],
    "evidence": [sd.evidence],
    "generalize": [sd.generalize, sd.KMap, *BLOCKS, sd.Release.write],
    "generalize-views": [sd.generalize_views, sd.MultiViewDiversity, sd.Release.write],
    "materialize": [
        sd.materialize,
        sd.DifferentialPrivacy,
        sd.methods.DPMondrian,
        sd.methods.PrivBayes,
        sd.methods.Hdmm,
        sd.PView.write,
    ],
    "publish": [sd.publish, sd.Policy, sd.publish_pview, sd.Release.write],
    "randomize": [
        sd.randomize,
        sd.PkAnonymity,
        sd.DifferentialPrivacy,
        sd.methods.Area,
        sd.methods.Bits,
        sd.Release.write,
    ],
    "reconstruct": [sd.reconstruct],
    "run": [sd.run],
    "sql": [sd.sql],
    "verify": [sd.verify, sd.KMap, *BLOCKS, sd.PkAnonymity, sd.DifferentialPrivacy],
}

# Commands that are no verb: what they are in Python.
OTHERS: dict[str, list[Callable[..., Any]]] = {
    "check": [sd.read],
    "count": [sd.Table.counts],
    "demo": [sd.datasets.health_survey],
    "warm-up": [warm_up.walk_all],
    "init": [draft],
    "ledger": [
        sd.Ledger.entries,
        sd.Ledger.budget,
        sd.Ledger.begin_period,
        sd.Ledger.declare_apart,
        sd.Ledger.verify,
    ],
    "query": [sd.PView.sql],
    "studio": [studio_app],
}

# Options that Python has no name for.
COMMAND_LINE_ONLY = {
    "log": "Python: run(tell=...)",
    "schema": "in Python a table has its schema; attack and verify take one",
    "json": "Python has objects",
    "engine": "Python: sd.read",
    "memory": "Python: sd.read",
    "force": "Python writes what it is told to",
    "report": "Python: release.report, and write_assessment_report",
    "plots": "Python: reports.assessment.write_pictures",
    "where": "Python: Estimate.count",
    "matrix_rows": "how a file of a matrix is to be read",
    **dict.fromkeys(["ask_file", "ask_marginals", "ask_ranges", "ask_prefixes"], "more of what --ask gives"),
}

# Parameters that the command line has no option for.
PYTHON_ONLY = {
    "self": "", "published": "opened from OUTPUT", "path": "an argument", "output": "an argument", "folder": "an argument", "release": "an argument",
    "attributes": "an argument", "frames": "an argument", "parameters": "each has an option", "options": "each has an option",
    "pipeline": "an argument", "tell": "--log", "table": "read from SOURCE", "pview": "opened from SOURCE", "pviews": "an argument", "schema": "read from --schema",
    "requirement": "made of options", "requirements": "made of options", "policy": "made of options",
    "plan": "law.json beside the output", "law": "law.json beside the output",
    "delta": "of a p-view; a record's law has none", "decide": "a person at the terminal", "per": "which of the two is meant, the command says",
}  # fmt: skip

# Options with another name: what is given again and again is one mapping in Python; and on one command line several
# requirements must be told apart.
RENAMED = {
    "view": "views",
    "level": "levels",
    "ask": "workload",
    "weight": "weights",
    "prior": "priors",
    "matrix": "matrices",
    "pk": "k",
    "k_map": "k",
    "disclosure": "delta",
}
RENAMED_IN = {
    (command, option): "kind" for command in ("generalize", "verify") for option in ("diversity", "likeness")
}


def options(command: str) -> dict[str, Any]:
    """The options of a command by their names in Python, with their defaults; arguments aside."""
    params = [one for one in imported(command).params if one.param_type_name == "option"]
    names = {one: RENAMED_IN.get((command, one.name), RENAMED.get(one.name, one.name)) for one in params}
    return {name: one.default for one, name in names.items() if name != "help"}


def parameters(functions: list[Callable[..., Any]]) -> dict[str, list[Any]]:
    """The parameters of functions by name, with the defaults that they have."""
    defaults: dict[str, list[Any]] = {}
    for function in functions:
        for name, one in inspect.signature(function).parameters.items():
            defaults.setdefault(name, []).extend([] if one.default is one.empty else [one.default])
    return defaults


@pytest.mark.parametrize("command", VERBS)
def test_options_are_parameters(command: str) -> None:
    extra = set(options(command)) - set(parameters(VERBS[command]))
    assert extra <= set(COMMAND_LINE_ONLY), "options that Python does not have"


@pytest.mark.parametrize("command", VERBS)
def test_parameters_are_options(command: str) -> None:
    extra = set(parameters(VERBS[command])) - set(options(command))
    assert extra <= set(PYTHON_ONLY), "parameters that the command line does not have"


@pytest.mark.parametrize("command", VERBS)
def test_defaults_agree(command: str) -> None:
    known = parameters(VERBS[command])
    for name, default in options(command).items():
        if default not in (None, False) and known.get(name) and name not in PYTHON_ONLY:
            assert default in known[name], name


def test_the_tables_of_differences_name_nothing_that_is_gone() -> None:
    every = {one.name for command in VERBS for one in imported(command).params}
    assert set(COMMAND_LINE_ONLY) <= every
    assert set(RENAMED) <= every
    assert set(PYTHON_ONLY) <= {name for functions in VERBS.values() for name in parameters(functions)}


def test_every_verb_is_a_command_and_every_command_has_its_place() -> None:
    assert set(VERBS) | set(OTHERS) == set(COMMANDS)
    verbs = {name for name in sd.__all__ if inspect.isfunction(getattr(sd, name))}
    assert {name.replace("_", "-") for name in verbs} - set(COMMANDS) == {
        "read",
        "publish-pview",
        "materialize-design",
        "show-progress",  # commands always show it
    }
    assert set(imported("ledger").commands) == {"show", "budget", "period", "apart", "verify"}


def test_help_lists_what_each_command_says_of_itself() -> None:
    for name, line in COMMANDS.items():
        assert imported(name).help.split("\n\n")[0].replace("\n", " ") == line


def test_old_names_still_work_and_are_not_shown(run: Any) -> None:
    shown = run("--help").out
    assert "│ generalize-views " in shown
    for old, new in OLD_COMMANDS.items():
        assert f"│ {old} " not in shown
        assert run(old, "--help").out.split() == run(new, "--help").out.replace(new, old).split()
    for old, new in OLD_OPTIONS.items():
        assert old not in run("assess", "--help").out
        refused = [run("assess", "none.csv", given, "-l", "many").err for given in (f"{old}=a", f"{new}=a")]
        assert refused[0] == refused[1]
        assert "Invalid value for '-l'" in refused[0]
