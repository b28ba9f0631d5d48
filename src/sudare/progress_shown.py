"""Progress for people: bars on a terminal and in notebooks, and now and then a line where there is neither."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from importlib.util import find_spec
from time import monotonic

from rich.console import Console, RenderableType
from rich.progress import BarColumn, Progress, ProgressColumn, SpinnerColumn, Task, TextColumn
from rich.progress import TimeElapsedColumn as Elapsed
from rich.text import Text

from sudare import progress
from sudare.errors import ParameterError

EVERY = 10  # seconds between two lines


def amount(done: float, total: float, unit: str) -> str:
    """Say how much is done.

    >>> amount(5_000_000, 20_000_000, "rows"), amount(5_000_000, 20_000_000, "bytes"), amount(25, 100, "%")
    ('5,000,000 of 20,000,000 rows', '5.0 of 20.0 MB', '25%')
    """
    if unit == "%":
        return f"{done:.0f}%"
    if unit == "bytes":
        return f"{done / 10**6:,.1f} of {total / 10**6:,.1f} MB"
    return f"{done:,.0f} of {total:,.0f} {unit}"


def duration(seconds: float) -> str:
    """Say how long something takes.

    >>> duration(7.2), duration(200), duration(8000)
    ('7 s', '3 min', '2 h 13 min')
    """
    minutes = round(seconds / 60)
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


class _Bar(ProgressColumn):
    """A bar for steps of which it is known how much there is to do."""

    _bar = BarColumn()

    def render(self, task: Task) -> RenderableType:
        return Text() if task.total is None else self._bar.render(task)


class _Amount(ProgressColumn):
    """How much is done, and how long the rest will take."""

    def render(self, task: Task) -> Text:
        if task.total is None:
            return Text()
        left = f", about {duration(task.time_remaining)} left" if task.time_remaining else ""
        return Text(amount(task.completed, task.total, task.fields["unit"]) + left)


def bars_on(console: Console) -> Progress:
    """Return an empty list of bars that vanish when they are done."""
    columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), _Bar(), _Amount(), Elapsed())
    return Progress(*columns, console=console, transient=True)


class Bars:
    """Shows steps as bars."""

    def __init__(self, bars: Progress) -> None:
        self._bars = bars

    @contextmanager
    def step(self, text: str, total: int, unit: str) -> Iterator[progress.Step]:
        """Show a step, from its beginning to its end."""
        with nullcontext() if self._bars.live.is_started else self._bars:
            task = self._bars.add_task(_printable(text), total=total, unit=unit)
            try:
                yield _Advancing(lambda amount: self._bars.advance(task, amount))
            finally:
                self._bars.remove_task(task)


def _printable(text: str) -> str:
    """Write what may have the name of a file so that a terminal only shows it."""
    return "".join(sign if sign.isprintable() else "·" for sign in text)


def lines_on(console: Console) -> Lines:
    """Return what writes lines as they are: a file may be named like a colour."""
    return Lines(lambda line: console.print(line, soft_wrap=True, highlight=False, markup=False))


class Lines:
    """Writes a line about a step that takes long, now and then."""

    def __init__(self, write: Callable[[str], object]) -> None:
        self._write = write

    @contextmanager
    def step(self, text: str, total: int, unit: str) -> Iterator[progress.Step]:
        """Show a step, from its beginning to its end."""
        start = last = monotonic()
        done = 0

        def advance(more: int) -> None:
            nonlocal done, last
            done, now = done + more, monotonic()
            if now - last >= EVERY and 0 < done < total:
                last = now
                left = duration((now - start) * (total - done) / done)
                self._write(f"{_printable(text)}: {amount(done, total, unit)}, about {left} left")

        yield _Advancing(advance)
        if last > start:
            self._write(f"{_printable(text)}: done in {duration(monotonic() - start)}")


class _Advancing:
    def __init__(self, advance: Callable[[int], object]) -> None:
        self._advance = advance

    def advance(self, amount: int) -> None:
        """Say that so much more is done."""
        self._advance(amount)


def show_progress(wanted: bool = True) -> None:
    """Show from now on how far long work has come: bars on a terminal and in a notebook that has ipywidgets, else a line now and then.

    >>> import sudare as sd
    >>> sd.show_progress()
    >>> sd.show_progress(False)
    """
    if not isinstance(wanted, bool):
        raise ParameterError(
            f"The 'wanted' parameter of show_progress must be True or False. Got {wanted!r} instead."
        )
    console = Console(stderr=True)
    draws = find_spec("ipywidgets") is not None  # bars that move, in a notebook
    shows_bars = draws if console.is_jupyter else console.is_terminal
    shown: progress.Listener = Bars(bars_on(console)) if shows_bars else lines_on(console)
    progress.listen(shown if wanted else None)
