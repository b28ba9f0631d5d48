"""Blind cuts: sensitive values have no part in who is in which block."""

from __future__ import annotations

from pathlib import Path
from random import Random

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings

import sudare as sd
from sudare.engines.relational import Relational
from sudare.generalization.blind import cut_by_sizes
from sudare.generalization.problem import Problem, with_hierarchies
from tests.generalization.cases import randoms

AGES = sd.Hierarchy.intervals(range(64), width=4, fanout=2)
SCHEMA = sd.Schema.from_roles(quasi=["age", "town"], sensitive=["ill"], hierarchies={"age": AGES})
ASKED = [sd.KAnonymity(4), sd.LDiversity(2)]


def people(r: Random, rows: int) -> pl.DataFrame:
    ages = [r.randrange(64) for _ in range(rows)]
    ill = [r.choice(["flu", "cold"]) if age < 40 else r.choice(["flu", "HIV", "gout"]) for age in ages]
    return pl.DataFrame({"age": ages, "town": [r.choice("ABCD") for _ in range(rows)], "ill": ill})


def dealt_anew(frame: pl.DataFrame, release: sd.Release, r: Random) -> pl.DataFrame:
    """Deal the values of every published block out to its people in another way."""
    whole = release.plan.locate(sd.read(frame, SCHEMA))
    counts = whole.counts
    block = dict(zip(map(tuple, counts.codes.tolist()), whole.block_of.tolist(), strict=True))
    table = sd.read(frame, SCHEMA)
    codes = [
        dict(zip(table[name].values.to_list(), range(table[name].size), strict=False))
        for name in counts.names
    ]
    rows = [
        block[tuple(code[v] for code, v in zip(codes, row, strict=True))]
        for row in frame.select(counts.names).rows()
    ]
    ill = frame["ill"].to_list()
    for b in set(rows) - {-1}:
        inside = [i for i, own in enumerate(rows) if own == b]
        values = [ill[i] for i in inside]
        r.shuffle(values)
        for i, value in zip(inside, values, strict=True):
            ill[i] = value
    return frame.with_columns(ill=pl.Series(ill))


@given(r=randoms)
@settings(max_examples=40)
def test_the_release_does_not_depend_on_who_has_which_value_of_a_block(r: Random) -> None:
    """What the proof says: however the values of published blocks are dealt out, the same is published."""
    frame = people(r, r.randint(20, 120))
    method = sd.methods.Blind(suppress=0.99, region_labels=r.random() < 0.5)
    try:
        release = sd.generalize(sd.read(frame, SCHEMA), ASKED, method)
    except sd.SudareError:
        return  # all are left out
    other = dealt_anew(frame, release, r)
    assert sd.generalize(sd.read(other, SCHEMA), ASKED, method).frame().equals(release.frame())


def test_other_methods_do_depend_on_it() -> None:
    """Or the test above would show nothing: both with q1 are ill, and after they are not, blocks are cut."""
    schema = sd.Schema.from_roles(quasi=["q"], sensitive=["ill"])
    ill = ["HIV", "HIV", "flu", "cold", "gout", "ulcer"]
    bad = pl.DataFrame({"q": ["q1"] * 2 + ["q2"] * 4, "ill": ill})
    good = bad.with_columns(ill=pl.Series(["HIV", "flu", "HIV", "cold", "gout", "ulcer"]))
    asked = [sd.KAnonymity(2), sd.LDiversity(2)]
    coarse, fine = (sd.generalize(sd.read(one, schema), asked, "mondrian").frame() for one in (bad, good))
    assert (coarse["q"].n_unique(), fine["q"].n_unique()) == (1, 2)
    blind = sd.generalize(sd.read(bad, schema), asked, "blind", suppress=0.5)
    assert blind.frame().sort("ill")["ill"].to_list() == ["cold", "flu", "gout", "ulcer"]
    assert blind.frame()["q"].unique().to_list() == ["q2"]


@given(r=randoms)
@settings(max_examples=40)
def test_parts_have_k_records_and_cannot_be_cut(r: Random) -> None:
    """A part of fewer than 2k records could not have been cut whoever was in it; of every other, no level can be."""
    frame, k = people(r, r.randint(4, 150)), r.randint(2, 6)
    table = with_hierarchies(sd.read(frame, SCHEMA))
    p = Problem.of(table, [sd.KAnonymity(k)])
    block_of, levels = cut_by_sizes(p, k)
    sizes = np.bincount(block_of, p.weights)
    if frame.height < k:
        return
    assert sizes.min() >= k
    for b, level in enumerate(levels):
        units = p.units[block_of == b]
        for a, tree in enumerate(p.hierarchies):
            assert len(set(tree.codes[level[a], units[:, a]].tolist())) == 1  # its own label is true


