"""A visit of a page: who asks for what, in which language, of which project; and how pages are rendered."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl

from markupsafe import Markup
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response

from sudare.errors import InputError, SudareError
from sudare.reports import charts
from sudare.reports.words import figure, printable, shown_value
from sudare.studio import jobs
from sudare.studio.kernel import explained
from sudare.studio.project import ID, Project
from sudare.studio.texts import LANGUAGES, catalogue, said
from sudare.studio.translated import translated
from sudare.studio.walk import states
from sudare.studio.work import Job, Worker
from sudare.tables.faults import in_our_words

if TYPE_CHECKING:
    from jinja2 import Environment

MAX_FORM = 20_000_000  # bytes; a tree of many values is large
MAX_FIELDS = 100_000
LANGUAGE = "sudare-language"


@dataclass
class Studio:
    """What all pages share: where projects are, and the processes that work for them."""

    home: Path
    workers: dict[str, Worker] = field(default_factory=dict)
    previewers: dict[str, Worker] = field(default_factory=dict)
    warm: set[str] = field(default_factory=set)
    """Samples that have been read for previews."""

    def worker(self, project: Project) -> Worker:
        """Return the process that works for a project."""
        return self.workers.setdefault(project.id, Worker())

    def previewer(self, project: Project) -> Worker:
        """Return the process that makes previews, which wait for no other work."""
        return self.previewers.setdefault(project.id, Worker())

    def end(self) -> None:
        """End all processes."""
        for worker in (*self.workers.values(), *self.previewers.values()):
            worker.end()


class MissingPageError(Exception):
    """There is no such page."""


@dataclass
class Visit:
    """A request, and all that a page needs to answer it."""

    studio: Studio
    request: Request
    form: dict[str, list[str]]
    words: count[int] = field(default_factory=count)

    @cached_property
    def language(self) -> str:
        """Which language the page speaks: the one that was chosen, or else the browser's."""
        chosen = self.request.cookies.get(LANGUAGE, "")
        if chosen in LANGUAGES:
            return chosen
        return "ja" if self.request.headers.get("accept-language", "").lower().startswith("ja") else "en"

    @cached_property
    def project(self) -> Project:
        """The project that the address names."""
        name = self.request.path_params["id"]
        if not ID.fullmatch(name) or not (self.studio.home / name / "project.json").is_file():
            raise MissingPageError
        return Project(self.studio.home / name)

    @property
    def worker(self) -> Worker:
        """The process that works for the project."""
        return self.studio.worker(self.project)

    def warm_up(self) -> None:
        """Let the process of previews read the sample, before anybody asks it for one."""
        key = f"{self.project.id} {self.project.facts.results['read'].at}"
        if key not in self.studio.warm and jobs.warm_up(self.project, self.studio.previewer(self.project)):
            self.studio.warm.add(key)

    def text(self, name: str, default: str = "") -> str:
        """Return a field of the form."""
        return self.form.get(name, [default])[0]

    def said(self, key: str, **values: object) -> str:
        """Return a text in the page's language."""
        return said(key, self.language, **values)

    def translated(self, text: str) -> str:
        """Return what the rest of the package says, in the page's language, as far as it is known."""
        return translated(text, self.language)

    def time(self, seconds: float) -> str:
        """Say how long something takes."""
        minutes = round(seconds / 60)
        if seconds < 90:
            return self.said("time.seconds", seconds=f"{seconds:.0f}")
        if minutes < 60:
            return self.said("time.minutes", minutes=minutes)
        return self.said("time.hours", hours=minutes // 60, minutes=minutes % 60)

    def render(self, template: str, status: int = 200, **values: Any) -> Response:
        """Make a page."""
        page = environment().get_template(f"studio/{template}.html.jinja")
        shared = {
            "visit": self,
            "said": self.said,
            "language": self.language,
            "languages": LANGUAGES,
            "word": self.word,
            "tr": self.translated,
        }
        return HTMLResponse(page.render(**shared, **values), status)

    def step(self, name: str, problem: str | None = None, **values: Any) -> Response:
        """Make the page of a step of the project's walk."""
        project = self.project
        before = None if self.worker.is_busy else project.before()
        return self.render(
            name,
            status=422 if problem else 200,
            project=project,
            facts=project.facts,
            step=name,
            states=states(project),
            problem=problem,
            job=self.worker.job,
            undoing=None if before is None else before.step,
            **values,
        )

    def word(self, key: str) -> Markup:
        """Return a button that explains a word or number, and the explanation."""
        text = catalogue()[f"word.{key}"][self.language]
        label = self.said("explain")
        return Markup(
            '<button type="button" class="word" popovertarget="word-{0}" aria-label="{1}: {2}">?</button>'
            '<span popover id="word-{0}" class="explained" role="note">{3}</span>'
        ).format(next(self.words), label, key.replace("-", " "), text)

    def go(self, path: str) -> Response:
        """Send the browser to another page of the studio."""
        return RedirectResponse(path, 303)

    def at(self, step: str) -> str:
        """Return the address of a step of the project."""
        return f"/p/{self.project.id}/{step}"


def named(drawn: Markup, name: str) -> Markup:
    """Say in words what a picture shows, to who cannot see it."""
    return drawn.replace('role="img"', Markup('role="img" aria-label="{}"').format(name), 1)


def loss(value: float) -> str:
    """Write a distortion, which is at most 1, or a number of people.

    >>> loss(0.1234567), loss(1234.567)
    ('0.123', '1,235')
    """
    return f"{value:.3f}" if value <= 1 else f"{value:,.0f}"


Page = Callable[[Visit], Response]


def page(show: Page) -> Callable[[Request], Any]:
    """Make an endpoint of what shows a page."""

    async def endpoint(request: Request) -> Response:
        form = await _form(request) if request.method == "POST" else {}
        if form is None:
            return HTMLResponse("The form is too large.", 413)
        visit = Visit(request.app.state.studio, request, form)
        return await run_in_threadpool(_answered, show, visit)

    return endpoint


def _answered(show: Page, visit: Visit) -> Response:
    try:
        return show(visit)
    except MissingPageError:
        return visit.render("missing", status=404)
    except SudareError as error:
        return visit.render("refused", status=422, problem=str(error))
    except Exception as error:  # nobody is left with an empty page
        told = explained(error)
        status = 500 if told["kind"] == "unexpected" else 422
        problem = visit.said(f"failed.{told['kind']}", text=told["text"])
        return visit.render("refused", status=status, problem=problem)


async def _form(request: Request) -> dict[str, list[str]] | None:
    """Read the fields of a form; None if they are too many."""
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > MAX_FORM:
            return None
    fields: dict[str, list[str]] = {}
    try:
        pairs = parse_qsl(body.decode("utf-8", "replace"), keep_blank_values=True, max_num_fields=MAX_FIELDS)
    except ValueError:
        return None
    for name, value in pairs:
        fields.setdefault(name, []).append(value)
    return fields


def refused_at(show: Callable[..., Response]) -> Callable[[Page], Page]:
    """Let what a form's action refuses be shown at the form that it came from."""

    def around(act: Page) -> Page:
        def acting(visit: Visit) -> Response:
            try:
                return act(visit)
            except (SudareError, ValueError) as error:
                return show(visit, problem=in_words(error))

        return acting

    return around


def in_words(error: Exception) -> str:
    """Say what was refused; of a form's fields, which and why."""
    if isinstance(error, SudareError):
        return str(error)
    from pydantic import ValidationError

    if isinstance(error, ValidationError):
        return "\n".join(
            f"{'.'.join(str(part) for part in one['loc'])}: {in_our_words(one['msg'])}."
            for one in error.errors(include_url=False)
        )
    return str(error)


def answer(data: Mapping[str, Any], status: int = 200) -> Response:
    """Answer a script of the page."""
    return JSONResponse(dict(data), status)


def number(text: str, what: str) -> float | None:
    """Read a number of a form; nothing, if the field is empty."""
    if not text.strip():
        return None
    try:
        return float(text)
    except ValueError:
        raise InputError(f"{what} must be a number. Got '{printable(text)}' instead.") from None


def job_in_words(visit: Visit, job: Job | None) -> str | None:
    """Say why a job failed, in words for the page; None if it did not."""
    if job is None or job.error is None:
        return None
    kind, text = job.error["kind"], job.error["text"]
    return text if kind == "refused" else visit.said(f"failed.{kind}", text=text)


@cache
def environment() -> Environment:
    """Return what renders pages: with the reports' own parts, and with everything that is no markup escaped."""
    from jinja2 import ChoiceLoader, Environment, PackageLoader, PrefixLoader, StrictUndefined

    made = Environment(
        loader=ChoiceLoader(
            [PrefixLoader({"studio": PackageLoader("sudare.studio")}), PackageLoader("sudare.reports")]
        ),
        autoescape=True,
        finalize=lambda value: (
            printable(value)
            if isinstance(value, str) and not isinstance(value, Markup) and "\n" not in value
            else value
        ),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.globals |= {"charts": charts, "job_in_words": job_in_words}
    made.filters |= {
        "form": format,
        "figure": figure,
        "shown": shown_value,
        "loss": loss,
        "json": json.dumps,
        "named": named,
        "translated": lambda text, visit: visit.translated(text),
    }
    return made
