"""Every step is code: the commands and the Python that do the same, as a script that runs, and the project file."""

from __future__ import annotations

import json
from pathlib import Path

from starlette.responses import FileResponse, Response

from sudare.studio import code
from sudare.studio.commands import commands
from sudare.studio.notebook import notebook as made_notebook
from sudare.studio.project import FILE, LEDGER, Project
from sudare.studio.visit import Visit


def show(visit: Visit) -> Response:
    """Show all steps as code."""
    project = visit.project
    if not project.schema_path.exists():
        return visit.go(visit.at("roles"))
    return visit.step("code", None, steps=steps(project), commands=commands(project, *_written(project)))


def steps(project: Project) -> dict[str, list[str]]:
    """Return the Python of the walk as it stands: what was done, and what would be next."""
    found = {"Read the table": code.reading(project)}
    if project.schema().names("quasi"):
        found["Who stands out"] = [*code.risking(), "print(risk)"]
    if project.found("sets"):
        found["Which columns tell people apart"] = [
            *code.telling_apart(project),
            "print(*sets.of_size(5), sep='\\n')",
        ]
    if project.found("population"):
        found["In the population"] = [*code.among(project), "print(sampled, mapped, sep='\\n')"]
    if project.found("assess") and (attribute := code.sensitive_attribute(project)):
        found["What can be promised"] = [*code.assessing(attribute), "print(assessment)"]
    folder, ledger = _written(project)
    choice = project.facts.choice
    receiver = (project.found("write") or {}).get("receiver")
    found["Make the release"] = code.making(choice, ledger or project.folder.parent / LEDGER, receiver)
    if choice.way == "generalize":
        shown = "for kind in kinds:\n    print(before[kind], after[kind], sep='\\n')"
        found["Attack it"] = [*code.attacking(), shown]
    target = folder or project.next_release()
    found["Write, record, verify"] = [*code.writing(target, ledger, receiver), "print(verification.holds)"]
    return found


def _written(project: Project) -> tuple[Path | None, Path | None]:
    """Return the folder and the ledger of the next release, as the page that writes it offers them."""
    return project.next_release(), project.folder.parent / LEDGER


def script(visit: Visit) -> Response:
    """Send the steps as a script that runs as it is."""
    project = visit.project
    text = code.script(project, steps(project))
    named = {"Content-Disposition": 'attachment; filename="release.py"'}
    return Response(text, media_type="text/x-python; charset=utf-8", headers=named)


def notebook(visit: Visit) -> Response:
    """Send the steps as a Jupyter notebook, a cell for each."""
    written = json.dumps(made_notebook(code.cells(steps(visit.project))), ensure_ascii=False, indent=1)
    named = {"Content-Disposition": 'attachment; filename="release.ipynb"'}
    return Response(written, media_type="application/x-ipynb+json", headers=named)


def project_file(visit: Visit) -> Response:
    """Send the project file."""
    return FileResponse(visit.project.folder / FILE, media_type="application/json", filename=FILE)


def schema_file(visit: Visit) -> Response:
    """Send the schema file."""
    return FileResponse(
        visit.project.schema_path, media_type="text/plain; charset=utf-8", filename="sudare.toml"
    )
