"""How results show themselves: in one line, and in a notebook as small tables.

A notebook keeps what its cells showed, and goes from hand to hand. So what is shown unasked is what a receiver may have, too,
or a number: sizes of dictionaries instead of rows, measures of the output, what was asked for. Nothing of it says what
some person's values were, and of what the holder keeps there is no word; who wants that asks for it by its name.

The page that shows it belongs to somebody else, in a light or a dark colour that is not known here. Colours are inherited,
there are no scripts, and every text is escaped: names and values come from files.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

MAX_LINE = 200
MAX_CELL = 400
MAX_ROWS = 40
CELL = "text-align:left;padding:2px 10px 2px 0;border:0;border-bottom:1px solid rgba(128,128,128,.35)"
TABLE = "border-collapse:collapse;margin:4px 0 8px;color:inherit;background:transparent"


@dataclass(frozen=True)
class Listing:
    """A small table: what stands above it, its columns, and its rows."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[object]]

    @classmethod
    def of_facts(cls, facts: Mapping[str, object], title: str = "") -> Listing:
        """Put names beside what they have; what is None is left out.

        >>> Listing.of_facts({"method": "minimal", "seed": None}).rows
        [('method', 'minimal')]
        """
        return cls(title, (), [(name, value) for name, value in facts.items() if value is not None])


class Shown:
    """What says in one line what it is, and shows itself in a notebook."""

    @abstractmethod
    def _line(self) -> str:
        """Say what it is, without any work."""

    @abstractmethod
    def _listings(self) -> Iterable[Listing]:
        """Return what a notebook shows of it."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}({written(self._line(), MAX_LINE)})"

    def __str__(self) -> str:
        return repr(self)

    def _repr_html_(self) -> str:
        return f"<div><strong>{escape(repr(self))}</strong>{''.join(map(_html, self._listings()))}</div>"


class ShownFigures(Shown):
    """What has a summary in numbers, and is read in words by printing it."""

    @abstractmethod
    def summary(self) -> dict[str, Any]:
        """Return the numbers as plain data."""

    def _line(self) -> str:
        return "; ".join(f"{name} = {written(value)}" for name, value in figures_of(self.summary()))

    def _listings(self) -> Iterable[Listing]:
        yield Listing.of_facts(dict(figures_of(self.summary())), "print(...) says it in words")


def figures_of(data: Mapping[str, Any], of: str = "") -> Iterator[tuple[str, float]]:
    """Return the numbers among plain data, however deep, each with the names that lead to it.

    >>> list(figures_of({"k": 5, "blocks": {"ill": {"share": 0.5, "worst": "Ann"}}}))
    [('k', 5), ('blocks, ill, share', 0.5)]
    """
    for name, value in data.items():
        path = f"{of}, {name}" if of else str(name)
        if isinstance(value, Mapping):
            yield from figures_of(value, path)
        elif isinstance(value, int | float):
            yield path, value


def written(value: object, limit: int = MAX_CELL) -> str:
    """Write a text or a number in one line; what cannot be seen is written as its code, and a long text is cut.

    >>> written("one\\ntwo"), written(0.1 + 0.2), written(12_345), written(True)
    ('one\\\\ntwo', '0.3', '12,345', 'yes')
    """
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:.4g}" if abs(value) < 10_000 else f"{value:,.0f}"
    text = "".join(one if one.isprintable() else one.encode("unicode_escape").decode() for one in str(value))
    return text if len(text) <= limit else f"{text[:limit]}... ({len(text):,} characters)"


def _html(listing: Listing) -> str:
    if not listing.rows:
        return ""
    shown = [[escape(written(cell)) for cell in row] for row in listing.rows[:MAX_ROWS]]
    rest = len(listing.rows) - len(shown)
    head = "".join(f'<th style="{CELL}">{escape(written(name))}</th>' for name in listing.columns)
    rows = "".join(f"<tr>{_cells(row)}</tr>" for row in shown)
    title = (
        f'<div style="margin-top:6px">{escape(written(listing.title, MAX_LINE))}</div>'
        if listing.title
        else ""
    )
    more = f"<div>and {rest:,} more</div>" if rest > 0 else ""
    return f'{title}<table style="{TABLE}">{f"<tr>{head}</tr>" if head else ""}{rows}</table>{more}'


def _cells(texts: Sequence[str]) -> str:
    return "".join(f'<td style="{CELL}">{text}</td>' for text in texts)
