"""Who stands out: the risk before anything is done."""

from __future__ import annotations

from starlette.responses import Response

from sudare.studio import jobs
from sudare.studio.visit import Visit


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
    return visit.step("risk", problem, found=project.found("read") if current else None)


def again(visit: Visit) -> Response:
    """Read the table again."""
    jobs.read(visit.project, visit.worker)
    return visit.go(visit.at("risk"))
