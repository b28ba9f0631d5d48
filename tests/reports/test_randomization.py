"""The report of a randomized table says what was promised and done, for every kind of law."""

from __future__ import annotations

import re
from html import unescape

import polars as pl
import pytest

import sudare as sd
from sudare.reports import charts
from tests.reports.pages import outside_requests, pictures

N = 600


def people() -> sd.Table:
    frame = pl.DataFrame(
        {
            "age": [20 + i % 60 for i in range(N)],
            "income": [100.5 * (i % 90) for i in range(N)],
            "sex": ["Female", "Male"] * (N // 2),
            "town": [f"T{i % 50:02}" for i in range(N)],
            "name": [f"<b>{i}" for i in range(N)],
            "ill": ["yes", "no", "no"] * (N // 3),
        }
    )
    schema = sd.Schema.from_roles(
        identifier=["name"],
        quasi=["age", "income", "sex", "town"],
        sensitive=["ill"],
        bounds={"age": (0, 120), "income": (0.0, 10_000.0)},
        domains={
            "sex": ["Female", "Male"],
            "ill": ["yes", "no"],
            "town": [f"T{i:02}" for i in range(50)],
        },
        missing="refuse",
    )
    return sd.read(frame, schema)


def test_it_says_what_holds_and_shows_every_attribute() -> None:
    release = sd.randomize(people(), sd.PkAnonymity(5))
    page = unescape(release.report)
    assert "For the holder of the data only" in page
    assert "1/5</b> at most" in page
    assert f"epsilon = {release.certificate.measured['epsilon']:.2f}" in page
    for name in release.frame().columns:
        assert f"<h3>{name}</h3>" in page
    assert "'name'" in page
    assert "Laplace noise of scale" in page
    assert "there are no caveats" in page
    assert "It cannot be concluded:" in page
    assert outside_requests(release.report) == []
    assert (
        len(pictures(release.report)) == 2 + 2 * 5 + 3
    )  # dial and budget; heat and counts; how often categories are kept


@pytest.mark.parametrize("after", ["clip", "reflect"])
def test_every_law_is_told_in_words(after: str) -> None:
    table = people()
    release = sd.randomize(
        table,
        sd.DifferentialPrivacy(4, per="record"),
        how={"age": "bits", "income": "bins", "town": "optimal"},
        matrices={"sex": [[0.6, 0.4], [0.4, 0.6]]},
        priors={"ill": [1, 3]},
        after=after,  # type: ignore[arg-type]
    )
    page = release.report
    assert "bits of the number is flipped" in page
    assert "put into 10 bins first" in page
    assert "as your transition matrix says" in page
    assert "a private estimate" in page
    assert "given as public" in page
    assert "Amber: spent on private estimates" in page


def test_a_matrix_that_was_made_for_a_loss_is_not_called_the_holders_own() -> None:
    schema = sd.Schema.from_roles(sensitive=["ill"], domains={"ill": ["yes", "no"]}, missing="refuse")
    table = sd.read(pl.DataFrame({"ill": ["yes", "no"] * 1000}), schema)
    for epsilon, priors, words in (
        (6.0, {}, "a private estimate of the histogram, which took epsilon"),
        (0.5, {"ill": [1, 99]}, "What comes out does not depend on"),
    ):
        asked = sd.DifferentialPrivacy(epsilon, per="record")
        release = sd.randomize(table, asked, how={"ill": "optimal"}, loss="record", priors=priors)
        assert words in release.report
        assert "your transition matrix" not in release.report


def test_a_joint_law_is_one_section() -> None:
    release = sd.randomize(people(), sd.PkAnonymity(5), joint={"who": ["sex", "ill"]}, how={"who": "optimal"})
    page = unescape(release.report)
    assert "<h3>who</h3>" in page
    assert "<h3>sex</h3>" not in page
    assert "'sex', 'ill' are randomized together</b>: each of their 2 × 2 combinations" in page
    assert "Female × yes" in page
    assert len(pictures(release.report)) == 2 + 2 * 4 + 2


def test_a_joint_law_of_many_combinations_is_pictured() -> None:
    release = sd.randomize(people(), sd.PkAnonymity(5), joint={"who": ["town", "age", "sex"]})
    assert "50 × 10 × 2 combinations" in release.report
    assert "too many values for a picture" in release.report


def test_noise_on_a_fine_grid_is_reflected_and_pictured() -> None:
    page = sd.randomize(people(), sd.PkAnonymity(5), after="reflect").report
    assert "reflected back inside" in page
    assert page.count("How likely each value becomes which") == page.count("<h3>")


def test_the_true_histogram_is_a_caveat() -> None:
    release = sd.randomize(people(), sd.PkAnonymity(5), how={"ill": "optimal"}, histogram="true-histogram")
    assert "What the promise does not cover" in release.report
    assert "the true one: see the caveats" in release.report


def test_no_caveats_and_nothing_told() -> None:
    table = sd.read(
        pl.DataFrame({"ill": ["yes", "no"] * 20}),
        sd.Schema.from_roles(sensitive=["ill"], domains={"ill": ["yes", "no"]}),
    )
    page = sd.randomize(table, sd.PkAnonymity(40)).report
    assert "there are no caveats" in page
    assert "it tells nothing" in page
    assert "Nothing is estimated here" in page


def test_a_k_of_1_is_not_praised() -> None:
    page = sd.randomize(people(), sd.DifferentialPrivacy(30, per="record")).report
    assert "k is hardly above 1" in page


def test_the_dial_stands_where_k_is() -> None:
    def place(k: float) -> float:
        drawn = charts.k_scale(k, 10_000)
        return float(re.findall(r'd="M([\d.]+),', drawn)[0])

    assert place(1) == 60
    assert place(100) == pytest.approx(60 + 380)
    assert place(10_000) == 820
