"""The ledger: releases on a time line, who received what, who may combine, budgets as gauges, and what is left for the next release."""

from __future__ import annotations

from datetime import datetime
from typing import Any, NamedTuple

from markupsafe import Markup
from starlette.responses import Response

from sudare.errors import InputError
from sudare.ledger.entries import Neighbours
from sudare.ledger.ledger import Ledger
from sudare.reports.charts import AFTER, AMBER, FAINT, INK
from sudare.reports.charts.svg import bar, dot, line, picture, shortened, text
from sudare.studio.project import LEDGER
from sudare.studio.visit import Visit, named, refused_at

WIDTH, ROW, LEFT = 700, 30, 160
LETTERS = 24


class Gauge(NamedTuple):
    """A budget, and how much of it is spent."""

    source: str
    words: str
    picture: Markup


def show(visit: Visit, problem: str | None = None) -> Response:
    """Show all that the ledger of this folder of projects knows."""
    path = visit.studio.home / LEDGER
    entries: list[Any] = []
    gauges: list[Gauge] = []
    together: list[tuple[str, list[list[str]]]] = []
    whole = None
    if path.exists():
        ledger = Ledger(path, create=False)
        entries = ledger.entries()
        ledger.verify()
        whole = ledger.head()
        releases = [entry for entry in entries if entry.kind == "release"]
        sources = sorted({entry.body["source"] for entry in entries if "source" in entry.body})
        gauges = [gauge for source in sources if (gauge := _gauge(ledger, source, visit)) is not None]
        for source in sorted({entry.body["source"] for entry in releases}):
            sets = [
                [f"{one.seq}: {one.receiver or visit.said('anybody')}" for one in some]
                for some in ledger.releases(source)
            ]
            together.append((source, sets))
    return visit.render(
        "ledger",
        status=422 if problem else 200,
        problem=problem,
        path=path,
        entries=entries,
        line=time_line([entry for entry in entries if entry.kind == "release"], visit),
        gauges=gauges,
        together=together,
        head=whole,
        sources=sorted({entry.body["source"] for entry in entries if "source" in entry.body}),
    )


def _gauge(ledger: Ledger, source: str, visit: Visit) -> Gauge | None:
    left = ledger.budget(source)
    if left is None:
        return None
    share = float(left.spent / left.epsilon) if left.epsilon else 1.0
    shapes = [
        bar(0, 4, 300, 16, FAINT),
        bar(0, 4, 300 * min(share, 1.0), 16, AMBER if share > 0.8 else AFTER),
        text(308, 17, f"{share:.0%}"),
    ]
    drawn = picture(360, 26, shapes)
    name = visit.said("ledger.gauge", source=source, share=f"{share:.0%}")
    return Gauge(source, str(left), named(drawn, name))


def time_line(releases: list[Any], visit: Visit) -> Markup | None:
    """Draw releases by time, a line for each source."""
    if not releases:
        return None
    sources = list(dict.fromkeys(entry.body["source"] for entry in releases))
    times = [datetime.fromisoformat(entry.at) for entry in releases]
    first, last = min(times), max(times)
    span = (last - first).total_seconds() or 1.0
    foot = 16 + ROW * len(sources)
    shapes = []
    for row, source in enumerate(sources):
        y = 16 + ROW * (row + 0.5)
        shapes += [
            line(LEFT, y, LEFT + WIDTH, y, FAINT),
            text(LEFT - 10, y + 4, shortened(source, LETTERS), anchor="end"),
        ]
    for entry, at in zip(releases, times, strict=True):
        x = LEFT + 20 + (WIDTH - 40) * ((at - first).total_seconds() / span if len(releases) > 1 else 0.5)
        y = 16 + ROW * (sources.index(entry.body["source"]) + 0.5)
        receiver = entry.body["receiver"] or visit.said("anybody")
        promised = " + ".join(entry.body["certificate"]["requirements"])
        shapes.append(dot(x, y, 7, AFTER, f"{entry.seq}. {entry.at[:16]}: {promised} → {receiver}"))
        shapes.append(text(x, y - 10, str(entry.seq), anchor="middle", axis=True))
    shapes += [
        line(LEFT, foot, LEFT + WIDTH, foot, INK),
        text(LEFT, foot + 16, f"{first:%Y-%m-%d %H:%M}", axis=True),
        text(LEFT + WIDTH, foot + 16, f"{last:%Y-%m-%d %H:%M} UTC", anchor="end", axis=True),
    ]
    drawn = picture(LEFT + WIDTH + 10, foot + 24, shapes)
    return named(drawn, visit.said("ledger.line"))


@refused_at(show)
def budget(visit: Visit) -> Response:
    """Set how much noisy releases of a source may spend."""
    if not visit.text("source").strip():
        raise InputError(visit.said("ledger.no_source"))
    ledger = Ledger(visit.studio.home / LEDGER)
    counted: Neighbours = "replace" if visit.text("neighbours", "replace") == "replace" else "add or remove"
    ledger.set_budget(
        visit.text("source").strip(), visit.text("epsilon"), visit.text("delta") or "0", counted
    )
    return visit.go("/ledger")


@refused_at(show)
def apart(visit: Visit) -> Response:
    """Declare that some receivers do not combine what they get."""
    names = [name.strip() for name in visit.text("receivers").split(",") if name.strip()]
    Ledger(visit.studio.home / LEDGER).declare_apart(names)
    return visit.go("/ledger")
