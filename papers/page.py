"""A page's generated part: tables, lists and pictures of histograms beside each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from sudare.reports.charts import AFTER, FAINT, INK, STYLE

START, END = "<!-- results: rewritten by the command above -->", "<!-- end of results -->"


class Grid(NamedTuple):
    """A table to show."""

    title: str
    headers: list[str]
    lines: list[list[str]]

    def markdown(self) -> str:
        """Return the table as Markdown, in which a stroke ends a cell.

        >>> print(Grid("Error", ["law", "||v||"], [["plain", "1"]]).markdown().splitlines()[2])
        | law | \\|\\|v\\|\\| |
        """
        rule = ["---", *["---:"] * (len(self.headers) - 1)]
        lines = [[header.replace("\n", " ") for header in self.headers], rule, *self.lines]
        cells = [[cell.replace("|", r"\|") for cell in line] for line in lines]
        return f"### {self.title}\n\n" + "\n".join(f"| {' | '.join(line)} |" for line in cells)


def checked(holds: bool | np.bool_, sentence: str) -> str:
    """Return a claim, if it holds."""
    if not holds:
        raise AssertionError(f"This does not hold: {sentence}")
    return sentence


def listed(sentences: Sequence[str]) -> str:
    """Return sentences as a list."""
    return "\n".join(f"- {sentence}" for sentence in sentences)


def rewrite(page: Path, parts: Sequence[str]) -> None:
    """Put parts in place of what stands between the page's marks."""
    before, rest = page.read_text().split(START)
    page.write_text(before + "\n\n".join([START, *parts, END]) + rest.split(END)[1])


def publish(
    folder: Path,
    heading: str,
    said: Sequence[str],
    shown: Sequence[Grid],
    claims: Sequence[str],
    pictures: Mapping[str, str],
    first: Sequence[str] = (),
) -> None:
    """Print what was measured, write the pictures, and put all of it onto the folder's page, after what comes first."""
    print(*said, *claims, sep="\n\n")
    for name, picture in pictures.items():
        (folder / name).write_text(picture.rstrip("\n") + "\n")
    how = "Each was checked by code in the run that wrote this page."
    parts = [
        *first,
        f"### {heading}\n\n{listed(said)}",
        *(grid.markdown() for grid in shown),
        f"### Where the paper slips, and what is right\n\n{how}\n\n{listed(claims)}",
    ]
    rewrite(folder / "README.md", parts)


class Panel(NamedTuple):
    """A histogram, and what stands above it."""

    title: str
    counts: ArrayLike
    colour: str = AFTER


def panels(rows: Sequence[Sequence[Panel]], *, top: float, ends: tuple[str, str]) -> str:
    """Draw histograms beside and below each other, all on one scale from 0 to `top`; `ends` name the axis' ends."""
    wide, high, gap, head, foot, left = 230, 110, 26, 22, 18, 40
    shapes = [f'<style>{STYLE}</style><rect width="100%" height="100%" fill="white"/>']
    for i, across in enumerate(rows):
        for j, panel in enumerate(across):
            x, y = left + j * (wide + gap), head + i * (high + head + foot)
            shapes += _panel(panel, x, y, wide, high, top, ends)
    columns = max(len(across) for across in rows)
    width = left + columns * (wide + gap)
    height = len(rows) * (head + high + foot) + 6
    return (
        f'<svg viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'xmlns="http://www.w3.org/2000/svg" role="img">{"".join(shapes)}</svg>\n'
    )


def _panel(
    panel: Panel, x: int, y: int, wide: int, high: int, top: float, ends: tuple[str, str]
) -> list[str]:
    counts = [float(count) for count in panel.counts]  # type: ignore[union-attr]
    step = wide / len(counts)
    shapes = [
        f'<text x="{x + wide / 2:.0f}" y="{y - 6}" text-anchor="middle">{escape(panel.title)}</text>',
        f'<text x="{x - 5}" y="{y + 10}" text-anchor="end" class="axis">{top:,.0f}</text>',
        f'<line x1="{x}" y1="{y}" x2="{x + wide}" y2="{y}" stroke="{FAINT}"/>',
    ]
    for i, count in enumerate(counts):
        tall = high * min(max(count, 0.0), top) / top
        shapes.append(
            f'<rect x="{x + i * step:.1f}" y="{y + high - tall:.1f}" width="{step * 0.85:.1f}" height="{tall:.1f}" '
            f'fill="{panel.colour}"/>'
        )
    shapes += [
        f'<line x1="{x}" y1="{y + high}" x2="{x + wide}" y2="{y + high}" stroke="{INK}"/>',
        f'<text x="{x}" y="{y + high + 13}" class="axis">{escape(ends[0])}</text>',
        f'<text x="{x + wide}" y="{y + high + 13}" text-anchor="end" class="axis">{escape(ends[1])}</text>',
    ]
    return shapes
