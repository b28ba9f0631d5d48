"""A column: its role, what is public of it, and its hierarchy, as a tree to be edited, as intervals, or from a file of ARX."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, get_args

from starlette.responses import Response

from sudare.errors import InputError, SudareError
from sudare.studio import jobs
from sudare.studio.chosen import bound
from sudare.studio.levels import hierarchy_of, levels_of
from sudare.studio.project import write_private
from sudare.studio.roles import changed_schema
from sudare.studio.visit import MissingPageError, Visit, in_words, number, refused_at
from sudare.tables.attribute import Attribute
from sudare.tables.hierarchy import Hierarchy
from sudare.tables.numbers_beside import Numbers
from sudare.tables.schema import Schema

KINDS = {
    "integer": ("intervals", "quantiles", "top_bottom", "digits", "mask", "suppress", "tree"),
    "number": ("intervals", "quantiles", "top_bottom", "digits", "suppress"),
    "text": ("tree", "mask", "suppress"),
    "date": ("dates", "ages", "suppress"),
    "datetime": ("dates", "ages", "suppress"),
}
PERIODS = ("day", "week", "month", "quarter", "year", "decade")
MAX_EDITED = 2_000  # values that a tree can be edited of


def show(visit: Visit, problem: str | None = None) -> Response:
    """Show a column with its hierarchy."""
    project = visit.project
    if not project.schema_path.exists():
        return visit.go(visit.at("roles"))
    name, own = _column(visit)
    found = (project.found("read") or {}).get("columns", {}).get(name)
    if found is None:
        return visit.go(visit.at("roles"))
    place = visit.request.path_params["place"]
    return visit.step(
        "column",
        problem,
        column=name,
        place=place,
        own=own,
        about=found,
        kinds=KINDS[found["type"]],
        kind=_kind(own),
        recipe={}
        if own.hierarchy is None or isinstance(own.hierarchy, Hierarchy)
        else own.hierarchy.model_dump(),
        tree=levels_of(project, place, name, own),
        max_edited=MAX_EDITED,
        periods=PERIODS,
        numbers=get_args(Numbers) if own.role == "quasi" and found["type"] in ("integer", "number") else (),
    )


def _column(visit: Visit) -> tuple[str, Attribute]:
    attributes, place = visit.project.schema().attributes, visit.request.path_params["place"]
    if place >= len(attributes):
        raise MissingPageError
    name = list(attributes)[place]
    return name, attributes[name]


def _kind(own: Attribute) -> str:
    if own.hierarchy is None:
        return "none"
    if isinstance(own.hierarchy, Hierarchy) or own.hierarchy.kind in ("groups", "file"):
        return "tree"
    by_people = own.hierarchy.kind == "intervals" and own.hierarchy.quantiles is not None
    return "quantiles" if by_people else own.hierarchy.kind


def levels(visit: Visit) -> Response:
    """Say what values become by the hierarchy in the form, before it is taken over."""
    name, own = _column(visit)
    try:
        tried = levels_of(visit.project, visit.request.path_params["place"], name, _asked(visit, name, own))
    except (SudareError, ValueError) as error:
        return visit.render("levels", problem=in_words(error), tree=None)
    return visit.render("levels", problem=None, tree=tried)


@refused_at(show)
def act(visit: Visit) -> Response:
    """Take the column over."""
    project, place = visit.project, visit.request.path_params["place"]
    name, own = _column(visit)
    schema = project.schema()
    fields = _asked(visit, name, own)
    trial = changed_schema(schema, dict(schema.attributes) | {name: fields})
    hierarchy_of(project, place, name, trial[name])  # what the values do not agree with is refused
    with project.undoable("roles"):
        project.set_schema(trial)
    jobs.read(project, visit.worker)
    return visit.go(f"{visit.at('column')}/{place}")


def _asked(visit: Visit, name: str, own: Attribute) -> Attribute:
    """Read the column as the form has it."""
    fields = {key: getattr(own, key) for key in own.model_fields_set}
    fields["hierarchy"] = _hierarchy(visit, own)
    weight = number(visit.text("weight"), "weight")
    if weight is not None:
        fields["weight"] = weight
    fields["numbers"] = visit.text("numbers") or None
    kind = (visit.project.found("read") or {})["columns"][name]["type"]
    return Schema.from_dict({"attributes": {name: fields | _public(visit, kind, name)}})[name]


def _public(visit: Visit, kind: str, name: str) -> dict[str, Any]:
    """Read what was declared public: bounds, or values."""
    low, high, domain = (visit.text(key).strip() for key in ("low", "high", "domain"))
    found: dict[str, Any] = {"bounds": None, "domain": None}
    if low or high:
        found["bounds"] = (bound(low, kind, name), bound(high, kind, name))
        found["type"] = kind
    elif domain:
        found["domain"] = [line for line in domain.splitlines() if line]
    return found


def _hierarchy(visit: Visit, own: Attribute) -> Any:
    """Read which hierarchy was chosen."""
    kind = visit.text("kind")
    if kind == "none":
        return None
    if kind == "tree":
        if csv := visit.text("arx").strip():
            return _from_arx(visit, csv)
        given = visit.text("tree")
        return own.hierarchy if not given else from_nested(given)
    numbers = {
        key: number(visit.text(key), key)
        for key in ("width", "low-end", "high-end", "fanout", "digits", "quantiles")
    }
    whole = {
        key: int(value) for key in ("fanout", "digits", "quantiles") if (value := numbers[key]) is not None
    }
    if kind == "intervals":
        cuts = [float(part) for part in visit.text("cuts").split(",") if part.strip()]
        by = {"cuts": cuts} if cuts else {"width": numbers["width"] or 1.0}
        return {"kind": kind, **by, "fanout": whole.get("fanout", 2)}
    if kind == "quantiles":
        return {"kind": "intervals", "quantiles": whole.get("quantiles", 8), "fanout": whole.get("fanout", 2)}
    if kind == "dates":
        levels = [one for one in PERIODS if one in visit.form.get("period", [])]
        return {"kind": kind, "levels": levels} if levels else kind
    if kind == "ages":
        born = {"on": visit.text("on"), "width": numbers["width"] or 5.0}
        return {"kind": kind, **born, "fanout": whole.get("fanout", 2)}
    if kind == "top_bottom":
        ends = {"low": numbers["low-end"], "high": numbers["high-end"], "width": numbers["width"]}
        return {"kind": kind, **ends, "fanout": whole.get("fanout", 2)}
    if kind == "digits":
        return {"kind": kind, "digits": whole.get("digits", 3)}
    return kind


def _from_arx(visit: Visit, csv: str) -> Hierarchy:
    path: Path = visit.project.folder / "import.csv"
    write_private(path, csv if csv.endswith("\n") else csv + "\n")
    try:
        return Hierarchy.from_csv(path)
    finally:
        path.unlink(missing_ok=True)


def from_nested(text: str) -> Hierarchy:
    """Make a hierarchy of what the tree editor sends: groups as objects, values as lists.

    >>> from_nested('{"work": ["sales", "farming"], "no work": ["retired"]}').height
    2
    """
    try:
        nested = json.loads(text)
    except ValueError:
        raise InputError("The tree could not be read. Load the page again.") from None
    if not isinstance(nested, dict):
        raise InputError("The tree has no groups. Make one, and put values into it.")
    return Hierarchy.from_tree(nested)


def arx(visit: Visit) -> Response:
    """Send the hierarchy as a file of ARX."""
    name, own = _column(visit)
    hierarchy = hierarchy_of(visit.project, visit.request.path_params["place"], name, own)
    if hierarchy is None:
        raise MissingPageError
    named = {"Content-Disposition": 'attachment; filename="hierarchy.csv"'}
    return Response(hierarchy.to_csv(), media_type="text/csv; charset=utf-8", headers=named)
