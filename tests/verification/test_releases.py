"""Every release on disk is verified by its own certificate; and any byte that changes on its way is noticed."""

from __future__ import annotations

import datetime as dt
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sudare as sd
from sudare.privacy.certificate import PublishedLabels

LEVELS = ["low", "middle", "high", "higher"]
DAYS = [dt.date(2024, 1, 1), dt.date(2023, 1, 1), dt.date(2024, 6, 1)]
TREE = sd.Hierarchy.from_tree({"lungs": ["flu", "cold"], "other": ["HIV", "none"]})
SCHEMA = sd.Schema.from_roles(
    identifier=["name"],
    quasi=["age", "town"],
    sensitive=["illness", "level", "day", "pay"],
    hierarchies={"illness": TREE},
    domains={"illness": ["flu", "cold", "HIV", "none"], "level": LEVELS, "day": DAYS},
)


def people(n: int = 200, seed: int = 0) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "name": [f"p{i}" for i in range(n)],
            "age": rng.integers(20, 60, n),
            "town": rng.choice(["Ayr", "=Bath", "@Cork", "-Dover"], n),
            "illness": rng.choice(["flu", "cold", "HIV"], n),
            "level": rng.choice(LEVELS[:3], n),
            "day": rng.choice(np.array([0, 1, 2]), n),
            "pay": rng.normal(size=n).round(1),
        }
    ).with_columns(day=pl.col("day").replace_strict(dict(enumerate(DAYS)), return_dtype=pl.Date))


PROMISES: list[list[Any]] = [
    [sd.KAnonymity(5)],
    [sd.LDiversity(2, attribute="illness"), sd.LDiversity(2, "entropy", attribute="illness")],
    [sd.LDiversity(2, "recursive", c=3, attribute="illness")],
    [
        sd.TCloseness(0.4, "hierarchical", attribute="illness"),
        sd.TCloseness(0.4, "ordered", attribute="illness"),
    ],
    [sd.TCloseness(0.3, "ordered", attribute="level"), sd.KAnonymity(3)],
    [sd.TCloseness(0.4, "ordered", attribute="day")],
    [sd.TCloseness(0.4, "ordered", attribute="pay")],
    [sd.TCloseness(0.5, attribute="pay")],
    [sd.BetaLikeness(2, attribute="illness"), sd.BetaLikeness(1, "basic", attribute="illness")],
    [sd.BetaLikeness(4, attribute="level"), sd.DeltaDisclosure(1.2, attribute="level")],
]


@pytest.mark.parametrize("source", ["csv", pytest.param("frame", marks=pytest.mark.slow)])
@pytest.mark.parametrize("promises", PROMISES, ids=str)
def test_a_generalized_table(tmp_path: Path, promises: list[Any], source: str) -> None:
    original: Any = people()
    if source == "csv":
        original.write_csv(tmp_path / "people.csv")
        original = tmp_path / "people.csv"
    release = sd.generalize(sd.read(original, SCHEMA), promises)
    folder = release.write(tmp_path / "out")
    for output in (folder, folder / "hand-over"):
        verification = sd.verify(output)
        assert verification.holds
        assert verification.measured == release.certificate.measured
    assert sd.verify(folder, promises, SCHEMA).measured == verification.measured


VIEWS = {"ages": ["age"], "towns": ["town"]}
ONE = sd.Schema.from_roles(
    identifier=["name"], quasi=["age", "town"], sensitive=["illness"], other=["level", "day", "pay"]
)


@pytest.mark.parametrize("kind", ["distinct", "entropy", "posterior"])
def test_several_views(tmp_path: Path, kind: Any) -> None:
    promise = sd.MultiViewDiversity(2 if kind == "distinct" else 1.5, kind)
    folder = sd.generalize_views(sd.read(people(), ONE), VIEWS, promise).write(tmp_path / "out")
    (finding,) = sd.verify(folder).findings
    assert finding.holds
    assert finding.value >= promise.l
    assert finding.note
    assert sd.verify(folder, sd.MultiViewDiversity(3, kind)).findings[0].value == finding.value
    assert not sd.verify(folder, sd.MultiViewDiversity(4, kind)).holds
    with pytest.raises(sd.InputError, match=r"several views, 'ages', 'towns'"):
        sd.verify(folder, sd.KAnonymity(2))


