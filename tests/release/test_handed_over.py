"""What is handed over tells only what was promised: each test is an attack that once worked."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import sudare as sd
from tests.by_row import tuple_of
from tests.conformance import SCHEMA, people


def handed_over(release: sd.Release, folder: Path) -> dict[str, bytes]:
    """Write a release, and return what its receiver gets, without the commitment, the clock, and the hash over both."""
    out = release.write(folder, force=True) / "hand-over"
    files = {file.name: file.read_bytes() for file in out.iterdir()}
    certificate = json.loads(files.pop("certificate.json"))
    del certificate["created"], certificate["input"]["sha256_salted"], certificate["sha256"]
    return files | {"certificate": json.dumps(certificate).encode()}


def test_the_certificate_of_randomize_does_not_tell_the_last_persons_value(tmp_path: Path) -> None:
    """All records but one are known. Whatever was published, the certificate is the same for both values."""
    schema = sd.Schema.from_roles(sensitive=["ill"], domains={"ill": ["yes", "no"]}, missing="refuse")
    asked = sd.DifferentialPrivacy(0.1, per="record")
    seen: dict[bytes, dict[str, set[bytes]]] = {}
    for seed in range(16):
        for last in ("yes", "no"):
            table = sd.read(pl.DataFrame({"ill": ["yes", "no", "no", last]}), schema)
            files = handed_over(sd.randomize(table, asked, unsafe_seed=seed), tmp_path / "out")
            told = files["certificate"].replace(f"seed {seed};".encode(), b"")
            seen.setdefault(files["data.csv"], {}).setdefault(last, set()).add(told)
    both = [by_value for by_value in seen.values() if len(by_value) == 2]
    assert len(both) >= 3
    assert all(by_value["yes"] == by_value["no"] and len(by_value["yes"]) == 1 for by_value in both)


@pytest.mark.parametrize("suppress", [0.0, pytest.param(0.1, marks=pytest.mark.slow)])
def test_no_hash_or_figure_confirms_a_guess_of_one_record(tmp_path: Path, suppress: float) -> None:
    """One person's age is guessed among those that give the same published table: nothing else tells them apart."""
    told: dict[bytes, set[bytes]] = {}
    for age in range(0, 100, 12):
        guess = people(20).with_columns(age=pl.when(pl.int_range(20) == 7).then(age).otherwise("age"))
        files = handed_over(
            sd.generalize(sd.read(guess, SCHEMA), sd.KAnonymity(6), suppress=suppress), tmp_path / "out"
        )
        told.setdefault(files["data.csv"], set()).add(b"".join(files.values()))
    assert max(map(len, told.values())) == 1
    assert len(told) < 7  # of 9: many guesses give the same table


def test_the_holder_has_what_the_certificate_must_not_tell() -> None:
    release = sd.generalize(sd.read(people(), SCHEMA), sd.KAnonymity(5))
    assert release.holder["bound"] <= release.holder["utility"]["distortion"]
    assert release.holder["gap"] >= 1
    assert set(release.holder["attacks"]) == {"input", "output", "knowing"}
    assert release.holder["records"] == {"read": 60, "published": 60, "suppressed": 0}
    told = release.certificate.model_dump()
    assert {"bound", "gap", "decision"}.isdisjoint(told)
    assert set(told["attacks"]) == {"output"}
    assert told["records"] == {"published": 60}
    assert told["utility"]["distortion"] == pytest.approx(release.holder["utility"]["distortion"])
    assert told["utility"]["discernibility"] == release.holder["utility"]["discernibility"]


# -- People who were left out ----------------------------------------------------------------------------


QUASI = ["income", "town0", "town1", "town2"]


def with_somebody_far_away(income: float) -> pl.DataFrame:
    rng = np.random.default_rng(1)
    incomes = [*rng.integers(20_000, 60_000, 59).tolist(), income]
    towns = {f"town{i}": [*["here"] * 59, "far away"] for i in range(3)}
    return pl.DataFrame({"income": incomes, **towns, "ill": ["flu", "HIV"] * 30})


