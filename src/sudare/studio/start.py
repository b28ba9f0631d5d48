"""The first page: open a table, the demo, or a project from before."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import AsyncIterator
from pathlib import Path
from urllib.parse import unquote

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response

from sudare.errors import InputError
from sudare.studio import jobs
from sudare.studio.project import FILE, LEDGER, Project, existing, open_private, projects, touched
from sudare.studio.texts import LANGUAGES
from sudare.studio.visit import LANGUAGE, Studio, Visit, refused_at
from sudare.tables.databases import is_url

DEMO_PEOPLE = 5_000
MAX_NAME = 120
MOST_SHOWN = 30
LATER = 31_536_000


def show(visit: Visit, problem: str | None = None) -> Response:
    """Show what can be opened."""
    home = visit.studio.home
    return visit.render(
        "start",
        status=422 if problem else 200,
        problem=problem,
        projects=projects(home)[:MOST_SHOWN],
        home=home,
        ledger=(home / LEDGER).exists(),
        path=visit.text("path"),
    )


@refused_at(show)
def open_path(visit: Visit) -> Response:
    """Open a file, a folder, a database, or a project file."""
    project = opened(visit.studio, visit.text("path").strip())
    return visit.go(f"/p/{project.id}/roles")


@refused_at(show)
def demo(visit: Visit) -> Response:
    """Open the demo: a synthetic health survey."""
    from sudare import datasets

    project = Project.create(visit.studio.home, "", "demo", "survey")
    file = touched(project.folder / "survey.csv")
    try:
        datasets.health_survey(DEMO_PEOPLE).write_csv(file)
    except OSError:
        shutil.rmtree(project.folder, ignore_errors=True)
        raise
    return visit.go(_begun(visit.studio, project, file))


def opened(studio: Studio, source: str) -> Project:
    """Make a project of a source, or open the one whose file it is."""
    if not source:
        raise InputError("Name a file, such as people.csv, or a database URL.")
    if not is_url(source):
        path = Path(source).expanduser()
        if path.name == FILE:
            return _known(studio, path.parent)
        if (path / FILE).is_file():
            return _known(studio, path)
        if not any(sign in source for sign in "*?["):
            existing(path)
        source = str(path.absolute())
    name = re.sub(r"[?&].*", "", source).rstrip("/").rpartition("/")[2]
    project = Project.create(studio.home, source, "path", name[:MAX_NAME])
    jobs.begin(project, studio)
    return project


def _known(studio: Studio, folder: Path) -> Project:
    """Open a project that was made before; it must lie among the studio's own."""
    if folder.resolve().parent != studio.home.resolve():
        raise InputError(
            f"{folder}: this project belongs to another folder of projects. Start: sudare studio --projects {folder.parent}"
        )
    return Project(studio.home / folder.name)


def _begun(studio: Studio, project: Project, file: Path) -> str:
    with project.changing() as facts:
        facts.source = str(file)
    jobs.begin(project, studio)
    return f"/p/{project.id}/roles"


async def upload(request: Request) -> Response:
    """Take a file from the browser, piece by piece, into a folder that only its owner can look into."""
    studio: Studio = request.app.state.studio
    name = (
        re.sub(r"[^\w.-]+", "_", unquote(request.headers.get("x-name", "")))[-MAX_NAME:].lstrip(".")
        or "table.csv"
    )
    try:
        project = await run_in_threadpool(Project.create, studio.home, "", "upload", name)
    except InputError as error:  # such as a full disk
        return JSONResponse({"error": str(error)}, 507)
    folder = project.folder / "upload"
    folder.mkdir(mode=0o700)
    try:
        await _received(request.stream(), folder / name)
    except OSError as error:
        await run_in_threadpool(shutil.rmtree, project.folder, ignore_errors=True)
        return JSONResponse({"error": f"{name}: {error.strerror}."}, 507)
    return JSONResponse({"to": await run_in_threadpool(_begun, studio, project, folder / name)})


async def _received(pieces: AsyncIterator[bytes], path: Path) -> None:
    with os.fdopen(open_private(path), "wb") as file:
        async for piece in pieces:
            await run_in_threadpool(file.write, piece)


def language(visit: Visit) -> Response:
    """Remember a language, and go back to the page that was being read."""
    back = visit.text("back", "/")
    answer = RedirectResponse(back if re.fullmatch(r"/(?!/)[\w/?=&.-]*", back) else "/", 303)
    chosen = visit.text("language")
    answer.set_cookie(
        LANGUAGE, chosen if chosen in LANGUAGES else "en", LATER, httponly=True, samesite="strict"
    )
    return answer
