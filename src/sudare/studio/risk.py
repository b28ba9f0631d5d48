"""Who stands out: the risk before anything is done, in the table and in the population behind it, and by which columns."""

from __future__ import annotations

from pathlib import Path

from starlette.responses import Response

from sudare.errors import InputError
from sudare.studio import code, jobs
from sudare.studio.commands import commands
from sudare.studio.project import existing
from sudare.studio.visit import Visit, number, refused_at
from sudare.tables.attribute import Role

MOST_DIGITS = 6  # of a number of columns


def show(visit: Visit, problem: str | None = None) -> Response:
    """Show how many people are alone with what others may know of them."""
    project = visit.project
    if not project.schema_path.exists():
        return visit.go(visit.at("roles"))
    current = project.is_current("read")
    failed = (
        visit.worker.job is not None
        and visit.worker.job.name == "read"
        and visit.worker.job.state == "failed"
    )
    if not current and not visit.worker.is_busy and not failed:
        jobs.read(project, visit.worker)
    if current:
        visit.warm_up()
    return visit.step(
        "risk",
        problem,
        found=project.found("read") if current else None,
        sets=project.found("sets") if project.is_current("sets") else None,
        among=project.found("population") if project.is_current("population") else None,
        quasi=len(project.schema().names(Role.quasi)),
        weighted=bool(project.schema().names(Role.weight)),
        python=[*code.risking(), *code.telling_apart(project), *code.among(project)],
        command=commands(project)["sets"],
    )


def again(visit: Visit) -> Response:
    """Read the table again."""
    jobs.read(visit.project, visit.worker)
    return visit.go(visit.at("risk"))


@refused_at(show)
def sets(visit: Visit) -> Response:
    """Find the sets of columns by which people are alone."""
    project = visit.project
    quasi, text = len(project.schema().names(Role.quasi)), visit.text("columns", "3")
    if not (text.isdecimal() and len(text) < MOST_DIGITS and int(text) >= 1):
        raise InputError(visit.said("risk.wrong_columns"))
    if (columns := min(int(text), max(quasi, 1))) != project.facts.columns_together:
        with project.changing() as facts:
            facts.columns_together = columns
    jobs.sets(project, visit.worker)
    return visit.go(visit.at("risk"))


@refused_at(show)
def draw(visit: Visit) -> Response:
    """Draw a share of the people at random, and go on with these."""
    share = number(visit.text("part"), "%")
    if share is None or not 0 < share < 100:
        raise InputError(visit.said("draw.wrong_share"))
    jobs.draw(visit.project, visit.worker, share / 100)
    return visit.go(visit.at("risk"))


@refused_at(show)
def population(visit: Visit) -> Response:
    """Take over what is known of the population behind the table, and look for people in it."""
    project = visit.project
    share, people = number(visit.text("share"), "%"), file_of(visit.text("population"))
    if share is not None and not 0 < share <= 100:
        raise InputError(visit.said("risk.wrong_share"))
    if share is None and people is None and not project.schema().names(Role.weight):
        raise InputError(visit.said("risk.no_population"))
    with project.undoable("risk"), project.changing() as facts:
        facts.sampling_fraction = None if share is None else share / 100
        facts.population = people
    jobs.among(project, visit.worker)
    return visit.go(visit.at("risk"))


def file_of(text: str) -> str | None:
    """Return the file that a form names, in full; nothing, if the field is empty."""
    if not text.strip():
        return None
    return str(existing(Path(text.strip()).expanduser().absolute()))
