"""The walk: its steps in their order, and how each of them stands."""

from __future__ import annotations

from typing import Literal, NamedTuple

from sudare.studio.project import Project

Standing = Literal["done", "changed", "open"]
STEPS = ("roles", "risk", "assess", "choose", "run", "write")
"""Each has a page; the file is opened on the first page of all."""
FINDS = {"risk": "read", "assess": "assess", "run": "run", "write": "write"}
"""Which result a step leaves."""


class State(NamedTuple):
    """A step, its place in the walk, and how it stands."""

    name: str
    place: int
    standing: Standing


def standing(project: Project, step: str) -> Standing:
    """Say whether a step is done, was done before something else was changed, or is open."""
    facts = project.facts
    if step == "roles":
        if facts.roles_seen is None:
            return "open"
        return "done" if facts.roles_seen == project.schema_stamp() else "changed"
    if step == "choose":
        return "done" if facts.tried or "run" in facts.results else "open"
    result = FINDS[step]
    if project.found(result) is None or (step == "risk" and facts.roles_seen is None):
        return "open"
    return "done" if project.is_current(result) else "changed"


def states(project: Project) -> list[State]:
    """Return how all steps stand."""
    return [State(name, place, standing(project, name)) for place, name in enumerate(STEPS, start=2)]
