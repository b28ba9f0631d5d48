"""What can be promised: bounds, advice and the ratio, as pictures."""

from __future__ import annotations

from starlette.responses import Response

from sudare.studio import code, jobs
from sudare.studio.visit import Visit


def show(visit: Visit, problem: str | None = None) -> Response:
    """Show what an assessment says, or offer to make one."""
    project = visit.project
    if not project.schema_path.exists():
        return visit.go(visit.at("roles"))
    return visit.step(
        "assess",
        problem,
        attribute=code.sensitive_attribute(project),
        quasi=project.schema().names("quasi"),
        found=project.found("assess"),
        current=project.is_current("assess"),
    )


def act(visit: Visit) -> Response:
    """Assess the table."""
    if code.sensitive_attribute(visit.project) is not None:
        jobs.assess(visit.project, visit.worker)
    return visit.go(visit.at("assess"))
