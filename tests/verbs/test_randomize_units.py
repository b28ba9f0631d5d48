"""What is randomized of persons with several rows: epsilon and k are a person's, counted here over everything that can be published."""

import itertools
import json
import math
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import sudare as sd

ILL = ["no", "yes"]


def schema(most: int | None, **more: dict[str, bool]) -> sd.Schema:
    return sd.Schema.from_roles(
        person="pid",
        sensitive=["ill"],
        domains={"ill": ILL},
        missing="refuse",
        most_rows={} if most is None else {"pid": most},
        **more,
    )


def table_of(persons: Sequence[Sequence[str]], most: int) -> sd.Table:
    rows = [(number, ill) for number, own in enumerate(persons) for ill in own]
    return sd.read(pl.DataFrame(rows, schema=["pid", "ill"], orient="row"), schema(most))


def chances(law: dict[str, list[float]]) -> dict[tuple[str, str], float]:
    """Return how likely each value becomes each, from the law as it is published."""
    kept = law["retention"]
    return {(a, b): kept[i] if a == b else 1 - kept[i] for i, a in enumerate(ILL) for b in ILL}


def outcomes(persons: Sequence[Sequence[str]], law: dict[tuple[str, str], float]) -> dict[int, float]:
    """Return how likely every published table is; it is told by how many of its rows say yes."""
    of: dict[int, float] = defaultdict(float)
    before = [ill for own in persons for ill in own]
    for after in itertools.product(ILL, repeat=len(before)):
        of[after.count("yes")] += math.prod(law[pair] for pair in zip(before, after, strict=True))
    return of


def law_of(release: sd.Release) -> dict[tuple[str, str], float]:
    assert release.handed_over.law is not None
    law = chances(release.handed_over.law["attributes"]["ill"])
    assert all(math.isclose(sum(law[a, b] for b in ILL), 1) for a in ILL)
    return law


@pytest.mark.parametrize("epsilon", [0.5, 2.0])
def test_whatever_the_rows_of_a_person_are_the_output_is_about_as_likely(epsilon: float) -> None:
    persons = [["yes", "yes", "no"], ["no"], ["no", "yes"]]
    release = sd.randomize(table_of(persons, 3), sd.DifferentialPrivacy(epsilon, per="record"))
    law, worst = law_of(release), 0.0
    here = outcomes(persons, law)
    for other in itertools.product(ILL, repeat=3):
        there = outcomes([other, *persons[1:]], law)
        worst = max(worst, *(abs(math.log(here[key] / there[key])) for key in here))
    assert worst <= epsilon + 1e-9
    every = [outcomes([own, *persons[1:]], law) for own in (["yes"] * 3, ["no"] * 3)]
    assert math.log(every[0][6] / every[1][6]) == pytest.approx(epsilon)  # and no less: all is used
    assert release.certificate.unit == "person"
    assert release.certificate.measured["epsilon"] == pytest.approx(epsilon)


def found(persons: Sequence[Sequence[str]], law: dict[tuple[str, str], float]) -> float:
    """Return the best chance, over all tables, that some published row is of a person whom somebody points at."""
    owner = [number for number, own in enumerate(persons) for _ in own]
    before = [ill for own in persons for ill in own]
    whole: dict[int, float] = defaultdict(float)
    theirs: dict[tuple[int, int, str], float] = defaultdict(float)
    for after in itertools.product(ILL, repeat=len(before)):
        likely = math.prod(law[pair] for pair in zip(before, after, strict=True))
        key = after.count("yes")
        whole[key] += likely
        for person, value in zip(
            owner, after, strict=True
        ):  # a row of this value, taken at random, is this one
            theirs[key, person, value] += likely / after.count(value)
    return max(own / whole[key] for (key, _, _), own in theirs.items())


@pytest.mark.parametrize("k", [1.5, 2.5])
def test_nobody_points_at_a_row_of_a_person_more_often_than_promised(k: float) -> None:
    random = np.random.default_rng(3)
    for _ in range(5):
        persons = [[str(random.choice(ILL)) for _ in range(random.integers(1, 3))] for _ in range(4)]
        persons += [["yes", "yes"], ["no", "no"]]
        release = sd.randomize(table_of(persons, 2), sd.PkAnonymity(k))
        assert release.certificate.measured["pk"] >= k * (1 - 1e-9)
        assert found(persons, law_of(release)) <= 1 / k + 1e-9


def test_rows_alone_would_give_a_person_with_several_away() -> None:
    persons = [["yes", "yes"], ["no", "no"], ["no", "no"]]
    alone = sd.Schema.from_roles(sensitive=["ill"], domains={"ill": ILL}, missing="refuse")
    rows = sd.read(pl.DataFrame({"ill": [ill for own in persons for ill in own]}), alone)
    assert found(persons, law_of(sd.randomize(rows, sd.PkAnonymity(2)))) > 1 / 2
    assert found(persons, law_of(sd.randomize(table_of(persons, 2), sd.PkAnonymity(2)))) <= 1 / 2 + 1e-9


