"""The run on everything: progress, time left and stop; then what it promises, the report, and what attacks reach."""

from __future__ import annotations

from typing import Any

from starlette.responses import FileResponse, Response

from sudare.progress_shown import amount
from sudare.reports.page import Script
from sudare.studio import code, jobs
from sudare.studio.contingency import drawn
from sudare.studio.project import ANALYSTS, ASSESSMENT, REPORT, Project, now
from sudare.studio.texts import catalogue
from sudare.studio.visit import MissingPageError, Visit, answer
from sudare.studio.work import Job

PAGES = {"report": REPORT, "analysts": ANALYSTS, "assessment": ASSESSMENT}
MANY = 0.1  # people whose value is known, of all: worth a word
POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'; sandbox"
"""Of a report in its frame: it holds its own style, loads nothing, runs nothing, and is of no origin."""


def show(visit: Visit, problem: str | None = None) -> Response:
    """Show how far the run is, or what it made."""
    project = visit.project
    if not project.schema_path.exists():
        return visit.go(visit.at("roles"))
    if project.facts.job is not None and not visit.worker.is_busy:  # the studio ended while it worked
        with project.changing() as facts:
            facts.job = None
        ended = visit.worker.job is None
        problem = problem or (visit.said("failed.restarted") if ended else None)
    return visit.step(
        "run",
        problem,
        found=project.found("run"),
        current=project.is_current("run"),
        known=_known(project.found("run")),
        together=_together(project),
        columns=_both(project, project.found("run")),
        asked=code.making(project.facts.choice, project.folder.parent / "releases.db")[-1],
    )


def _known(found: dict[str, Any] | None) -> list[tuple[str, float]]:
    """Name the sensitive attributes that many people's blocks give away."""
    shares = (found or {}).get("after", {}).get("homogeneity", {})
    return [(name, share) for name, share in shares.items() if share > MANY]


def _together(project: Project) -> dict[str, Any] | None:
    """Return two columns together, as they were counted and drawn; nothing before that was asked for."""
    found = project.found("together")
    if found is None or not project.is_current("together"):
        return None
    lines = code.together(found["columns"])
    return {**found, "pictures": drawn(found), "python": lines}


def together(visit: Visit) -> Response:
    """Count two columns together, before and after."""
    project, columns = visit.project, [visit.text("first"), visit.text("second")]
    found = project.found("run")
    published = [] if found is None or not project.is_current("run") else found["views"]
    if len(published) != 1 or len(set(columns)) != 2 or not set(columns) <= set(_both(project, found)):
        return show(visit, problem=visit.said("together.two"))
    jobs.together(project, visit.worker, columns)
    return visit.go(visit.at("run"))


def _both(project: Project, found: dict[str, Any] | None) -> list[str]:
    """Name the columns that are in the table and in what is published."""
    known = (project.found("read") or {}).get("columns", {})
    views = (found or {}).get("views", [])
    return [name for name in views[0]["columns"] if name in known] if len(views) == 1 else []


def act(visit: Visit) -> Response:
    """Run, or run again."""
    jobs.run(visit.project, visit.worker, (visit.project.found("run") or {}).get("receiver"))
    return visit.go(visit.at("run"))


def stop(visit: Visit) -> Response:
    """Stop what is under way."""
    visit.worker.stop()
    return visit.go(
        visit.request.headers.get("referer", visit.at("run")) if _own_referer(visit) else visit.at("run")
    )


def _own_referer(visit: Visit) -> bool:
    return visit.request.headers.get("referer", "").startswith(f"{visit.request.base_url}p/")


def job(visit: Visit) -> Response:
    """Tell the page's script how far the work is."""
    current = visit.worker.job
    if current is None:
        return answer({"state": "none", "at": now()})
    return answer({"state": current.state, "part": None, **_how_far(visit, current)})


def _how_far(visit: Visit, current: Job) -> dict[str, Any]:
    """Say what is being done, how much of it is done, and how long it has taken and will take."""
    told = {"passed": visit.time(current.passed), "words": _doing(visit, current), "left": ""}
    step = current.step
    if step is None:
        return told
    done = visit.translated(amount(step.done, step.total, step.unit))
    text = f"{told['words']}: {visit.translated(step.text)}, {done}"
    left = "" if step.left is None else visit.said("job.left", time=visit.time(step.left))
    return told | {"part": step.part, "words": text, "left": left}


def _doing(visit: Visit, current: Job) -> str:
    key = f"stage.{current.stage}"
    return visit.said(key if key in catalogue() else f"job.{current.name}")


def report(visit: Visit) -> Response:
    """Serve a report for its frame."""
    which = visit.request.path_params["which"]
    if which not in PAGES or not (visit.project.folder / PAGES[which]).is_file():
        raise MissingPageError
    policy = POLICY
    if which == "analysts":  # which has a script of ours, known by its hash
        policy = f"{POLICY} allow-scripts; script-src '{Script('pview_page.js').hash}'"
    return FileResponse(
        visit.project.folder / PAGES[which],
        media_type="text/html; charset=utf-8",
        headers={"Content-Security-Policy": policy},
    )