def test_region_labels_are_those_of_the_cuts() -> None:
    """All eight are of town A; without another town to cut off, that is not said."""
    frame = pl.DataFrame({"age": [1, 2, 3, 4, 40, 41, 42, 43], "town": ["A"] * 8, "ill": ["flu", "cold"] * 4})
    wide = sd.Schema.from_roles(
        quasi=["age", "town"], sensitive=["ill"],
        hierarchies={"age": AGES, "town": sd.Hierarchy.suppress(["A", "B"])},
    )  # fmt: skip
    tight = sd.generalize(sd.read(frame, wide), ASKED, "blind")
    region = sd.generalize(sd.read(frame, wide), ASKED, "blind", region_labels=True)
    assert set(tight.frame()["town"]) == {"A"}
    assert set(region.frame()["town"]) == {"*"}
    assert tight.certificate.method == "blind"
    assert region.certificate.method == "blind-regions"
    assert sd.verify(region.frame(), ASKED, wide).holds


@pytest.mark.usefixtures("reports")
def test_the_attack_that_it_is_against_gains_nothing() -> None:
    r = Random(5)
    frame = people(r, 600).with_columns(ill=pl.Series(r.choices(["flu", "cold", "HIV"], [8, 1, 1], k=600)))
    table, asked = sd.read(frame, SCHEMA), [sd.KAnonymity(2), sd.LDiversity(2)]
    blind = sd.generalize(table, asked, "blind", suppress=0.9)
    figures = blind.holder["attacks"]["knowing"]["minimality"]
    assert figures["believed_after"] == figures["believed_before"]
    assert figures["ruled_out"] == 0
    mondrian = sd.generalize(table, asked, "mondrian").holder["attacks"]["knowing"]["minimality"]
    assert mondrian["ruled_out"] > 0
    assert mondrian["strongest_after"] > mondrian["strongest_before"]


def test_numbers_are_as_far_apart_as_asked() -> None:
    frame = pl.DataFrame({"town": [*"AAAABBBB"], "income": [10, 11, 12, 13, 10, 20, 30, 40]})
    table = sd.read(frame, sd.Schema.from_roles(quasi=["town"], sensitive=["income"]))
    asked = [sd.KAnonymity(4), sd.LDiversity(2, "proximity", within=5)]
    release = sd.generalize(table, asked, sd.methods.Blind(suppress=0.5))
    assert release.frame()["town"].to_list() == ["B"] * 4


def test_what_cannot_be_is_refused() -> None:
    table = sd.read(people(Random(1), 60), SCHEMA)
    with pytest.raises(sd.ParameterError, match="cuts by k alone"):
        sd.generalize(table, sd.LDiversity(2), "blind")
    with pytest.raises(sd.RequirementError, match=r"'suppress' lets 0.0% be left out. Ask for a larger k"):
        sd.generalize(table, [sd.KAnonymity(2), sd.LDiversity(2)], "blind")
    bare = sd.Schema.from_roles(quasi=["age", "town"], sensitive=["ill"])
    with pytest.raises(sd.InputError, match="'age' has no hierarchy, and the method 'blind' makes none"):
        sd.generalize(sd.read(people(Random(1), 60), bare), ASKED, "blind")
    with pytest.raises(sd.RequirementError, match="too unlike the whole table"):
        sd.generalize(table, [sd.KAnonymity(2), sd.TCloseness(0.1)], "blind", suppress=0.5)
    with pytest.raises(sd.ParameterError, match="'region_labels' parameter of Blind must be true or false"):
        sd.methods.Blind(region_labels=1)  # type: ignore[arg-type]
    with pytest.raises(sd.ParameterError, match="is for the method 'blind'"):
        sd.generalize(table, ASKED, region_labels=True)
    with pytest.raises(sd.ParameterError, match="to the method itself"):
        sd.generalize(table, ASKED, sd.methods.Blind(), suppress=0.1)


@pytest.mark.usefixtures("reports")
def test_databases_give_the_same_and_are_not_cut_by_regions(monkeypatch: pytest.MonkeyPatch) -> None:
    frame = people(Random(2), 300)
    there, here = sd.read(frame, SCHEMA, engine="duckdb"), sd.read(frame, SCHEMA)
    blind = sd.methods.Blind(suppress=0.5)
    assert sd.generalize(there, ASKED, blind).frame().equals(sd.generalize(here, ASKED, blind).frame())
    monkeypatch.setattr(Relational, "max_tuples", 10)
    with pytest.raises(sd.InputError, match="the method 'blind' cuts the whole table"):
        sd.generalize(there, ASKED, blind)
    assert sd.generalize(there, ASKED, "mondrian").holder["attacks"]["knowing"] is None


def test_a_plan_is_saved_and_opened(tmp_path: Path) -> None:
    table = sd.read(people(Random(4), 200), SCHEMA)
    release = sd.generalize(table, ASKED, "blind", suppress=0.5, region_labels=True)
    folder = release.write(tmp_path / "out")
    again = sd.apply(sd.Plan.open(folder), table, unseen="suppress")
    assert again.frame().equals(release.frame())
    assert again.certificate.method == "blind-regions"
    assert sd.verify(folder).holds