@pytest.mark.parametrize(
    ("hierarchy", "method"),
    [
        (None, "minimal"),
        (None, "full-domain"),
        ({"kind": "intervals", "quantiles": 16, "fanout": 2}, "full-domain"),
        ({"kind": "mask"}, "minimal"),
        pytest.param({"kind": "intervals", "width": 1000}, "minimal", marks=pytest.mark.slow),
        pytest.param({"kind": "intervals", "width": 1000}, "full-domain", marks=pytest.mark.slow),
        pytest.param({"kind": "intervals", "quantiles": 16, "fanout": 2}, "minimal", marks=pytest.mark.slow),
        pytest.param({"kind": "mask"}, "full-domain", marks=pytest.mark.slow),
    ],
)
def test_labels_are_made_from_those_who_are_published(
    hierarchy: dict[str, object] | None, method: str
) -> None:
    """Whatever the person who is left out earns, it makes no difference to what is published of the others."""
    schema = sd.Schema.from_roles(
        quasi=QUASI,
        sensitive=["ill"],
        hierarchies={"income": hierarchy} if hierarchy else {},  # type: ignore[dict-item]
    )
    outputs = []
    for income in (9_876_543_210, 70_007, 33_333):
        table = sd.read(with_somebody_far_away(income), schema)
        release = sd.generalize(table, sd.KAnonymity(3), method, suppress=0.02)
        assert release.holder["records"]["suppressed"] == 1
        assert release.frame().height == 59
        outputs.append(release.frame())
        assert str(income) not in release.frame().write_csv()
    assert all(outputs[0].equals(other) for other in outputs[1:])
    without = sd.read(with_somebody_far_away(70_007)[:59], schema)
    assert outputs[0].equals(sd.generalize(without, sd.KAnonymity(3), method).frame())


@pytest.mark.parametrize("method", ["minimal", "full-domain"])
@pytest.mark.parametrize(
    "seed", [*range(2), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(2, 12))]
)
def test_who_is_left_out_decides_nothing_about_the_others(seed: int, method: str) -> None:
    """Blocks, too: what is published is what would be published if the others were the whole table."""
    rng = np.random.default_rng(seed)
    people = pl.DataFrame(
        {
            "income": rng.integers(20_000, 60_000, 40),
            **{f"town{i}": rng.choice(["here", "there"], 40) for i in range(3)},
            "ill": rng.choice(["flu", "HIV"], 40),
        }
    )
    schema = sd.Schema.from_roles(quasi=QUASI, sensitive=["ill"])
    expected = sd.generalize(sd.read(people, schema), sd.KAnonymity(4), method).frame()
    left_out = 0
    for income in (100, 40_000, 90_000):
        alone = {"income": income, **{f"town{i}": "far away" for i in range(3)}, "ill": "flu"}
        table = sd.read(pl.concat([people, pl.DataFrame([alone])], how="vertical_relaxed"), schema)
        release = sd.generalize(table, sd.KAnonymity(4), method, suppress=0.025)
        if _is_left_out(release, table):
            assert release.frame().equals(expected)
            left_out += 1
    assert left_out


def _is_left_out(release: sd.Release, table: sd.Table) -> bool:
    """Whether the last row of a table is not published; else somebody else was left out."""
    located = release.plan.locate(table)
    return bool(located.block_of[tuple_of(table, located.counts)[-1]] < 0)


