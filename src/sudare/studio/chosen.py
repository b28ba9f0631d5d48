"""What the form of a page chose: a way to publish, by which numbers, and what values there can be."""

from __future__ import annotations

from datetime import date, datetime
from typing import Any

from pydantic_core import from_json

from sudare.errors import InputError
from sudare.studio.choices import Choice, Generalizing, Materializing, Randomizing, Viewing, Way
from sudare.studio.project import Project
from sudare.studio.risk import file_of
from sudare.studio.roles import changed_schema
from sudare.studio.visit import Visit, number
from sudare.tables.attribute import UNITS, Role

MAX_VIEWS = 6
ASKABLE = ("k", "l", "t", "beta", "disclosure", "k-map", "d-max")
OF_VALUES = {"l", "t", "beta", "disclosure"}
"""What is asked of the values of one sensitive column."""


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
            "levels": from_json(visit.text("levels") or "null"),
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


def declare(visit: Visit, names: list[str]) -> None:
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
                bound(visit.text(f"{end}-{place}"), kind, name) for end in ("low", "high")
            )
        attributes[name] = fields | {"type": own.type or kind}
    project.set_schema(changed_schema(schema, attributes))
    with project.changing() as facts:
        facts.roles_seen = project.schema_stamp()


def bound(text: str, kind: str, name: str) -> Any:
    """Read an end of what values there can be."""
    try:
        if kind == "integer":
            return int(text)
        if kind == "date":
            return date.fromisoformat(text)
        return datetime.fromisoformat(text) if kind == "datetime" else float(text)
    except ValueError:
        raise InputError(f"A bound of '{name}' must be of the type {kind}. Got '{text}' instead.") from None


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
