"""Promises with harmless values, through several releases: against what can be told of each person one by one."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sudare as sd
from sudare.ledger.entries import RecordedPromise, fault_of
from sudare.ledger.history import promise
from sudare.privacy.multi_view import RemainingValues
from tests.ledger.test_ledger import SCHEMA, people, row_blocks

VALUES = 4
views = st.lists(
    st.tuples(st.integers(0, VALUES - 1), st.integers(0, 2), st.integers(0, 2)), min_size=2, max_size=14
)
harmless_codes = st.sets(st.integers(0, VALUES - 1), max_size=2)


def seen_by(records: list[tuple[int, int, int]]) -> tuple[RemainingValues, np.ndarray]:
    value, *blocks = (np.array(column) for column in zip(*records, strict=True))
    totals = np.bincount(value, minlength=int(value.max()) + 1)
    return RemainingValues.of(blocks, value, np.ones(len(value), dtype=np.int64)), totals


def posteriors(records: list[tuple[int, int, int]], harmless: set[int]) -> list[dict[int, float]]:
    """Of each person who may have another value: how likely each of these is, if it is one of them."""
    left = []
    for _, a, b in records:
        likely = {}
        for s in {s for s, _, _ in records} - harmless:
            own = [record for record in records if record[0] == s]
            shares = [sum(record[i] == x for record in own) / len(own) for i, x in ((1, a), (2, b))]
            if math.prod(shares):
                likely[s] = len(own) * math.prod(shares)
        if likely:
            left.append({s: x / sum(likely.values()) for s, x in likely.items()})
    return left


@given(records=views, harmless=harmless_codes)
def test_what_is_left_beside_harmless_values(records: list[tuple[int, int, int]], harmless: set[int]) -> None:
    seen, totals = seen_by(records)
    codes = np.array(sorted(code for code in harmless if code < len(totals)), dtype=np.int64)
    left, expected = seen.besides(codes, totals), posteriors(records, harmless)
    assert left.candidates.tolist() == [len(own) for own in expected]
    assert left.posterior == pytest.approx([max(own.values()) for own in expected])
    entropies = [-sum(p * math.log(p) for p in own.values()) for own in expected]
    assert left.entropy == pytest.approx(entropies, abs=1e-12)


@given(
    records=views,
    harmless=harmless_codes,
    l=st.sampled_from([1, 2]),
    measure=st.sampled_from(["distinct", "entropy"]),
)
def test_what_views_must_keep_implies_the_promise(
    records: list[tuple[int, int, int]], harmless: set[int], l: int, measure: str
) -> None:
    promised = RecordedPromise(
        attribute="s", text="", measure=measure, l=float(l), harmless=[f"{code}" for code in sorted(harmless)]
    )
    seen, totals = seen_by(records)
    codes = np.array(sorted(code for code in harmless if code < len(totals)), dtype=np.int64)
    left = seen.besides(codes, totals)
    assert promised.implied_by is not None
    assert promised.requirement is not None
    if promised.implied_by.measure(seen).holds and len(left.weights):
        assert promised.requirement.measure(left).holds


def test_promises_as_they_are_recorded() -> None:
    schema = sd.Schema.from_roles(quasi=["age"], sensitive=["ill"])
    plain, aside = sd.LDiversity(2), sd.LDiversity(2, "entropy", harmless=["well"])
    assert "harmless" not in (promise(plain, schema) or {})
    recorded = RecordedPromise.model_validate(promise(aside, schema))
    assert (recorded.measure, recorded.l, recorded.harmless) == ("entropy", 2, ["well"])
    assert recorded.implied_by == sd.MultiViewDiversity(3, "posterior")
    near = RecordedPromise.model_validate(promise(sd.LDiversity(2, "proximity", within=5), schema))
    assert near.requirement is near.implied_by is None
    assert fault_of("apart", {"receivers": ["a", "b"], "harmless": []}) is not None
    with pytest.raises(ValueError, match="harmless"):
        RecordedPromise.model_validate({**(promise(aside, schema) or {}), "harmless": [3]})


def left_to_everybody(table: sd.Table, releases: list[sd.Release]) -> list[set[str]]:
    """Count by hand which values, beside flu, all releases leave to each person."""
    ill = table.frame()["ill"].to_list()
    left = []
    views = [row_blocks(own, table) for release in releases for own in release.kept.blocks.values()]
    for person in range(len(table)):
        values = set(ill)
        for blocks in views:
            values &= {ill[other] for other in np.flatnonzero(blocks == blocks[person])}
        left.append(values - {"flu"})
    return left


@pytest.mark.parametrize("seeds", [range(3), pytest.param(range(3, 9), marks=pytest.mark.slow)], ids=len)
def test_a_second_release_keeps_the_promise_or_is_refused(seeds: range, tmp_path: Path) -> None:
    asked = sd.LDiversity(2, harmless=["flu"])
    outcomes = set()
    for seed in seeds:
        table = sd.read(people(24, seed), SCHEMA)
        ledger = sd.Ledger(tmp_path / f"{seed}.db")
        first, second = sd.generalize(table, asked), sd.generalize(table, asked, "mondrian")
        first.write(tmp_path / f"first {seed}", ledger=ledger)
        kept = all(len(own) != 1 for own in left_to_everybody(table, [first, second]))
        outcomes.add(kept)
        if kept:
            second.write(tmp_path / f"second {seed}", ledger=ledger)
            continue
        with pytest.raises(sd.RequirementError, match=r"this would break .*\('flu' harmless\)"):
            second.write(tmp_path / f"second {seed}", ledger=ledger)
    first.write(tmp_path / "again", ledger=ledger)  # the same blocks tell nothing more
    assert False in outcomes


@pytest.mark.parametrize("kind", ["distinct", "entropy"])
def test_a_later_view_keeps_the_promise(tmp_path: Path, kind: str) -> None:
    table = sd.read(people(60, 1), SCHEMA)
    ledger = sd.Ledger(tmp_path / "releases.db")
    asked = sd.LDiversity(2, kind, harmless=["flu"])  # type: ignore[arg-type]
    first = sd.generalize(table, [sd.KAnonymity(20), asked])
    first.write(tmp_path / "first", ledger=ledger)
    view = sd.generalize_views(table, {"T": ["town"]}, sd.MultiViewDiversity(2), ledger=ledger)
    view.write(tmp_path / "views", ledger=ledger)
    assert all(len(own) != 1 for own in left_to_everybody(table, [first, view]))


def test_who_is_known_to_be_harmless_cannot_be_left_with_more(tmp_path: Path) -> None:
    """A block of one harmless value is fine by itself; later views could leave nobody in it two values."""
    table = sd.read(people(60, 1), SCHEMA)
    ledger = sd.Ledger(tmp_path / "releases.db")
    sd.generalize(table, sd.LDiversity(2, harmless=["flu"])).write(tmp_path / "first", ledger=ledger)
    with pytest.raises(sd.RequirementError, match="after release 1 somebody is left with 1"):
        sd.generalize_views(table, {"T": ["town"]}, sd.MultiViewDiversity(2), ledger=ledger)


def test_proximity_does_not_survive_a_second_release(tmp_path: Path) -> None:
    frame = people(40).with_columns(ill=pl.Series(range(40)))
    table = sd.read(frame, sd.Schema.from_roles(quasi=["age", "height", "town"], sensitive=["ill"]))
    ledger = sd.Ledger(tmp_path / "releases.db")
    release = sd.generalize(table, sd.LDiversity(2, "proximity", within=2))
    release.write(tmp_path / "first", ledger=ledger)
    with pytest.raises(sd.RequirementError, match="no rule is known"):
        sd.generalize(table, sd.LDiversity(2), "mondrian").write(tmp_path / "second", ledger=ledger)