def test_types_do_not_tell_of_those_who_are_left_out(tmp_path: Path) -> None:
    """An Enum lists everybody's value; one fraction or text makes a column of whole numbers another type."""
    frame = with_somebody_far_away(1_234_567).with_columns(
        job=pl.Series([*["clerk"] * 59, "astronaut"], dtype=pl.Enum(["clerk", "astronaut"]))
    )
    schema = sd.Schema.from_roles(quasi=QUASI, sensitive=["ill"], other=["job"])
    release = sd.generalize(sd.read(frame, schema), sd.KAnonymity(3), suppress=0.02)
    folder = release.write(tmp_path / "out") / "hand-over"
    assert b"astronaut" not in b"".join(file.read_bytes() for file in folder.iterdir())

    schema = sd.Schema.from_roles(quasi=QUASI, sensitive=["ill"], other=["children", "flat"])
    rest = pl.DataFrame({"children": ["2"] * 59, "flat": ["7"] * 59})
    plain = with_somebody_far_away(1_234_567).with_columns(
        children=pl.concat([rest["children"], pl.Series(["0.5"])]),
        flat=pl.concat([rest["flat"], pl.Series(["no"])]),
    )
    plain.write_csv(tmp_path / "people.csv")
    output = sd.generalize(sd.read(tmp_path / "people.csv", schema), sd.KAnonymity(3), suppress=0.02).frame()
    assert output.height == 59
    assert (output["children"].dtype, output["flat"].dtype) == (pl.Int64, pl.Int64)


@pytest.mark.parametrize("last", [38, None, 38.5, Decimal("38.125"), 2**63])
def test_undeclared_types_are_those_of_the_published_values(last: object) -> None:
    kind = {Decimal: pl.Decimal(20, 3), float: pl.Float64}.get(type(last), pl.UInt64)
    temperatures = pl.Series("temp", [*[37] * 59, last], dtype=kind, strict=False)
    frame = with_somebody_far_away(1_234_567).with_columns(temperatures)
    schema = sd.Schema.from_roles(quasi=QUASI, sensitive=["ill"], other=["temp"])
    output = sd.generalize(sd.read(frame, schema), sd.KAnonymity(3), suppress=0.02).frame()
    assert output.height == 59
    assert output["temp"].dtype == pl.Int64


# -- Spreadsheets ----------------------------------------------------------------------------------------


def test_a_spreadsheet_takes_no_cell_for_a_formula(tmp_path: Path) -> None:
    """Such cells get an apostrophe in front in the CSV file, which is read back without it; Parquet has them as they are."""
    notes = ['=HYPERLINK("http://x")', "+1", "-5", "@SUM(A1)", "\t=1", "'=1", "- none -", "'tis", "−5"]
    frame = pl.DataFrame({"age": [30] * 9, "=note": notes})
    schema = sd.Schema.from_roles(quasi=["age"], other=["=note"])
    release = sd.generalize(sd.read(frame, schema), sd.KAnonymity(9))
    folder = release.write(tmp_path / "out") / "hand-over"
    cells = pl.read_csv(folder / "data.csv", infer_schema=False)
    assert "'=note" in cells.columns
    for cell in cells["'=note"].to_list():
        assert cell in ("-5", "+1") or cell[0] not in "=+-@\t\r"
    assert sorted(pl.read_parquet(folder / "data.parquet")["=note"].to_list()) == sorted(notes)
    assert sd.verify(tmp_path / "out", sd.KAnonymity(9), schema).holds


def test_names_that_look_alike_are_refused_before_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    schema = sd.Schema.from_roles(identifier=["name"], quasi=["age"], other=["Name "])
    table = sd.read(pl.DataFrame({"name": ["Ann"] * 3, "age": [1] * 3, "Name ": ["Ann"] * 3}), schema)
    monkeypatch.delattr("sudare.generalization.problem.Problem.of")
    with pytest.raises(sd.RequirementError, match="'Name ', which looks like the identifier 'name'"):
        sd.generalize(table, sd.KAnonymity(3))


@pytest.mark.usefixtures("reports")
def test_a_report_shows_signs_that_a_browser_would_obey() -> None:
    table = sd.read(
        pl.DataFrame({"t\u202eown": ["a\x1b", "a\x1b", "b\u202e", "b\u202e"]}),
        sd.Schema.from_roles(quasi=["t\u202eown"]),
    )
    report = sd.generalize(table, sd.KAnonymity(2)).report
    assert not {"\u202e", "\x1b"} & set(report)
