"""The evidence pack: of every kind of release, verified on the spot, with its own figures, and never a verdict."""

from __future__ import annotations

import json
import re
import shutil
import stat
from collections.abc import Callable
from functools import cache
from pathlib import Path

import polars as pl
import pytest

import sudare as sd
from sudare.reports import pdf
from sudare.reports.frameworks import FRAMEWORKS
from tests.reports.pages import BROWSER, outside_requests, stage, text_of_well_formed

BY = "A. Holder, data office"
PEOPLE = pl.DataFrame(
    {
        "name": [f"person {i}" for i in range(80)],
        "age": [20 + i % 4 for i in range(80)],
        "visit": ["2024-05-01"] * 40 + ["2024-05-02"] * 40,
        "sex": ["f", "m"] * 40,
        "ill": ["flu"] * 72 + ["HIV", "gout"] * 4,
    }
)
SCHEMA = sd.Schema.from_roles(
    identifier=["name"],
    quasi=["age", "sex"],
    sensitive=["ill"],
    other=["visit"],
    bounds={"age": (0, 99)},
    domains={"sex": ["f", "m"], "ill": ["flu", "HIV", "gout"]},
    missing="refuse",
)


@cache
def table() -> sd.Table:
    return sd.read(PEOPLE, SCHEMA)


def generalized() -> sd.Release:
    return sd.generalize(table(), [sd.KAnonymity(4), sd.LDiversity(2)], "mondrian")


