"""Risk against utility: a point for each setting that was tried, and the bound that no method can pass."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from sudare.reports.charts import AFTER, AMBER, BEFORE, INK
from sudare.reports.charts.axes import VerticalAxis, decimals
from sudare.reports.charts.svg import dot, element, line, picture, text
from sudare.studio.project import Tried
from sudare.studio.texts import said
from sudare.studio.translated import translated
from sudare.studio.visit import loss, named

WIDTH, HEIGHT, LEFT, TOP = 460, 250, 52, 30


def curve(tried: Sequence[Tried], language: str, way: str, now: Tried | None = None) -> Markup | None:
    """Draw what was tried: to the left is safer, and further down is more useful.

    >>> curve([], "en", "generalize") is None
    True
    """
    if not tried:
        return None
    foot = TOP + HEIGHT
    widest = VerticalAxis.up_to(max(one.risk for one in tried), 0, WIDTH)
    up = VerticalAxis.up_to(max(one.distortion for one in tried), TOP, foot)

    def across(risk: float) -> float:
        return LEFT + WIDTH - widest.at(risk)

    shapes = up.lines(LEFT, WIDTH, lambda value: f"{value:,.{decimals(up.step)}f}")
    for i in range(round(widest.top / widest.step) + 1):
        x = across(i * widest.step)
        places = max(0, decimals(widest.step) - 2)
        shapes += [
            line(x, foot, x, foot + 4, INK),
            text(x, foot + 16, f"{i * widest.step:.{places}%}", anchor="middle", axis=True),
        ]
    points = sorted(tried, key=lambda one: one.risk)
    shapes.append(_joined([(across(one.risk), up.at(one.distortion)) for one in points], AFTER))
    bounds = [
        (across(one.risk), up.at(one.settings["bound"]))
        for one in points
        if one.settings.get("bound") is not None
    ]
    shapes.append(_joined(bounds, AMBER, dash="5 4"))
    shapes += [dot(x, y, 2.5, AMBER, said("curve.bound", language)) for x, y in bounds]
    for one in points:
        told = said(f"tried.{way}", language, risk=f"{one.risk:.1%}", loss=loss(one.distortion))
        words = f"{translated(one.asked, language)}: {told}"
        is_now = now is not None and one.asked == now.asked
        shapes.append(
            dot(
                across(one.risk),
                up.at(one.distortion),
                7 if is_now else 4.5,
                AFTER if is_now else BEFORE,
                words,
            )
        )
    shapes.append(text(LEFT + WIDTH, foot + 34, said(f"curve.risk.{way}", language), anchor="end", axis=True))
    shapes.append(text(LEFT - 44, TOP - 16, said(f"curve.loss.{way}", language), axis=True))
    if bounds:
        shapes += [
            line(LEFT, foot + 30, LEFT + 26, foot + 30, AMBER, dash="5 4", stroke=2),
            text(LEFT + 32, foot + 34, said("curve.bound", language)),
        ]
    drawn = picture(LEFT + WIDTH + 24, foot + 44, shapes)
    return named(drawn, said("curve.title", language))


def _joined(points: Sequence[tuple[float, float]], colour: str, dash: str = "none") -> Markup:
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    return element(
        "polyline", points=path, fill="none", stroke=colour, stroke_width=1.5, stroke_dasharray=dash
    )
