"""Choose how to publish: coarser values, several views, a known law, or a p-view; with what a sample says of it at once."""

from __future__ import annotations

import threading
from datetime import date, datetime
from typing import Any, get_args

from starlette.responses import Response

from sudare.errors import InputError
from sudare.privacy.beta_likeness import Likeness
from sudare.studio import jobs
from sudare.studio.choices import (
    WAYS,
    Choice,
    Closeness,
    GeneralizationMethod,
    Generalizing,
    Materializing,
    Randomizing,
    Viewing,
    Way,
)
from sudare.studio.curve import curve
from sudare.studio.project import Project, Tried
from sudare.studio.risk import file_of
from sudare.studio.roles import changed_schema
from sudare.studio.visit import MissingPageError, Visit, in_words, job_in_words, number, refused_at
from sudare.tables.attribute import UNITS, Role
from sudare.utility.classifier import MAX_VALUES

KINDS = ("distinct", "entropy", "recursive", "proximity")
ASKABLE = ("k", "l", "t", "beta", "disclosure", "k-map", "d-max")
OF_VALUES = {"l", "t", "beta", "disclosure"}
"""What is asked of the values of one sensitive column."""
LADDERS: dict[str, tuple[str, tuple[float, ...]]] = {
    "generalize": ("k", (2, 3, 5, 10, 20, 50)),
    "randomize": ("epsilon", (0.5, 1, 2, 4, 8)),
    "pview": ("epsilon", (0.1, 0.3, 1, 3)),
}
"""Settings that are tried first, by what they are called, so that there is a curve."""
SHOWN_BY = {"generalize": "previewed", "randomize": "law_previewed", "pview": "noise_previewed"}
MAX_VIEWS = 6
PATIENCE = 120.0  # seconds that a preview may take
_latest: dict[str, int] = {}
_order = threading.Lock()


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
            way = _way_of(one)
            own = type(getattr(choice, way)).model_validate(one.settings)
            return choice.model_copy(update={way: own})
    return choice


def _views_shown(project: Project, quasi: list[str]) -> list[tuple[str, list[str]]]:
    chosen = list(project.facts.choice.views.views.items())
    if not chosen:
        half = (len(quasi) + 1) // 2
        chosen = [("first", quasi[:half]), ("second", quasi[half:])]
    return [*chosen, *([("", [])] * (min(MAX_VIEWS, len(chosen) + 1) - len(chosen)))]


def undeclared(project: Project, way: Way) -> list[str]:
    """Return the columns of which a way must know what values they can have, and does not."""
    if way not in ("randomize", "pview"):
        return []
    schema = project.schema()
    needed = (
        schema.names("quasi") + schema.names("sensitive") if way == "randomize" else list(schema.attributes)
    )
    return [
        name
        for name in schema.attributes
        if name in needed
        and schema[name].role not in (Role.identifier, *UNITS)
        and schema[name].domain is None
        and schema[name].bounds is None
    ]


@refused_at(show)
def act(visit: Visit) -> Response:
    """Take the choice over, and begin the run."""
    project = visit.project
    way = visit.text("way")
    with project.undoable("choose"):
        if way in ("randomize", "pview"):
            _declare(visit, undeclared(project, way))  # type: ignore[arg-type]
        choice = chosen(visit)
        with project.changing() as facts:
            facts.choice = choice
    jobs.run(project, visit.worker, visit.text("receiver").strip() or None)
    return visit.go(visit.at("run"))


def chosen(visit: Visit) -> Choice:
    """Read what a form chose; the other ways stay as they were."""
    before, way = visit.project.facts.choice, visit.text("way")
    if way == "views":
        part: Any = _views(visit)
    elif way == "randomize":
        fields: dict[str, Any] = {"promise": visit.text("promise", "pk"), "bins": _with_gaps(visit.project)}
        part = Randomizing(**fields, **_given(visit, {"k": "k", "epsilon": "epsilon"}))
    elif way == "pview":
        part = Materializing(**_given(visit, {"epsilon": "epsilon", "delta": "delta"}))
    else:
        way, part = "generalize", generalizing(visit)
    return before.model_copy(update={"way": way, way: part})


def _with_gaps(project: Project) -> list[str]:
    """Name the numbers and dates that would be randomized, and of which some are missing."""
    columns, schema = (project.found("read") or {}).get("columns", {}), project.schema()
    names = schema.names("quasi") + schema.names("sensitive")
    return [
        name
        for name, about in columns.items()
        if name in names and about["missing"] and about["type"] != "text"
    ]


def _given(visit: Visit, fields: dict[str, str]) -> dict[str, Any]:
    numbers = {key: number(visit.text(name), name) for key, name in fields.items()}
    return {key: value for key, value in numbers.items() if value is not None}