@pytest.fixture
def given_one(tmp_path: Path) -> Path:
    """What a receiver of one view of two was given: its files, and the certificate of both."""
    promise = sd.MultiViewDiversity(2)
    folder = sd.generalize_views(sd.read(people(), ONE), VIEWS, promise).write(
        tmp_path / "out", formats=["xlsx"]
    )
    given = tmp_path / "given"
    given.mkdir()
    for file in (folder / "hand-over").iterdir():
        if not file.name.startswith("towns"):
            shutil.copy(file, given)
    return given


def test_who_was_given_one_view_verifies_what_it_leaves_by_itself(given_one: Path) -> None:
    """Not what both leave together: that no receiver of one can count, and it is said so."""
    file = given_one / "ages.parquet"
    with pytest.raises(sd.RequirementError, match=r"'towns.*' is missing.*verify hand-over/VIEW.parquet"):
        sd.verify(given_one)
    found = sd.verify(file)
    published = pl.read_parquet(file)
    alone = published.group_by("age").agg(pl.n_unique("illness"))["illness"].min()
    assert found.holds
    assert found.value == alone >= 2
    assert found.rows == {"ages": published.height}
    assert "what it leaves together with 'towns' was not counted" in found.findings[0].note
    assert "as far as 'ages' alone shows it" in str(found)
    assert any("'towns' was believed" in note for note in found.notes)
    assert set(found.roles) == set(published.columns)
    named_otherwise = sd.verify(given_one / "ages.csv")  # all its files are looked at, whichever is named
    assert named_otherwise.measured == found.measured
    with pytest.raises(sd.ParameterError, match="needs the requirements and the schema"):
        sd.verify(file, schema=ONE)  # a schema of one's own says nothing without what is to hold


def test_one_view_is_held_to_its_certificate(given_one: Path) -> None:
    file, certificate = given_one / "ages.parquet", given_one / "certificate.json"
    true = sd.Certificate.open(certificate)

    def refused(match: str, **changed: Any) -> None:
        more = {name: getattr(true, name) | value for name, value in changed.items()}
        true.model_copy(update=more).write(certificate)
        with pytest.raises(sd.SudareError, match=match):
            sd.verify(file)
        true.write(certificate)

    refused("claims l_multiview = 100", measured={"l_multiview": 100})
    refused("claims the records", records={"published": 1})
    refused("utility.ages", utility={"ages": {}})
    refused("not the file that was certified", output={"ages.parquet": "0" * 64})
    # What is not of this view is compared with nothing else, and may hide no words.
    refused("figures of 'secret' that no view has", utility={"secret": {"Bob": "has HIV"}})
    refused("figures of 'towns' that no view has", utility={"towns": {"Bob has HIV": 1}})
    refused("is none of a release", output={"../../Bob.parquet": "0" * 64})
    refused("is none of a release", output={"towns.parquet": "Bob has HIV"})
    refused("lists labels", labels={"age": PublishedLabels(label="Bob has HIV", codes={"99": "Bob"})})
    hashes = {name: own for name, own in true.output.items() if name.startswith("ages")}
    true.model_copy(update={"output": hashes}).write(certificate)
    with pytest.raises(sd.InputError, match="Verify the folder"):
        sd.verify(file)
    certificate.rename(given_one.parent / "elsewhere.json")
    certificate.symlink_to(given_one.parent / "elsewhere.json")
    with pytest.raises(sd.RequirementError, match="is a link"):
        sd.verify(file)
    certificate.unlink()
    true.write(certificate)
    shutil.copy(file, given_one / "other.parquet")
    with pytest.raises(sd.InputError, match="is not named by"):
        sd.verify(given_one / "other.parquet")
    (given_one / "ages.csv").write_text("age,illness\n1,flu\n")
    with pytest.raises(sd.RequirementError, match="not the file that was certified"):
        sd.verify(file)
    (given_one / "ages.csv").unlink()
    (given_one / "ages.csv").symlink_to(certificate)
    with pytest.raises(sd.RequirementError, match="is a link"):
        sd.verify(file)


def test_a_file_of_one_table_is_verified_with_its_folder(tmp_path: Path) -> None:
    folder = sd.generalize(sd.read(people(), SCHEMA), sd.KAnonymity(2), method="mondrian").write(
        tmp_path / "out"
    )
    with pytest.raises(sd.InputError, match="is of the folder"):
        sd.verify(folder / "hand-over" / "data.parquet")
    assert sd.verify(folder).rows == {"data": pl.read_parquet(folder / "hand-over/data.parquet").height}


def two_views(tmp_path: Path, first: list[str], second: list[str]) -> Path:
    illnesses = ["flu", "HIV", "cold", "flu", "HIV", "cold"]
    for name, column, labels in (("a", "age", first), ("b", "town", second)):
        frame = pl.DataFrame({column: labels, "illness": illnesses})
        frame.write_parquet(tmp_path / f"{name}.parquet")
    return tmp_path


