"""The lattice of levels of full-domain generalization: what each choice of levels comes to on the sample, and one to be taken."""

from __future__ import annotations

from itertools import groupby
from typing import Any, NamedTuple
from urllib.parse import urlencode

from markupsafe import Markup
from starlette.responses import Response

from sudare.errors import InputError
from sudare.reports.charts import BEFORE
from sudare.reports.charts.svg import element
from sudare.studio import choose as choose_page
from sudare.studio import code, jobs
from sudare.studio.choices import Generalizing
from sudare.studio.chosen import chosen
from sudare.studio.commands import commands
from sudare.studio.project import Project
from sudare.studio.visit import Visit, number, refused_at

MOST_NUMBERS = (
    8  # levels that are a node's name; of more columns it is called by its moves from the one in the middle
)
MOST_FILTERS = 12  # columns of which levels can be left out
SHADES = 5
HEIGHT = 4.2  # of a row, in letters' heights as everything here
SMALL, MIDDLE, LARGE = 5.2, 8.2, 12.2  # of a node and the gap beside it; `studio.css` has the same


class Shown(NamedTuple):
    """A node as the page shows it."""

    levels: tuple[int, ...]
    name: str
    cost: float
    left_out: int
    share: float
    blocks: int
    holds: bool
    is_best: bool
    is_taken: bool
    shade: int
    """How much it costs, in a few steps."""
    told: list[tuple[str, int, int]]
    """Columns with their levels and heights: all, or of many those that are moved."""

    @property
    def value(self) -> str:
        """How a form names it."""
        return ",".join(map(str, self.levels))


class Filters(NamedTuple):
    """Which nodes are shown."""

    holding: bool
    most: float | None
    low: dict[str, int]
    high: dict[str, int]

    @classmethod
    def of(cls, visit: Visit, names: list[str]) -> Filters:
        """Read the address."""
        asked = visit.request.query_params
        ends: list[dict[str, int]] = [{}, {}]
        for place, name in enumerate(names[:MOST_FILTERS]):
            for end, found in zip(("low", "high"), ends, strict=True):
                if (text := asked.get(f"{end}-{place}", "")).isdecimal() and len(text) < MOST_FILTERS:
                    found[name] = int(text)
        most = number(asked.get("most", ""), "distortion")
        return cls(bool(asked.get("holding")), most, *ends)

    def let(self, names: list[str], node: dict[str, Any]) -> bool:
        """Tell whether a node is shown."""
        levels = dict(zip(names, node["levels"], strict=True))
        return (
            (node["holds"] or not self.holding)
            and (self.most is None or node["cost"] <= self.most)
            and all(levels[name] >= low for name, low in self.low.items())
            and all(levels[name] <= high for name, high in self.high.items())
        )


def show(visit: Visit, problem: str | None = None) -> Response:
    """Show the lattice, or look at it first."""
    project = visit.project
    if not project.schema_path.exists() or not project.is_current("read"):
        return visit.go(visit.at("choose"))
    if not project.schema().names("quasi"):
        return visit.go(visit.at("choose"))
    seen, own = _seen(project), _chosen(project)
    failed = (job := visit.worker.job) is not None and job.name == "lattice" and job.state == "failed"
    if seen is None and not visit.worker.is_busy and not failed and problem is None:
        problem = _looking(visit)
    if seen is None and problem is None and not failed and not visit.worker.is_busy:
        return visit.go(visit.at("lattice"))  # the work has ended since the project's file was read
    names = list(seen["names"]) if seen else []
    try:
        filters = Filters.of(visit, names)
    except InputError as error:
        filters, problem = Filters(False, None, {}, {}), str(error)
    nodes = _shown(seen, own.taken, filters) if seen else []
    return visit.step(
        "lattice",
        problem,
        seen=seen,
        rows=_rows(nodes),
        drawn=_edges(nodes, seen) if seen else "",
        filters=filters,
        filtered=names[:MOST_FILTERS] if len(names) <= MOST_FILTERS else [],
        query=urlencode(list(visit.request.query_params.multi_items())),
        taken=own.taken,
        in_population=own.of_blocks != own,
        called_by_moves=len(names) > MOST_NUMBERS,
        size=_size(seen) if seen else "",
        rows_in_all=(project.found("read") or {}).get("rows", 0),
        python=[*code.sampling(project), *code.looking(own)] if seen else [],
        command=commands(project)["run"],
    )


def _looking(visit: Visit) -> str | None:
    """Begin to look, if anything is asked of blocks; or say what is missing."""
    own = _chosen(visit.project)
    if not code.requirements(own.of_blocks):
        return visit.said("lattice.nothing")
    jobs.lattice(visit.project, visit.worker, own)
    return None


def _chosen(project: Project) -> Generalizing:
    """Return what is asked of blocks; levels that were taken when other columns were quasi count no longer."""
    own = project.facts.choice.generalize
    if own.taken is not None and set(own.taken) != set(project.schema().names("quasi")):
        return own.model_copy(update={"levels": None})
    return own


def _seen(project: Project) -> dict[str, Any] | None:
    """Return the lattice as it was looked at; nothing, if something was changed since, or it has to be looked at around another node."""
    found = project.found("lattice")
    if found is None or not project.is_current("lattice"):
        return None
    taken = _chosen(project).taken
    if found["whole"]:
        return found
    centre = [taken.get(name) for name in found["names"]] if taken else found["best"] or found["heights"]
    return found if centre == found["centre"] else None


