"""Choose how to publish: coarser values, several views, a known law, or a p-view; with what a sample says of it at once."""

from __future__ import annotations

from typing import get_args

from starlette.responses import Response

from sudare.privacy.beta_likeness import Likeness
from sudare.studio import jobs
from sudare.studio.choices import WAYS, Choice, Closeness, GeneralizationMethod, Way
from sudare.studio.chosen import MAX_VIEWS, chosen, declare, undeclared
from sudare.studio.curve import curve
from sudare.studio.project import Project
from sudare.studio.trying import tried_now, way_of
from sudare.studio.visit import Visit, refused_at
from sudare.utility.classifier import MAX_VALUES

KINDS = ("distinct", "entropy", "recursive", "proximity")
LADDERS: dict[str, tuple[str, tuple[float, ...]]] = {
    "generalize": ("k", (2, 3, 5, 10, 20, 50)),
    "randomize": ("epsilon", (0.5, 1, 2, 4, 8)),
    "pview": ("epsilon", (0.1, 0.3, 1, 3)),
}
"""Settings that are tried first, by what they are called, so that there is a curve."""


def show(visit: Visit, problem: str | None = None) -> Response:
    """Show the way that was chosen, and the others."""
    project = visit.project
    if not project.schema_path.exists() or project.found("read") is None:
        return visit.go(visit.at("roles"))
    if not project.is_current("read") and not visit.worker.is_busy:
        jobs.read(project, visit.worker)
    asked = visit.request.query_params.get("way", project.facts.choice.way)
    way: Way = next((one for one in WAYS if one == asked), "generalize")
    schema = project.schema()
    quasi, sensitive = schema.names("quasi"), schema.names("sensitive")
    return visit.step(
        "choose",
        problem,
        way=way,
        ways=WAYS,
        choice=_taken(visit, project.facts.choice),
        quasi=quasi,
        sensitive=sensitive,
        kinds=KINDS,
        methods=get_args(GeneralizationMethod),
        distances=get_args(Closeness),
        likenesses=get_args(Likeness),
        predictable=_predictable(project),
        found=project.found("read"),
        views=_views_shown(project, quasi),
        undeclared=undeclared(project, way),
        attributes=schema.attributes,
        tried=tried_now(project, way),
        picture=curve(tried_now(project, way), visit.language, way),
        ladder=_ladder(way),
        ready=project.is_current("read"),
    )


def _predictable(project: Project) -> list[str]:
    """Name the columns that models can be asked to predict: sensitive and other ones, of not too many values."""
    columns, schema = (project.found("read") or {}).get("columns", {}), project.schema()
    return [
        name
        for name in (*schema.names("sensitive"), *schema.names("other"))
        if name in columns and 1 < columns[name]["distinct"] <= MAX_VALUES
    ]


def _ladder(way: Way) -> list[dict[str, str]]:
    """Return the fields of a form that ask for each setting that is tried first."""
    if way not in LADDERS:
        return []
    name, values = LADDERS[way]
    more = {
        "generalize": {"with-k": "1"} | {f"with-{name}": "" for name in ("l", "t", "beta", "disclosure")},
        "randomize": {"promise": "epsilon"},
    }
    return [more.get(way, {}) | {name: f"{value:g}"} for value in values]


def _taken(visit: Visit, choice: Choice) -> Choice:
    """Return what was chosen, or in its place a setting that was tried and that the address names."""
    asked = visit.request.query_params.get("tried")
    for one in tried_now(visit.project, visit.request.query_params.get("way", "generalize")):
        if one.asked == asked:
            way = way_of(one)
            own = type(getattr(choice, way)).model_validate(one.settings)
            return choice.model_copy(update={way: own})
    return choice


def _views_shown(project: Project, quasi: list[str]) -> list[tuple[str, list[str]]]:
    chosen = list(project.facts.choice.views.views.items())
    if not chosen:
        half = (len(quasi) + 1) // 2
        chosen = [("first", quasi[:half]), ("second", quasi[half:])]
    return [*chosen, *([("", [])] * (min(MAX_VIEWS, len(chosen) + 1) - len(chosen)))]


@refused_at(show)
def act(visit: Visit) -> Response:
    """Take the choice over, and begin the run."""
    project = visit.project
    way = visit.text("way")
    with project.undoable("choose"):
        if way in ("randomize", "pview"):
            declare(visit, undeclared(project, way))  # type: ignore[arg-type]
        choice = chosen(visit)
        with project.changing() as facts:
            facts.choice = choice
    jobs.run(project, visit.worker, visit.text("receiver").strip() or None)
    return visit.go(visit.at("run"))
