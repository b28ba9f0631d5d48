"""Try a setting on the sample, and remember what came of it."""

from __future__ import annotations

import threading
from typing import Any

from starlette.responses import Response

from sudare.errors import InputError
from sudare.studio import jobs
from sudare.studio.choices import Choice, Generalizing
from sudare.studio.chosen import chosen
from sudare.studio.curve import curve
from sudare.studio.project import Project, Tried
from sudare.studio.visit import MissingPageError, Visit, in_words, job_in_words

SHOWN_BY = {"generalize": "previewed", "randomize": "law_previewed", "pview": "noise_previewed"}
PATIENCE = 120.0  # seconds that a preview may take
_latest: dict[str, int] = {}
_order = threading.Lock()


def tried_now(project: Project, way: str) -> list[Tried]:
    """Return what was tried of a way with the schema as it stands, the most careful last."""
    stamp = project.schema_stamp()
    mine = [one for one in project.facts.tried if way_of(one) == way and one.settings.get("schema") == stamp]
    return sorted(mine, key=lambda one: -one.risk)


def way_of(one: Tried) -> str:
    """Return the way to publish that was tried."""
    return str(one.settings.get("way", "generalize"))


def preview(visit: Visit) -> Response:
    """Try a setting on the sample, and return the picture with it."""
    project = visit.project
    with _order:
        mine = _latest[project.id] = _latest.get(project.id, 0) + 1
    way = visit.text("way", "generalize")
    if way not in SHOWN_BY:
        raise MissingPageError
    try:
        choice = chosen(visit)
    except (InputError, ValueError) as error:
        return _previewed(visit, way, problem=in_words(error))
    worker = visit.studio.previewer(project)
    while (busy := worker.job) is not None and worker.is_busy:
        busy.ended.wait(PATIENCE)
        if _latest[project.id] != mine:
            return Response(status_code=204)  # another setting is wanted by now
    show_by = "bounded" if visit.text("bound") and way == "generalize" else SHOWN_BY[way]
    job = worker.start("preview", jobs.preview_cells(project, choice), show_by, {})
    if job is None:
        return Response(status_code=204)
    if not job.ended.wait(PATIENCE):
        worker.stop()
    if job.error is not None or job.found is None:
        return _previewed(visit, way, problem=job_in_words(visit, job))
    name = job.found["asked"] + (_more(choice.generalize) if way == "generalize" else "")
    try:
        _remember(project, name, choice, job.found)
    except InputError as error:  # such as a full disk
        return _previewed(visit, way, problem=in_words(error))
    return _previewed(visit, way, name="" if visit.text("other") else name, found=job.found)


def _more(asked: Generalizing) -> str:
    """Return what else tells a setting from others: which share may be left out, and at which levels."""
    left_out = f", {asked.suppress:.1%}" if asked.suppress else ""
    return left_out + (
        f" ({', '.join(f'{name} {level}' for name, level in asked.taken.items())})" if asked.taken else ""
    )


def _remember(project: Project, name: str, choice: Choice, found: dict[str, Any]) -> None:
    settings = choice.of_way() | {"schema": project.schema_stamp()}
    before = next((tried for tried in tried_now(project, choice.way) if tried.asked == name), None)
    if "bound" in found:
        if before is not None:
            project.remember_tried(
                before.model_copy(update={"settings": before.settings | {"bound": found["bound"]}})
            )
        return
    if before is not None:
        settings |= {"bound": before.settings.get("bound")}
    project.remember_tried(
        Tried(asked=name, settings=settings, risk=found["risk"], distortion=found["distortion"])
    )


def _previewed(
    visit: Visit,
    way: str,
    *,
    problem: str | None = None,
    name: str = "",
    found: dict[str, Any] | None = None,
) -> Response:
    tried = tried_now(visit.project, way)
    now = next((one for one in tried if one.asked == name), None)
    rows = (visit.project.found("read") or {}).get("rows", 0)
    picture = curve(tried, visit.language, way, now)
    values = {"way": way, "now": now, "found": found, "tried": tried, "picture": picture, "rows": rows}
    return visit.render("preview", problem=problem, **values)