def persons() -> sd.Release:
    rows = PEOPLE.select("age", "sex", pid=pl.int_range(80) // 2)
    schema = sd.Schema.from_roles(person="pid", quasi=["age", "sex"])
    return sd.generalize(sd.read(rows, schema), sd.KAnonymity(3), "mondrian")


def few() -> sd.Table:
    names = ["age", "sex", "ill"]
    own = {name: SCHEMA[name] for name in names}
    return sd.read(PEOPLE.select(names), SCHEMA.model_copy(update={"attributes": own}))


KINDS: dict[str, Callable[[], sd.Release | sd.PView]] = {
    "generalized": generalized,
    "persons": persons,
    "views": lambda: sd.generalize_views(table(), {"a": ["age"], "b": ["sex"]}, sd.MultiViewDiversity(2)),
    "randomized": lambda: sd.randomize(few(), sd.PkAnonymity(4), unsafe_seed=1),
    "p-view": lambda: sd.materialize(few(), sd.DifferentialPrivacy(1.0, 1e-9), unsafe_seed=1),
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_release_has_its_evidence(kind: str, tmp_path: Path) -> None:
    made = KINDS[kind]()
    folder = tmp_path / "out"
    made.write(folder)
    path = sd.evidence(folder, by=BY)
    assert path == folder / "keep" / "evidence.html"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    page = path.read_text("utf-8")
    said = text_of_well_formed(page)
    assert outside_requests(page) == []
    assert BY in said
    for name, value in sd.verify(folder).measured.items():
        assert f"{name} = {value:.4g}" in said
    for framework in FRAMEWORKS:
        assert framework.name in said
        for criterion in framework.criteria:
            assert criterion.asked in said
            assert criterion.left in said
    assert not re.search(r"\b(is|are) (HIPAA[- ])?(compliant|in compliance|anonymous under)", said)
    assert sd.verify(folder).holds  # nothing of it lies in what is handed over


@pytest.mark.parametrize("kind", ["randomized", "p-view"])
def test_noise_from_a_seed_is_told(kind: str, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    KINDS[kind]().write(folder)
    page = sd.evidence(folder, by=BY).read_text("utf-8")
    assert "who knows it undoes it" in page
    assert "holds against who knows the method" not in page


def evidence_of(release: sd.Release, tmp_path: Path) -> str:
    return sd.evidence(release.write(tmp_path / "out"), by=BY).read_text("utf-8")


def test_its_figures_are_those_of_the_release(tmp_path: Path) -> None:
    release = generalized()
    page = evidence_of(release, tmp_path)
    blocks = release.frame().group_by("age", "sex").len()["len"]
    assert f"The smallest block has {blocks.min()} records" in page
    risks = stage(page, 2)
    assert f"at most {1 / blocks.min():.1%}; 0 records above" in risks or blocks.min() < 5
    assert f"{len(blocks) / 80:.1%} on average" in risks
    frame = release.frame()
    alone = frame.group_by(frame.columns).len().filter(pl.col("len") == 1).height
    assert f"{alone:,} of 80 records differ from every other one" in page
    shares = (
        frame.group_by("age", "sex", "ill").len("n").group_by("age", "sex").agg(pl.max("n"), size=pl.sum("n"))
    )
    assert f"right for {shares['n'].sum() / 80:.1%}" in risks
    nearly = shares.filter(pl.col("n") / pl.col("size") > 0.9)["size"].sum()
    assert f"{nearly:,} of 80 are in blocks where one value has over 90%" in risks


def test_a_date_that_was_passed_on_is_found_and_has_to_be_explained(tmp_path: Path) -> None:
    page = evidence_of(generalized(), tmp_path)
    assert re.search(r"<td>visit</td><td>C\. .*?</td><td>found</td>", page)
    assert "<b>visit</b> has what looks like an identifier" in stage(page, 5)


def test_persons_are_counted_as_such(tmp_path: Path) -> None:
    release = persons()
    unit = release.holder["unit"]
    page = evidence_of(release, tmp_path)
    assert (
        f"Counted in persons when it was released, of which there are {unit['units']} with up to 2 rows each: k = {unit['measured']['k']:g}"
        in page
    )


@pytest.mark.parametrize("linked", [False, True])
def test_risks_of_persons_are_not_those_of_their_many_rows(
    linked: bool, tmp_path: Path, reports: None
) -> None:
    visits = [(pid, 20 + pid // 4) for pid in range(8) for _ in range(60 if pid == 0 and not linked else 6)]
    schema = sd.Schema.from_roles(person="pid", quasi=["age"], linked={"pid": linked})
    table = sd.read(pl.DataFrame(visits, schema=["pid", "age"], orient="row"), schema)
    release = sd.generalize(table, sd.KAnonymity(4), "mondrian")

    page = evidence_of(release, tmp_path)

    # Four persons have each age: one of four is found with certainty 1/4, whoever has how many rows.
    assert release.holder["unit"]["alike"] == {"input": 4, "output": 4}
    for text in (page, release.report):
        assert "25.0%" in text_of_well_formed(text)
        assert "1.3%" not in text  # of 78 rows
        assert "4.2%" not in text  # of 24 rows
    assert "fewer than" not in page
    found = release.holder["unit"]["looked_up"]["by_ties"]
    for ties, tied in found.items():
        assert f"published rows agree in {ties}" in page
        assert f"is right for {tied['named']:.1%}" in page
    assert linked is bool(found)
    assert ("k = 24 in records" in page) is not linked


def test_a_sample_with_weights_has_the_risks_in_its_population(tmp_path: Path) -> None:
    rows = PEOPLE.select("age", "sex", w=20.0 + pl.int_range(80) % 4)
    schema = sd.Schema.from_roles(quasi=["age", "sex"], weight=["w"])
    release = sd.generalize(sd.read(rows, schema), sd.KAnonymity(3), "mondrian")
    largest = release.holder["population"]["output"]["individual"]["largest"]
    page = evidence_of(release, tmp_path)
    assert f"{largest:.2%} (highest risk that one person is re-identified (individual risk))" in stage(
        page, 2
    )


def test_a_ledger_says_who_got_what(tmp_path: Path) -> None:
    ledger = sd.Ledger(tmp_path / "ledger.db")
    generalized().write(tmp_path / "first", ledger=ledger, receiver="university")
    few_ = sd.randomize(few(), sd.PkAnonymity(4), unsafe_seed=1)
    few_.write(tmp_path / "second", ledger=ledger)
    page = sd.evidence(tmp_path / "first", by=BY, ledger=ledger).read_text("utf-8")
    assert "Entry 1 of the ledger" in page
    assert "released for university" in page
    assert "1 other releases of the source" in page
    persons().write(tmp_path / "other")
    with pytest.raises(sd.InputError, match="the ledger has no entry of this release"):
        sd.evidence(tmp_path / "other", by=BY, ledger=ledger)


def test_a_folder_that_fails_is_refused(tmp_path: Path) -> None:
    folder = generalized().write(tmp_path / "out")
    data = folder / "hand-over" / "data.csv"
    data.write_bytes(data.read_bytes().replace(b"flu", b"HIV", 1))
    with pytest.raises(sd.RequirementError, match="not the file that was certified"):
        sd.evidence(folder, by=BY)
    assert not (folder / "keep" / "evidence.html").exists()


def test_it_is_the_holders(tmp_path: Path) -> None:
    folder = generalized().write(tmp_path / "out")
    with pytest.raises(sd.InputError, match="The evidence is the holder's"):
        sd.evidence(folder / "hand-over", by=BY)
    shutil.rmtree(folder / "keep")
    with pytest.raises(sd.InputError, match="The evidence is the holder's"):
        sd.evidence(folder, by=BY)


def _other_count(record: dict[str, object]) -> None:
    record["records"] = {"read": 80, "published": 79, "suppressed": 1}


def _no_attacks(record: dict[str, object]) -> None:
    del record["attacks"]


def _other_figure(record: dict[str, object]) -> None:
    record["measured"] = {"k": 999}


def _odd_attacks(record: dict[str, object]) -> None:
    record["attacks"] = {"input": {"reidentification": "none"}, "output": {}, "knowing": None}


@pytest.mark.parametrize("change", [_other_count, _no_attacks, _other_figure, _odd_attacks])
def test_a_record_of_another_release_is_refused(
    change: Callable[[dict[str, object]], None], tmp_path: Path
) -> None:
    folder = generalized().write(tmp_path / "out")
    path = folder / "keep" / "holder.json"
    record = json.loads(path.read_text("utf-8"))
    change(record)
    path.write_text(json.dumps(record), encoding="utf-8")
    with pytest.raises(sd.InputError, match="is not the holder's record of this release"):
        sd.evidence(folder, by=BY)


@pytest.mark.parametrize("by", ["", "  ", "a\x1b[2J", "x" * 201])
def test_somebody_must_stand_for_it(by: str, tmp_path: Path) -> None:
    with pytest.raises(sd.ParameterError, match="must name who prepared it"):
        sd.evidence(tmp_path, by=by)


def test_without_a_browser_a_pdf_is_refused_before_the_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = generalized().write(tmp_path / "out")
    monkeypatch.setattr(pdf, "BROWSERS", ("no-such-browser",))
    with pytest.raises(sd.InputError, match="needs Chromium or Chrome to print it, and none was found"):
        sd.evidence(folder, by=BY, pdf=True)
    assert not (folder / "keep" / "evidence.html").exists()


@pytest.mark.slow
@pytest.mark.skipif(BROWSER is None, reason="There is no Chromium or Chrome.")
def test_it_is_printed_as_pdf(tmp_path: Path) -> None:
    folder = generalized().write(tmp_path / "out")
    sd.evidence(folder, by=BY, pdf=True)
    printed = folder / "keep" / "evidence.pdf"
    assert printed.read_bytes().startswith(b"%PDF-")
    assert stat.S_IMODE(printed.stat().st_mode) == 0o600
    assert not [path for path in (folder / "keep").iterdir() if path.name.startswith(".")]
