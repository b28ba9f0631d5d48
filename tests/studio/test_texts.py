"""One catalogue has every text, in every language, and nothing that nobody says."""

from __future__ import annotations

import re
from importlib import resources
from string import Formatter
from typing import get_args

from sudare.studio import choices, choose, column, roles, run
from sudare.studio.texts import LANGUAGES, catalogue
from sudare.studio.walk import STEPS
from sudare.tables.numbers_beside import Numbers

SOURCES = "".join(
    file.read_text("utf-8")
    for folder in (resources.files("sudare.studio"), resources.files("sudare.studio").joinpath("templates"))
    for file in folder.iterdir()
    if file.name.endswith((".py", ".jinja"))
)
FAMILIES = {
    "step": [*STEPS, "open", "ask", "code", "column", "lattice"],
    "standing": ["done", "changed"],
    "role": roles.ROLES,
    "role.text": roles.ROLES,
    "way": choices.WAYS,
    "way.text": choices.WAYS,
    "diversity": [*choose.KINDS, *get_args(choices.MultiViewKind)],
    "method": get_args(choices.GeneralizationMethod),
    "effort": get_args(choices.Effort),
    "kind": ["none", *(kind for kinds in column.KINDS.values() for kind in kinds)],
    "distance": get_args(choices.Closeness),
    "likeness": get_args(choices.Likeness),
    "numbers": ["none", *get_args(Numbers)],
    "period": column.PERIODS,
    "job": ["draft", "read", "sets", "draw", "lattice", "population", "together", "assess", "run", "write"],
    "together": ["first", "second"],
    "tried": choose.LADDERS,
    "curve.risk": choose.LADDERS,
    "curve.loss": choose.LADDERS,
    "stage": [
        "draft",
        "table",
        "draw",
        "lattice",
        "risk",
        "read",
        "assessment",
        "release",
        "attacks",
        "released",
        "writing",
    ],
    "failed": ["stopped", "gone", "killed", "memory", "disk", "system", "unexpected", "restarted"],
    "attack": ["reidentification", "homogeneity", "background", "skewness"],
    "reached": ["largest", "marketer", "at_risk", "homogeneity", "background"],
}


def said() -> set[str]:
    """Return all keys that code and pages ask for."""
    plain = set(re.findall(r"""said\(\s*["']([a-z_.-]+)["']\s*[,)]""", SOURCES))
    words = {f"word.{key}" for key in re.findall(r"""word\(["']([a-z-]+)["']\)""", SOURCES)}
    families = {f"{family}.{key}" for family, keys in FAMILIES.items() for key in keys}
    return plain | words | families | {f"word.{way}" for way in choices.WAYS}


def test_every_text_that_is_said_is_there_and_no_other() -> None:
    assert said() == set(catalogue())


def test_languages_say_the_same_with_the_same_values() -> None:
    for key, texts in catalogue().items():
        assert list(texts) == list(LANGUAGES), key
        values = [{name for _, name, _, _ in Formatter().parse(text) if name} for text in texts.values()]
        assert values[0] == values[1], key
        assert all(text.strip() == text and text for text in texts.values()), key


def test_pages_have_no_text_of_their_own() -> None:
    """Between tags there is only what the catalogue or the data say."""
    folder = resources.files("sudare.studio").joinpath("templates")
    names = {"Sudare", "SQL", "Python", "hand-over", "keep"}
    for file in folder.iterdir():
        if not file.name.endswith(".html.jinja"):
            continue
        text = re.sub(r"{#.*?#}|{%.*?%}|{{.*?}}", "", file.read_text("utf-8"), flags=re.DOTALL)
        for piece in re.findall(r">([^<>]+)<", text):
            assert set(re.findall(r"[A-Za-z-]{3,}", piece)) <= names, (file.name, piece)


def test_run_serves_known_pages_only() -> None:
    assert set(run.PAGES) == {"report", "analysts", "assessment"}
