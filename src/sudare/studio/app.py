"""The studio as a web application: which address is which page."""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager
from functools import cache
from importlib import resources
from pathlib import Path

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from sudare.studio import (
    ask,
    assess,
    choose,
    code_page,
    column,
    lattice_page,
    ledger_page,
    risk,
    roles,
    run,
    start,
    trying,
    write,
)
from sudare.studio.guard import Guard
from sudare.studio.project import private
from sudare.studio.visit import Page, Studio, Visit, environment, page

PAGES: dict[str, tuple[Page, Page | None]] = {
    "/": (start.show, None),
    "/ledger": (ledger_page.show, None),
    "/p/{id}/roles": (roles.show, roles.act),
    "/p/{id}/column/{place:int}": (column.show, column.act),
    "/p/{id}/column/{place:int}/arx": (column.arx, None),
    "/p/{id}/risk": (risk.show, risk.again),
    "/p/{id}/assess": (assess.show, assess.act),
    "/p/{id}/choose": (choose.show, choose.act),
    "/p/{id}/lattice": (lattice_page.show, lattice_page.take),
    "/p/{id}/run": (run.show, run.act),
    "/p/{id}/write": (write.show, write.act),
    "/p/{id}/hand-over/{place:int}": (write.hand_over, None),
    "/p/{id}/ask": (ask.show, ask.show),
    "/p/{id}/code": (code_page.show, None),
    "/p/{id}/script": (code_page.script, None),
    "/p/{id}/notebook": (code_page.notebook, None),
    "/p/{id}/project": (code_page.project_file, None),
    "/p/{id}/schema": (code_page.schema_file, None),
    "/p/{id}/job": (run.job, None),
    "/p/{id}/report/{which}": (run.report, None),
}
ACTIONS: dict[str, Page] = {
    "/open": start.open_path,
    "/demo": start.demo,
    "/language": start.language,
    "/ledger/budget": ledger_page.budget,
    "/ledger/apart": ledger_page.apart,
    "/p/{id}/column/{place:int}/levels": column.levels,
    "/p/{id}/explore": lattice_page.explore,
    "/p/{id}/preview": trying.preview,
    "/p/{id}/stop": run.stop,
    "/p/{id}/again": roles.again,
    "/p/{id}/sets": risk.sets,
    "/p/{id}/draw": risk.draw,
    "/p/{id}/together": run.together,
    "/p/{id}/population": risk.population,
    "/p/{id}/undo": roles.undo,
    "/p/{id}/sample": ask.sample,
}
STATIC = {"studio.css": "text/css", "studio.js": "text/javascript", "tree.js": "text/javascript"}


def studio_app(
    home: Path, token: str, *, hosts: Collection[str] | None, password: str | None = None
) -> Starlette:
    """Make the application. `hosts` are the addresses that it answers to, or None where it answers to all."""
    studio = Studio(private(home))

    @asynccontextmanager
    async def living(app: Starlette) -> AsyncIterator[None]:
        yield
        studio.end()

    routes = [Route(path, page(show), methods=["GET"]) for path, (show, _) in PAGES.items()]
    routes += [
        Route(path, page(act), methods=["POST"]) for path, (_, act) in PAGES.items() if act is not None
    ]
    routes += [Route(path, page(act), methods=["POST"]) for path, act in ACTIONS.items()]
    routes += [Route(path, page(_above), methods=["GET"]) for path in ACTIONS]
    routes += [Route("/upload", start.upload, methods=["POST"]), Route("/static/{name}", _static)]
    guard = Middleware(Guard, token=token, hosts=hosts, password=password)
    app = Starlette(routes=routes, middleware=[guard], lifespan=living)
    app.state.studio = studio
    return app


def _above(visit: Visit) -> Response:
    """Go to the page that an action belongs to, where its address is visited: after a refusal it stands in the browser."""
    path = visit.request.url.path
    return visit.go(
        visit.at("roles") if path.startswith("/p/") else "/ledger" if path.startswith("/ledger/") else "/"
    )


async def _static(request: Request) -> Response:
    name = request.path_params["name"]
    if name not in STATIC:
        return Response(status_code=404)
    return Response(
        _content(name), media_type=f"{STATIC[name]}; charset=utf-8", headers={"Cache-Control": "no-cache"}
    )


@cache
def _content(name: str) -> str:
    if name == "studio.css":  # the reports' own style, and what only the studio has
        return environment().get_template("studio/studio.css.jinja").render()
    return resources.files(__package__).joinpath("static", name).read_text("utf-8")