def _shown(seen: dict[str, Any], taken: dict[str, int] | None, filters: Filters) -> list[Shown]:
    names, found = list(seen["names"]), []
    dearest = max((node["cost"] for node in seen["nodes"]), default=1.0) or 1.0
    for node in seen["nodes"]:
        if not filters.let(names, node):
            continue
        levels = tuple(node["levels"])
        found.append(
            Shown(
                levels,
                _name(levels, seen),
                node["cost"],
                node["left_out"],
                node["left_out"] / seen["records"],
                node["blocks"],
                node["holds"],
                node["levels"] == seen["best"],
                taken == dict(zip(names, levels, strict=True)),
                min(SHADES - 1, int(SHADES * node["cost"] / dearest)),
                _told(levels, seen),
            )
        )
    return found


def _name(levels: tuple[int, ...], seen: dict[str, Any]) -> str:
    """Call a node by its levels; of many columns, by its moves."""
    if len(levels) <= MOST_NUMBERS:
        return " ".join(map(str, levels))
    return ", ".join(f"{name} {by:+d}" for name, by in _moves(levels, seen).items()) or "="


def _moves(levels: tuple[int, ...], seen: dict[str, Any]) -> dict[str, int]:
    """Return by how many levels a node is above or below the one in the middle."""
    both = zip(seen["names"], levels, seen["centre"], strict=True)
    return {name: level - own for name, level, own in both if level != own}


def _told(levels: tuple[int, ...], seen: dict[str, Any]) -> list[tuple[str, int, int]]:
    every = list(zip(seen["names"], levels, seen["heights"], strict=True))
    moves = _moves(levels, seen)
    return every if len(levels) <= MOST_NUMBERS else [one for one in every if one[0] in moves]


def _size(seen: dict[str, Any]) -> str:
    """Say how much room the name of a node takes."""
    columns = len(seen["names"])
    return "small" if 2 * columns <= MOST_NUMBERS else "middle" if columns <= MOST_NUMBERS else "large"


def _rows(nodes: list[Shown]) -> list[tuple[int, list[Shown]]]:
    """Return the nodes by how far they climb in all, the coarsest first."""
    by_height = groupby(
        sorted(nodes, key=lambda node: (-sum(node.levels), node.levels)), lambda node: sum(node.levels)
    )
    return [(height, list(own)) for height, own in by_height]


def _edges(nodes: list[Shown], seen: dict[str, Any]) -> Markup:
    """Draw a line between each two nodes that are one level of one column apart; nodes stand in rows, each in the middle."""
    rows, width = _rows(nodes), {"small": SMALL, "middle": MIDDLE, "large": LARGE}[_size(seen)]
    most = max((len(own) for _, own in rows), default=0)
    at: dict[tuple[int, ...], tuple[float, float]] = {}
    for place, (_, own) in enumerate(rows):
        for i, node in enumerate(own):
            at[node.levels] = ((most - len(own)) / 2 + i + 0.5) * width, (place + 0.5) * HEIGHT
    lines = [
        element(
            "line",
            x1=f"{x:.2f}em",
            y1=f"{y:.2f}em",
            x2=f"{x2:.2f}em",
            y2=f"{y2:.2f}em",
            stroke=BEFORE,
            stroke_width=0.6,
        )
        for levels, (x, y) in at.items()
        for a, level in enumerate(levels)
        if (above := at.get((*levels[:a], level + 1, *levels[a + 1 :]))) is not None
        for x2, y2 in (above,)
    ]
    size = {"width": f"{most * width:.2f}em", "height": f"{len(rows) * HEIGHT:.2f}em"}
    return element("svg", *lines, aria_hidden="true", **size)


@refused_at(choose_page.show)
def explore(visit: Visit) -> Response:
    """Take what the form of the choice asks for, and look at its lattice."""
    project = visit.project
    choice = chosen(visit)
    own = choice.generalize.model_copy(update={"method": "full-domain"})
    with project.undoable("choose"), project.changing() as facts:
        facts.choice = choice.model_copy(update={"generalize": own})
    if _seen(project) is None and (problem := _looking(visit)):
        raise InputError(problem)
    return visit.go(visit.at("lattice"))


@refused_at(show)
def take(visit: Visit) -> Response:
    """Take the levels of a node as the setting; or none, so that the method finds those that cost least."""
    project = visit.project
    found, value = project.found("lattice"), visit.text("node")
    levels = None
    if value:
        nodes = [node["levels"] for node in (found or {}).get("nodes", [])]
        asked = next((own for own in nodes if ",".join(map(str, own)) == value), None)
        if found is None or asked is None or not project.is_current("lattice"):
            raise InputError(visit.said("lattice.no_node"))
        levels = dict(zip(found["names"], asked, strict=True))
    with project.undoable("choose"), project.changing() as facts:
        own = facts.choice.generalize.model_copy(update={"method": "full-domain", "levels": levels})
        facts.choice = facts.choice.model_copy(update={"way": "generalize", "generalize": own})
    query = urlencode(list(visit.request.query_params.multi_items()))
    return visit.go(f"{visit.at('lattice')}{'?' if query else ''}{query}")
