"""Roles: what each column is, drafted with a reason, for a person to decide."""

from __future__ import annotations

from typing import Any

from starlette.responses import Response

from sudare.studio import jobs
from sudare.studio.visit import Visit, refused_at
from sudare.tables.attribute import UNITS, Attribute, Role
from sudare.tables.schema import Schema

ROLES = [str(role) for role in Role]


def show(visit: Visit, problem: str | None = None) -> Response:
    """Show every column with its role, and why."""
    project = visit.project
    has_schema = project.schema_path.exists()
    if not visit.worker.is_busy and (not has_schema or project.found("read") is None):
        failed = visit.worker.job is not None and visit.worker.job.state == "failed"
        if not failed:
            (jobs.read if has_schema else jobs.draft)(project, visit.worker)
    found = project.found("read")
    ready = has_schema and found is not None
    if project.is_current("read"):
        visit.warm_up()
    return visit.step(
        "roles",
        problem,
        ready=ready,
        attributes=project.schema().attributes if ready else {},
        found=found,
        roles=ROLES,
        python=[],
    )


def again(visit: Visit) -> Response:
    """Open the table again, where that failed before."""
    project = visit.project
    (jobs.read if project.schema_path.exists() else jobs.draft)(project, visit.worker)
    return visit.go(visit.at("roles"))


def undo(visit: Visit) -> Response:
    """Undo the last change of the project, and show the step that it was made in."""
    step = None if visit.worker.is_busy else visit.project.undo()
    return visit.go(visit.at(step or "roles"))


@refused_at(show)
def act(visit: Visit) -> Response:
    """Take the roles over, and go on."""
    project = visit.project
    schema = project.schema()
    names = list(schema.attributes)
    roles = {name: visit.text(f"role-{place}", str(schema[name].role)) for place, name in enumerate(names)}
    if roles != {name: str(schema[name].role) for name in names}:
        with project.undoable("roles"):
            project.set_schema(with_roles(schema, roles))
    with project.changing() as facts:
        facts.roles_seen = project.schema_stamp()
    return visit.go(visit.at("risk"))


def with_roles(schema: Schema, roles: dict[str, str]) -> Schema:
    """Return a schema with other roles; what only another role can have is dropped.

    >>> str(with_roles(Schema.from_roles(weight=["w"]), {"w": "other"})["w"].role)
    'other'
    """
    attributes = {}
    for name, own in schema.attributes.items():
        role = roles.get(name, str(own.role))
        attributes[name] = own if role == own.role else _changed(own, role)
    return changed_schema(schema, attributes)


def _changed(own: Attribute, role: str) -> dict[str, Any]:
    fields: dict[str, Any] = {key: getattr(own, key) for key in own.model_fields_set} | {"role": role}
    if role != Role.weight:
        fields.pop("known", None)
    if role not in UNITS:
        fields.pop("linked", None)
        fields.pop("most_rows", None)
    if own.role == Role.weight and role != Role.weight:
        fields.pop("hierarchy", None)
    return fields


def changed_schema(schema: Schema, attributes: dict[str, Any]) -> Schema:
    """Return a schema with other attributes, checked as a whole."""
    fields = {key: getattr(schema, key) for key in type(schema).model_fields}
    return Schema.from_dict(fields | {"attributes": attributes})
