"""What a notebook shows unasked: one line, or small tables, safe in the page that shows them, and without what is kept."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache

import polars as pl
import pytest

import sudare as sd
from sudare.tables.notebook import MAX_ROWS, Listing, Shown, written
from tests.reports.pages import Page, outside_requests

HOSTILE = "</td><script>alert('x')</script><img src=x onerror=\"y\">\u202e\n&amp;"
SECRET = "Kowalczyk"
PEOPLE = 60


@cache
def people() -> pl.DataFrame:
    """A table in which every value is somebody's own, but for what is grouped when it is published."""
    number = range(PEOPLE)
    return pl.DataFrame(
        {
            HOSTILE: [f"{SECRET}-name-{i}" for i in number],
            "town": [f"{SECRET}-town-{i}" for i in number],
            "<b>job</b>": [f"{SECRET}-job-{i}" for i in number],
            "ill\u202e": [f"{SECRET}-ill-{i % 7}{HOSTILE}" for i in number],
        }
    )


@cache
def schema() -> sd.Schema:
    town = sd.Hierarchy.suppress(people()["town"])  # made from somebody's values
    return sd.Schema.from_roles(
        identifier=[HOSTILE],
        quasi=["town", "<b>job</b>"],
        sensitive=["ill\u202e"],
        hierarchies={"town": town},
        domains={
            "ill\u202e": people()["ill\u202e"].unique().sort().to_list(),
            "<b>job</b>": people()["<b>job</b>"].to_list(),
        },
    )


@cache
def table() -> sd.Table:
    return sd.read(people(), schema())


@cache
def release(method: str = "mondrian") -> sd.Release:
    return sd.generalize(table(), [sd.KAnonymity(20), sd.LDiversity(2)], method=method)  # type: ignore[arg-type]


def with_a_kept_side() -> sd.Release:
    made = sd.generalize(table(), [sd.KAnonymity(20), sd.LDiversity(2)], method="mondrian")
    assert made.holder, made.report
    return made


@cache
def views() -> sd.Release:
    return sd.generalize_views(table(), {"a": ["town"], "b": ["<b>job</b>"]}, sd.MultiViewDiversity(2))


@cache
def pview() -> sd.PView:
    return sd.materialize(table(), sd.DifferentialPrivacy(1.0), method="independent", unsafe_seed=1)


def attacked(kind: str, **options: object) -> Shown:
    result = sd.attack(release().frame(), release().schema, kind=kind, **options)  # type: ignore[arg-type]
    assert isinstance(result, Shown)
    return result


SHOWN: dict[str, Callable[[], Shown]] = {
    "table": table,
    "schema": schema,
    "assessment": lambda: sd.assess(table(), l=[2, 9], k=[2, 99]),
    "release": release,
    "release that has its holder's record": with_a_kept_side,
    "certificate": lambda: release().certificate,
    "verification": lambda: release().verification,
    "views": views,
    "plan of views": lambda: views().plan,
    "randomized": lambda: sd.randomize(table(), sd.PkAnonymity(4)),
    "plan of a law": lambda: sd.randomize(table(), sd.PkAnonymity(4)).plan,
    "randomizer": lambda: sd.Randomizer.from_schema(schema(), sd.DifferentialPrivacy(2.0, per="record")),
    "p-view": pview,
    "design": lambda: pview().design,
    "its certificate": lambda: pview().certificate,
    **{
        f"plan of {name}": (lambda name=name: release(name).plan)
        for name in ("mondrian", "minimal", "full-domain", "blind")
    },
    **{
        kind: (lambda kind=kind: attacked(kind))
        for kind in ("homogeneity", "background", "reidentification", "skewness", "proximity")
    },
    "minimality": lambda: attacked(
        "minimality", known=people(), requirements=release().requirements, method="mondrian"
    ),
    "pk_game": lambda: _game(),
}


def _game() -> Shown:
    randomized = sd.randomize(table(), sd.PkAnonymity(4))
    law = randomized.handed_over.law
    game: Shown = sd.attack(
        randomized.frame(), schema(), kind="pk_game", law=law, known=people().drop(HOSTILE)
    )
    return game


@pytest.fixture(params=SHOWN, scope="module")
def thing(request: pytest.FixtureRequest) -> Shown:
    return SHOWN[request.param]()


def test_it_is_one_short_line(thing: Shown) -> None:
    line = repr(thing)
    assert line.startswith(f"{type(thing).__name__}(")
    assert len(line) < 300
    assert line.isprintable()


def test_a_page_stays_whole_and_asks_for_nothing(thing: Shown) -> None:
    page = thing._repr_html_()
    tags = {tag for tag, _ in Page(page).tags}
    assert tags <= {"div", "strong", "table", "tr", "th", "td"}
    assert outside_requests(page) == []
    assert "\u202e" not in page
    assert len(page) < 40_000
    styles = {own.get("style") or "" for _, own in Page(page).tags}
    assert not re.search(
        r"(?<!-)color:\s*(#|black|white|rgb\()", " ".join(styles)
    )  # a dark page stays legible


def test_nobodys_values_are_shown(thing: Shown) -> None:
    assert SECRET not in repr(thing)
    assert SECRET not in thing._repr_html_()


def test_a_release_is_shown_alike_whatever_is_kept_of_it() -> None:
    """The keep side has no part in it: not its record, nor its report, nor how many were left out."""
    bare, full = release(), with_a_kept_side()
    assert bare._repr_html_() == full._repr_html_()


def test_showing_makes_no_record() -> None:
    made = sd.generalize(table(), sd.KAnonymity(20), method="mondrian")
    repr(made), made._repr_html_()
    assert not {"holder", "report", "certificate"} & set(vars(made))


def test_of_a_p_view_only_the_noisy_total_is_told() -> None:
    page = pview()._repr_html_()
    assert f">{written(pview().total)}<" in page
    assert f">{PEOPLE}<" not in page


def test_an_opened_certificate_is_somebody_elses_text() -> None:
    data = release().certificate.model_dump(mode="json")
    forged = sd.Certificate.from_json(
        data | {"method": HOSTILE, "caveats": [HOSTILE], "measured": {HOSTILE: 5}}
    )
    assert {tag for tag, _ in Page(forged._repr_html_()).tags} <= {
        "div",
        "strong",
        "table",
        "tr",
        "th",
        "td",
    }


def test_long_lists_are_cut() -> None:
    class Many(Shown):
        def _line(self) -> str:
            return "x" * 10_000

        def _listings(self) -> list[Listing]:
            return [Listing("", ("number",), [(i,) for i in range(1000)])]

    assert len(repr(Many())) < 300
    page = Page(Many()._repr_html_())
    assert [tag for tag, _ in page.tags].count("td") == MAX_ROWS
    assert "and 960 more" in page.text