def test_what_is_left_can_be_proven_from_the_views(tmp_path: Path) -> None:
    """Every block of each view has all three values: whoever is in which, three are left."""
    schema = sd.Schema.from_roles(quasi=["age", "town"], sensitive=["illness"])
    folder = two_views(tmp_path, ["x"] * 3 + ["y"] * 3, ["u"] * 6)
    (finding,) = sd.verify(folder, sd.MultiViewDiversity(3), schema).findings
    assert (finding.value, finding.holds) == (3, True)
    assert "all views of this release together leave 3 or more" in finding.note


def test_what_cannot_be_proven_is_said(tmp_path: Path) -> None:
    """Blocks {flu, HIV, cold, flu} and {HIV, cold} by age; by town the same, other people: two alone, one together."""
    schema = sd.Schema.from_roles(quasi=["age", "town"], sensitive=["illness"])
    folder = two_views(tmp_path, list("xxyyyy"), list("uuuuvv"))
    (finding,) = sd.verify(folder, sd.MultiViewDiversity(2), schema).findings
    assert (finding.value, finding.holds, finding.worst) == (2, True, {"view": "a"})
    assert "was verified when they were made" in finding.note


def test_views_of_other_people_are_refused(tmp_path: Path) -> None:
    schema = sd.Schema.from_roles(quasi=["age", "town"], sensitive=["illness"])
    folder = two_views(tmp_path, ["x"] * 6, ["u"] * 6)
    pl.DataFrame({"town": ["u"] * 6, "illness": ["flu"] * 6}).write_parquet(folder / "b.parquet")
    with pytest.raises(sd.InputError, match=r"b\.parquet is not of the same records as a\.parquet"):
        sd.verify(folder, sd.MultiViewDiversity(1), schema)


# -- any byte ------------------------------------------------------------------------------------------


def generalized(folder: Path) -> Path:
    return sd.generalize(sd.read(people(40), SCHEMA), [sd.KAnonymity(3)]).write(folder) / "hand-over"


def randomized(folder: Path) -> Path:
    table = people(40).select("illness", "level")
    schema = sd.Schema.from_roles(
        quasi=["level"], sensitive=["illness"], domains={"illness": ["flu", "cold", "HIV"], "level": LEVELS}
    )
    return sd.randomize(sd.read(table, schema), sd.PkAnonymity(2)).write(folder) / "hand-over"


def viewed(folder: Path) -> Path:
    return (
        sd.generalize_views(sd.read(people(40), ONE), VIEWS, sd.MultiViewDiversity(2)).write(folder)
        / "hand-over"
    )


FLIPS = 150


@pytest.mark.parametrize("make", [generalized, randomized, viewed], ids=lambda make: make.__name__)
def test_any_changed_byte_is_refused(tmp_path: Path, make: Callable[[Path], Path]) -> None:
    folder = make(tmp_path / "out")
    once, again = sd.verify(folder), sd.verify(folder)
    assert once == again
    assert once.holds
    chance = random.Random(0)
    for _ in range(FLIPS):
        path = chance.choice(sorted(folder.iterdir()))
        content = path.read_bytes()
        at, bit = chance.randrange(len(content)), 1 << chance.randrange(8)
        path.write_bytes(content[:at] + bytes([content[at] ^ bit]) + content[at + 1 :])
        with pytest.raises(sd.SudareError):
            sd.verify(folder)
        path.write_bytes(content)
    assert sd.verify(folder) == once


@pytest.mark.parametrize("ending", ["parquet", "csv"])
@settings(max_examples=150)
@given(data=st.data())
def test_a_damaged_file_is_an_error_or_recounted(
    tmp_path_factory: pytest.TempPathFactory, ending: str, data: st.DataObject
) -> None:
    """Without a certificate a change may go unnoticed; but nothing breaks."""
    path = tmp_path_factory.mktemp("damaged") / f"data.{ending}"
    frame = pl.DataFrame({"q": ["a", "a", "b", "b"], "s": [1, 2, 3, 4]})
    frame.write_parquet(path) if ending == "parquet" else frame.write_csv(path)
    content = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 3))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    path.write_bytes(bytes(content))
    schema = sd.Schema.from_roles(quasi=["q"], sensitive=["s"])
    try:
        value = sd.verify(path, sd.KAnonymity(2), schema).value
    except sd.SudareError:
        value = 1
    shutil.rmtree(path.parent)
    assert value >= 1
