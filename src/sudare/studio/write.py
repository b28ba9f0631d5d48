"""Hand over: write the release, record it in the ledger, and verify the files."""

from __future__ import annotations

import zipfile
from pathlib import Path

from starlette.responses import FileResponse, Response

from sudare.errors import InputError
from sudare.studio import jobs
from sudare.studio.project import LEDGER, touched
from sudare.studio.visit import MissingPageError, Visit, refused_at
from sudare.tables.atomic import refuse_unwritable
from sudare.tables.copies import formats_given
from sudare.tables.folders import HAND_OVER, MARK

FORMATS = ("xlsx", "ods", "dta", "sav", "json")


def show(visit: Visit, problem: str | None = None) -> Response:
    """Show where it goes, and what was handed over before."""
    project = visit.project
    if project.found("run") is None:
        return visit.go(visit.at("run"))
    return visit.step(
        "write",
        problem,
        found=project.found("write"),
        current=project.is_current("write"),
        run=project.found("run"),
        run_current=project.is_current("run"),
        folder=visit.text("folder") or str(project.next_release()),
        ledger=str(project.folder.parent / LEDGER),
        formats=FORMATS,
    )


@refused_at(show)
def act(visit: Visit) -> Response:
    """Write it."""
    project = visit.project
    if not project.is_current("run"):
        raise InputError(visit.said("write.stale"))
    given = visit.text("folder").strip()
    if not given:
        raise InputError(visit.said("write.no_folder"))
    folder = Path(given).expanduser().absolute()
    refuse_unwritable(folder, mark=MARK)
    way = project.facts.choice.way
    ledger = project.folder.parent / LEDGER if visit.text("ledger") or way == "pview" else None
    receiver = visit.text("receiver").strip() or None
    if receiver and ledger is None:
        raise InputError(visit.said("write.receiver_needs_ledger"))
    formats = formats_given(visit.form.get("format", []) if way != "pview" else [], "write")
    jobs.write(project, visit.worker, folder, ledger, receiver, formats)
    return visit.go(visit.at("write"))


def hand_over(visit: Visit) -> Response:
    """Serve what is handed over, and nothing else, as one archive."""
    releases, place = visit.project.facts.releases, visit.request.path_params["place"]
    if not place < len(releases):
        raise MissingPageError
    folder = Path(releases[place]["folder"]) / HAND_OVER
    if not folder.is_dir():
        raise MissingPageError
    path = visit.project.folder / f"hand-over-{place + 1}.zip"
    with (
        touched(path).open("wb") as packed,
        zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive,
    ):
        for file in sorted(folder.iterdir()):
            archive.write(file, f"{HAND_OVER}/{file.name}")
    return FileResponse(path, media_type="application/zip", filename=f"{HAND_OVER}.zip")
