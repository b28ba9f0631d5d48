"""Ask a p-view: by clicking or by SQL, with intervals drawn; and draw synthetic rows. It costs no budget."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
from markupsafe import Markup
from starlette.responses import FileResponse, Response

from sudare.errors import InputError
from sudare.reports.charts import LIGHT, Bars, Dots, Interval, grouped_bars, two_way_shades
from sudare.studio import code
from sudare.studio.project import Project
from sudare.studio.visit import MissingPageError, Visit, job_in_words, named, number

SAMPLE_FILE = "synthetic.csv"
MAX_SAMPLE = 1_000_000
MAX_BARS = 150
MAX_HEAT = 80
PATIENCE = 120.0
NUMBER = re.compile(r"-?\d+(\.\d+)?")


def show(visit: Visit, problem: str | None = None) -> Response:
    """Show what can be asked, and the answer to what was."""
    project = visit.project
    places = [place for place, one in enumerate(project.facts.releases) if one["way"] == "pview"]
    if not places:
        return visit.step(
            "ask", problem, places=[], place=None, domain=None, sql="", answers=None, picture=None, ordered=[]
        )
    place = _place(visit, places)
    domain = _worked(visit, project, place, [], "domain")
    sql = visit.text("sql").strip()
    answers = picture = None
    by: list[str] = []
    if isinstance(domain, str):
        problem, domain = problem or domain, None
    elif visit.request.method == "POST":
        try:
            by = [name for name in (visit.text("by-1"), visit.text("by-2")) if name]
            sql = sql if visit.text("ask") == "sql" else query(visit, domain["axes"], by)
            found = _worked(visit, project, place, [f"answers = view.sql({sql!r})"], "asked")
            if isinstance(found, str):
                problem = found
            else:
                answers, picture = found, drawing(found)
                picture = None if picture is None else named(picture, sql)
        except InputError as error:
            problem = str(error)
    return visit.step(
        "ask",
        problem,
        places=places,
        place=place,
        domain=domain,
        sql=sql,
        answers=answers,
        picture=picture,
        by=by,
    )


def _place(visit: Visit, places: list[int]) -> int:
    given = visit.request.query_params.get("release", "")
    place = int(given) if given.isdigit() and len(given) < 6 else places[-1]
    if place not in places:
        raise MissingPageError
    return place


def _worked(
    visit: Visit, project: Project, place: int, lines: list[str], show_by: str, **options: Any
) -> Any:
    """Let the process of previews work with the p-view; return what it found, or what it refused in words."""
    folder = str(Path(project.facts.releases[place]["folder"]) / "hand-over")
    cells = [code.cell("view", [code.HEAD, f"view = sd.PView.open({folder!r})"])]
    if lines:
        cells.append(code.cell("ask", lines, kind="once"))
    worker = visit.studio.previewer(project)
    if worker.is_busy and worker.job is not None:
        worker.job.ended.wait(PATIENCE)
    job = worker.start("ask", cells, show_by, options)
    if job is None or not job.ended.wait(PATIENCE):
        return visit.said("busy")
    return job.found if job.error is None else job_in_words(visit, job)


def query(visit: Visit, axes: list[dict[str, Any]], by: list[str]) -> str:
    """Write what was clicked as SQL.

    Names and values are quoted as SQL quotes them: whatever they are, they stay names and values.
    """
    conditions = []
    for place, axis in enumerate(axes):
        name = quoted(axis["name"])
        if axis["ordered"]:
            low, high = visit.text(f"low-{place}").strip(), visit.text(f"high-{place}").strip()
            for sign, end in ((">=", low), ("<=", high)):
                if end:
                    conditions.append(f"{name} {sign} {_literal(end)}")
        elif chosen := visit.form.get(f"value-{place}", []):
            listed = ", ".join(_literal(value, axis["text"]) for value in chosen if value != axis["missing"])
            either = [f"{name} IN ({listed})"] if listed else []
            either += [f"{name} IS NULL"] if axis["missing"] in chosen else []
            conditions.append(f"({' OR '.join(either)})")
    known = {axis["name"] for axis in axes}
    groups = [quoted(name) for name in dict.fromkeys(by) if name in known]
    where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
    grouped = f" GROUP BY {', '.join(groups)}" if groups else ""
    return f"SELECT {', '.join([*groups, 'COUNT(*)'])} FROM view{where}{grouped}"


def quoted(name: str) -> str:
    """Quote a name as SQL does.

    >>> print(quoted('a "b" c'))
    "a ""b"" c"
    """
    return '"' + name.replace('"', '""') + '"'


def _literal(value: str, is_text: bool = False) -> str:
    """Write a value as SQL: a number as it is, and else a text."""
    if not is_text and NUMBER.fullmatch(value):
        return value
    return "'" + value.replace("'", "''") + "'"


def drawing(found: dict[str, Any]) -> Markup | None:
    """Draw answers: bars with their intervals by one column, a heat map by two."""
    groups, rows = found["columns"][:-3], found["rows"]
    if len(groups) == 1 and 0 < len(rows) <= MAX_BARS:
        intervals = [Interval(row[-3], row[-2], row[-1]) for row in rows]
        bars = Bars("COUNT(*)", [one.value for one in intervals], LIGHT)
        return grouped_bars([str(row[0]) for row in rows], [bars], Dots("95%", intervals), x_name=groups[0])
    if len(groups) == 2 and rows and found["height"] == len(rows):
        firsts, seconds = (list(dict.fromkeys(str(row[place]) for row in rows)) for place in (0, 1))
        if max(len(firsts), len(seconds)) <= MAX_HEAT:
            table = np.zeros((len(firsts), len(seconds)))
            for row in rows:
                table[firsts.index(str(row[0])), seconds.index(str(row[1]))] = row[-3]
            return two_way_shades(table, firsts, seconds, float(table.max()))
    return None


def sample(visit: Visit) -> Response:
    """Draw synthetic rows, and send them as a file."""
    project = visit.project
    places = [place for place, one in enumerate(project.facts.releases) if one["way"] == "pview"]
    if not places:
        raise MissingPageError
    asked = number(visit.text("rows", "1000"), "rows") or 0
    if not 1 <= asked <= MAX_SAMPLE:
        return show(visit, problem=visit.said("ask.too_many", most=f"{MAX_SAMPLE:,}"))
    file = project.folder / SAMPLE_FILE
    found = _worked(
        visit, project, _place(visit, places), [f"rows = view.sample({int(asked)})"], "drawn", path=str(file)
    )
    if isinstance(found, str):
        return show(visit, problem=found)
    return FileResponse(file, media_type="text/csv; charset=utf-8", filename=SAMPLE_FILE)