def test_of_a_person_with_more_rows_so_many_are_drawn_at_random() -> None:
    persons = [["yes", "no", "no", "no", "no"], *([["no"]] * 30)]
    drawn = set()
    for seed in range(40):
        release = sd.randomize(
            table_of(persons, 2), sd.DifferentialPrivacy(60.0, per="record"), unsafe_seed=seed
        )
        assert release.certificate.records == {"published": 32}
        assert release.holder["records"] == {"read": 35, "published": 32, "suppressed": 3}
        drawn.add(release.frame()["ill"].to_list().count("yes"))
    assert drawn == {0, 1}
    assert "Up to 2 rows of one person" in release.certificate.caveats[0]


def test_a_release_says_in_its_law_how_many_rows_it_protects(tmp_path: Path) -> None:
    table = table_of([["yes", "no"], ["no"], ["no", "no"]] * 20, 2)
    release = sd.randomize(table, sd.PkAnonymity(3))
    release.write(tmp_path / "out")
    assert sd.verify(tmp_path / "out").holds
    assert json.loads((tmp_path / "out" / "hand-over" / "law.json").read_text())["rows"] == 2
    plan = sd.Plan.open(tmp_path / "out" / "keep")
    assert sd.apply(plan, table).certificate.measured == release.certificate.measured
    other = sd.read(table.frame(), schema(1))
    with pytest.raises(sd.InputError, match=r"protects 2 rows .* by the schema it is 1"):
        sd.apply(plan, other)
    nobodys = sd.read(table.frame().select("ill"), sd.Schema.from_roles(
        sensitive=["ill"], domains={"ill": ILL}, missing="refuse"))  # fmt: skip
    with pytest.raises(sd.InputError, match="protects 2 rows"):
        sd.apply(plan, nobodys)


def test_a_law_that_protects_several_rows_of_nobody_is_refused(tmp_path: Path) -> None:
    sd.randomize(table_of([["yes", "no"], ["no"]] * 30, 2), sd.PkAnonymity(3)).write(tmp_path / "out")
    path = tmp_path / "out" / "hand-over" / "certificate.json"
    sd.Certificate.open(path).model_copy(update={"unit": None}).write(path)
    with pytest.raises(sd.RequirementError, match="does not say of whom"):
        sd.verify(path.parent)


@pytest.mark.parametrize("most", [1, 2])
def test_whoever_verifies_is_told_what_no_output_shows(most: int, tmp_path: Path) -> None:
    table = table_of([["yes", "no"], ["no"]] * 30, most)
    sd.randomize(table, sd.PkAnonymity(3)).write(tmp_path / "out")
    (note,) = sd.verify(tmp_path / "out" / "hand-over").notes
    assert (
        f"no person has more rows in the output than its law protects together (rows = {most}) was believed"
        in note
    )


def test_what_cannot_be_promised_is_refused_with_what_to_do() -> None:
    table = table_of([["yes", "no"], ["no"], ["no", "no"]], 2)
    with pytest.raises(sd.RequirementError, match=r"2 of the 5 rows may be of one .* up to 2\.5"):
        sd.randomize(table, sd.PkAnonymity(3))
    frame = table.frame()
    with pytest.raises(sd.InputError, match="Declare most_rows"):
        sd.randomize(sd.read(frame, schema(None)), sd.PkAnonymity(2))
    with pytest.raises(sd.InputError, match="Take linked = true off 'pid', or use generalize"):
        sd.randomize(sd.read(frame, schema(2, linked={"pid": True})), sd.PkAnonymity(2))


def test_epsilons_of_persons_and_of_rows_do_not_add_up(tmp_path: Path) -> None:
    ledger = sd.Ledger(tmp_path / "ledger.db")
    table = table_of([["yes", "no"], ["no"]] * 30, 2)
    asked = sd.DifferentialPrivacy(1.0, per="record")
    sd.randomize(table, asked).write(tmp_path / "one", ledger=ledger)
    sd.randomize(table, asked).write(tmp_path / "two", ledger=ledger)
    rows = sd.Schema.from_roles(identifier=["pid"], sensitive=["ill"], domains={"ill": ILL}, missing="refuse")
    with pytest.raises(sd.LedgerError, match="counts its epsilon in persons, and this one in rows"):
        sd.randomize(sd.read(table.frame(), rows), asked).write(tmp_path / "three", ledger=ledger)


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
def test_engines_protect_alike(engine: str) -> None:
    frame = table_of([["yes", "no", "no"], ["no"]] * 30, 2).frame()
    release = sd.randomize(sd.read(frame, schema(2), engine=engine), sd.PkAnonymity(4))  # type: ignore[arg-type]
    assert release.certificate.records == {"published": 90}
    assert release.certificate.measured["pk"] >= 4 * (1 - 1e-9)