def generalizing(visit: Visit) -> Generalizing:
    """Read what was asked of blocks."""
    asked = {name for name in ASKABLE if visit.text(f"with-{name}")}
    if not asked:
        raise InputError(visit.said("choose.nothing"))
    values = {name: number(visit.text(name), name) for name in (*ASKABLE, "c", "within", "d-min")}
    counted = asked & {"k-map", "d-max"}
    people = file_of(visit.text("population")) if counted else None
    if counted and people is None:
        raise InputError(visit.said("choose.no_population"))
    suppress = number(visit.text("suppress", "0"), "suppress") or 0.0
    return Generalizing.model_validate(
        {
            "k": values["k"] if "k" in asked else None,
            "l": values["l"] if "l" in asked else None,
            "t": values["t"] if "t" in asked else None,
            "k_map": values["k-map"] if "k-map" in asked else None,
            "population": people,
            "d_max": values["d-max"] if "d-max" in asked else None,
            "d_min": (values["d-min"] or 0.0) if "d-max" in asked else 0.0,
            "beta": values["beta"] if "beta" in asked else None,
            "likeness": visit.text("likeness", "enhanced"),
            "disclosure": values["disclosure"] if "disclosure" in asked else None,
            "distance": visit.text("distance", "equal"),
            "predict": visit.text("predict") or None,
            "c": values["c"] if visit.text("diversity") == "recursive" else None,
            "diversity": visit.text("diversity", "distinct"),
            "within": values["within"] if visit.text("diversity") == "proximity" else None,
            "relative": bool(visit.text("relative")),
            "harmless": [line for line in visit.text("harmless").splitlines() if line]
            if "l" in asked
            else [],
            "attribute": visit.text("attribute") or None if asked & OF_VALUES else None,
            "suppress": suppress / 100,
            "method": visit.text("method", "minimal"),
            "effort": visit.text("effort", "quick"),
        }
    )


def _views(visit: Visit) -> Viewing:
    views = {}
    for place in range(MAX_VIEWS):
        columns, name = visit.form.get(f"view-{place}", []), visit.text(f"name-{place}").strip()
        if columns:
            name = name or f"view{place + 1}"
            if name in views:
                raise InputError(f"Two views are called '{name}'. Give each a name of its own.")
            views[name] = columns
    if not views:
        raise InputError(visit.said("choose.no_views"))
    asked = {"views": views, "l": number(visit.text("l"), "l"), "kind": visit.text("kind", "distinct")}
    return Viewing.model_validate(asked | {"attribute": visit.text("attribute") or None})


def _declare(visit: Visit, names: list[str]) -> None:
    """Take over what a person declared public: bounds, or values."""
    project = visit.project
    if not names:
        return
    schema, columns = project.schema(), (project.found("read") or {}).get("columns", {})
    attributes: dict[str, Any] = dict(schema.attributes)
    for place, name in enumerate(schema.attributes):
        if name not in names:
            continue
        own = schema[name]
        fields = {key: getattr(own, key) for key in own.model_fields_set}
        if visit.text(f"drop-{place}"):
            attributes[name] = {"role": "identifier"}
            continue
        if not visit.text(f"public-{place}"):
            raise InputError(visit.said("choose.not_public", name=name))
        kind = columns.get(name, {}).get("type", "text")
        if visit.text(f"domain-{place}").strip():
            fields["domain"] = [line for line in visit.text(f"domain-{place}").splitlines() if line]
        else:
            fields["bounds"] = tuple(
                _bound(visit.text(f"{end}-{place}"), kind, name) for end in ("low", "high")
            )
        attributes[name] = fields | {"type": own.type or kind}
    project.set_schema(changed_schema(schema, attributes))
    with project.changing() as facts:
        facts.roles_seen = project.schema_stamp()


def _bound(text: str, kind: str, name: str) -> Any:
    try:
        if kind == "integer":
            return int(text)
        if kind == "date":
            return date.fromisoformat(text)
        return datetime.fromisoformat(text) if kind == "datetime" else float(text)
    except ValueError:
        raise InputError(f"A bound of '{name}' must be of the type {kind}. Got '{text}' instead.") from None


# -- Live preview ------------------------------------------------------------------------------------


def tried_now(project: Project, way: str) -> list[Tried]:
    """Return what was tried of a way with the schema as it stands, the most careful last."""
    stamp = project.schema_stamp()
    mine = [one for one in project.facts.tried if _way_of(one) == way and one.settings.get("schema") == stamp]
    return sorted(mine, key=lambda one: -one.risk)


def _way_of(one: Tried) -> str:
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
    left_out = choice.generalize.suppress if way == "generalize" else 0.0
    name = job.found["asked"] + (f", {left_out:.1%}" if left_out else "")
    try:
        _remember(project, name, choice, job.found)
    except InputError as error:  # such as a full disk
        return _previewed(visit, way, problem=in_words(error))
    return _previewed(visit, way, name="" if visit.text("other") else name, found=job.found)


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
