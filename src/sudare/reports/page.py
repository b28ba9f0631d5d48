"""Rendering: a template and the numbers that it tells, into one HTML file that opens without a network."""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from importlib import resources
from itertools import count
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from sudare.reports import charts
from sudare.reports.words import figure, printable, shown_value, times_as_likely

if TYPE_CHECKING:
    from jinja2 import Environment


def render(template: str, **values: Any) -> str:
    """Fill a template. All values are escaped there, but for pictures, which escape their own texts."""
    page = _environment().get_template(f"{template}.html.jinja")
    return page.render(stage_number=count(1).__next__, **values)


class Script:
    """A script of this package as a page holds it, and the hash by which a browser knows that it is ours."""

    def __init__(self, name: str) -> None:
        source = resources.files(__package__).joinpath(name).read_text("utf-8")
        self.source = Markup(source)  # a file of ours, and nothing that comes from data
        self.hash = "sha256-" + base64.b64encode(hashlib.sha256(source.encode()).digest()).decode()


@cache
def _environment() -> Environment:
    # Jinja2 is slow to import, and most commands write no page.
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader(__package__ or ""),
        autoescape=True,
        finalize=_visible,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.globals["charts"] = charts
    environment.filters |= {
        "form": format,
        "figure": figure,
        "shown": shown_value,
        "times_as_likely": times_as_likely,
    }
    environment.policies["json.dumps_kwargs"] = {
        "ensure_ascii": False,
        "separators": (",", ":"),
        "allow_nan": False,
    }
    return environment


def _visible(value: Any) -> Any:
    """Let no text from data play tricks with signs that cannot be seen."""
    return printable(value) if isinstance(value, str) and not isinstance(value, Markup) else value
