from __future__ import annotations

import contextlib
import math
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sudare as sd
from sudare.privacy.certificate import Certificate
from sudare.privacy.promises import promise_from_json, promise_to_json
from sudare.privacy.requirement import BlockRequirement, Measure
from sudare.verification import recount, recount_shares
from sudare.verification.claims import refuse_figures
from tests.privacy import plain, strategies
from tests.privacy.plain import blocks_of

METHODS = ["minimal", "mondrian", "full-domain", "mdav", "blind"]
ASKED = [
    sd.BetaLikeness(1),
    sd.BetaLikeness(4),
    sd.BetaLikeness(0.5, "basic"),
    sd.BetaLikeness(3, "basic"),
    sd.DeltaDisclosure(0.7),
    sd.DeltaDisclosure(1.5),
]
SCHEMA = sd.Schema.from_roles(
    quasi=["age", "sex"],
    sensitive=["ill"],
    hierarchies={"age": sd.Hierarchy.intervals(range(20), width=5), "sex": sd.Hierarchy.suppress(["f", "m"])},
)
ROWS = st.lists(
    st.tuples(st.integers(0, 19), st.sampled_from("fm"), st.sampled_from(["a", "a", "a", "b", "c", None])),
    min_size=2,
    max_size=40,
).filter(lambda rows: any(ill is not None for *_, ill in rows))


def frame_of(rows: list[tuple[int, str, str | None]]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=["age", "sex", "ill"], orient="row")


def drawn(n: int, values: str) -> list[tuple[int, str, str | None]]:
    rng = np.random.default_rng(0)
    columns = (
        rng.integers(0, 20, n).tolist(),
        rng.choice(["f", "m"], n).tolist(),
        rng.choice([*values], n).tolist(),
    )
    return list(zip(*columns, strict=True))


def histograms(published: pl.DataFrame) -> list[Counter[Any]]:
    blocks: dict[Any, Counter[Any]] = {}
    for age, sex, ill in published.select("age", "sex", "ill").rows():
        blocks.setdefault((age, sex), Counter())[ill] += 1
    return list(blocks.values())


def all_hold(requirement: BlockRequirement, published: pl.DataFrame) -> bool:
    table = Counter(published["ill"].to_list())
    return all(plain.holds(requirement, own, table) for own in histograms(published))


@settings(max_examples=60, deadline=None)
@given(ROWS, st.sampled_from(ASKED), st.sampled_from(METHODS))
def test_what_every_method_publishes_has_it(
    rows: list[tuple[int, str, str | None]], asked: BlockRequirement, method: str
) -> None:
    """The whole table in one block has it, so that nothing is refused but by `blind`."""
    table = sd.read(frame_of(rows), SCHEMA)
    if method == "blind":  # which looks at what is kept only when it has cut
        with contextlib.suppress(sd.RequirementError):
            assert all_hold(asked, sd.generalize(table, [sd.KAnonymity(2), asked], method).frame())
        return
    release = sd.generalize(table, [sd.KAnonymity(2), asked], method)
    assert release.frame().height == len(rows)
    assert all_hold(asked, release.frame())
    assert release.certificate.requirements == ["2-anonymity", str(asked)]


@settings(max_examples=200, deadline=None)
@given(ROWS, st.sampled_from(ASKED), st.integers(1, 20))
def test_the_recount_says_what_the_definition_says(
    rows: list[tuple[int, str, str | None]], asked: BlockRequirement, width: int
) -> None:
    """Of any output, most of them broken."""
    output = frame_of(rows).with_columns((pl.col("age") // width).cast(pl.String))
    assert sd.verify(output, asked, SCHEMA).holds == all_hold(asked, output)


def test_an_output_whose_values_were_changed_is_caught() -> None:
    rows = drawn(300, "abc")
    asked = sd.BetaLikeness(1.5)
    release = sd.generalize(sd.read(frame_of(rows), SCHEMA), asked)
    output = release.frame()
    assert sd.verify(output, asked, SCHEMA).holds
    first = output.row(0)[:2]
    alike = (pl.col("age") == first[0]) & (pl.col("sex") == first[1])
    broken = output.with_columns(ill=pl.when(alike).then(pl.lit("a")).otherwise("ill"))
    found = sd.verify(broken, asked, SCHEMA)
    assert not found.holds
    assert found.worst == {"age": first[0], "sex": first[1]}
    assert found.value == math.inf  # "a" is certain in the block, and not so in the table
    basic = sd.verify(broken, sd.BetaLikeness(1.5, "basic"), SCHEMA)
    share = (broken["ill"] == "a").mean()
    assert basic.value == pytest.approx(1 / share - 1)  # type: ignore[operator]


def test_enhanced_leaves_no_value_certain_however_large_beta_is() -> None:
    blocks = blocks_of([(0, 0), (1, 0), (1, 1)])
    assert sd.BetaLikeness(1e9, "basic").failing(blocks).tolist() == [False, False]
    assert sd.BetaLikeness(1e9).failing(blocks).tolist() == [True, False]
    assert sd.BetaLikeness(1e9).measure(blocks) == Measure("beta", math.inf, False, 0)


def test_a_value_that_all_have_in_the_table_may_be_certain_in_a_block() -> None:
    blocks = blocks_of([(0, 0), (1, 0)])
    for kind in ("enhanced", "basic"):
        assert sd.BetaLikeness(0, kind).measure(blocks) == Measure("beta", 0, True, 0)  # type: ignore[arg-type]
    assert sd.DeltaDisclosure(0.001).measure(blocks) == Measure("disclosure", 0, True, 0)


def test_rare_values_are_kept_where_t_closeness_lets_them_grow() -> None:
    """Half of a block has what 1 in 100 of the table have: 0.49 of the block was moved, which a t of 0.5 allows."""
    blocks = blocks_of([(0, 0), (0, 1), *[(1, 1)] * 98])
    assert sd.TCloseness(0.5).measure(blocks).holds
    assert not sd.BetaLikeness(10).measure(blocks).holds
    assert sd.BetaLikeness(10, "basic").measure(blocks).value == pytest.approx(49)


def test_a_tie_of_delta_disclosure_fails() -> None:
    """Less than delta is asked for: 1/4 is half of 1/2, and |ln 1/2| is no less than ln 2."""
    blocks = blocks_of([(0, 0), *[(0, 1)] * 3, *[(1, 0)] * 3, (1, 1)])
    assert not sd.DeltaDisclosure(math.log(2)).measure(blocks).holds
    assert sd.DeltaDisclosure(math.log(2) + 1e-9).measure(blocks).holds


def test_shares_are_those_of_the_whole_table_even_where_only_some_blocks_are_looked_at() -> None:
    blocks = replace(blocks_of([(0, 0), (0, 1)]), shares=np.array([0.9, 0.1, 0, 0, 0, 0]))
    assert sd.BetaLikeness(1, "basic").measure(blocks).value == pytest.approx(4)
    assert sd.DeltaDisclosure(9).measure(blocks).value == pytest.approx(math.log(5))


@pytest.mark.parametrize("method", ["minimal", "full-domain"])
@pytest.mark.parametrize("asked", [sd.BetaLikeness(9), sd.DeltaDisclosure(9)], ids=str)
def test_nobody_may_be_left_out_of_what_blocks_are_compared_with(
    method: str, asked: BlockRequirement
) -> None:
    table = sd.read(frame_of([(1, "f", "a"), (2, "f", "b")] * 5), SCHEMA)
    with pytest.raises(sd.ParameterError, match="compare blocks with the whole table"):
        sd.generalize(table, asked, method, suppress=0.1)


@pytest.mark.parametrize("role", ["person", "household"])
@pytest.mark.parametrize("linked", [False, True])
def test_it_holds_of_persons_and_households_or_nothing_is_released(role: str, linked: bool) -> None:
    rows = drawn(200, "ab")
    frame = frame_of(rows).with_columns(id=pl.Series(np.repeat(np.arange(100), 2)))
    unit = sd.Attribute(role=role, linked=linked)  # type: ignore[arg-type]
    own = sd.Schema(attributes={**SCHEMA.attributes, "id": unit})
    release = sd.generalize(sd.read(frame, own), [sd.KAnonymity(3), sd.BetaLikeness(0.9)])
    assert all_hold(sd.BetaLikeness(0.9), release.frame())


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: sd.BetaLikeness(-0.1), "a number of 0 or more"),
        (lambda: sd.BetaLikeness(math.nan), "a number of 0 or more"),
        (lambda: sd.BetaLikeness(math.inf), "a number of 0 or more"),
        (lambda: sd.BetaLikeness(1, "better"), "one of"),  # type: ignore[arg-type]
        (lambda: sd.DeltaDisclosure(0), "a number from 0.000001 to 700"),
        (lambda: sd.DeltaDisclosure(701), "a number from 0.000001 to 700"),
    ],
)
def test_what_no_requirement_can_be_is_refused(make: Any, said: str) -> None:
    with pytest.raises(sd.ParameterError, match=said):
        make()


@pytest.mark.parametrize(
    "data",
    [
        {"requirement": "BetaLikeness", "beta": 1e400, "kind": "basic", "attribute": None},
        {"requirement": "BetaLikeness", "beta": 1, "kind": "none", "attribute": None},
        {"requirement": "BetaLikeness", "beta": "1", "kind": "basic", "attribute": None},
        {"requirement": "BetaLikeness", "beta": 1},
        {"requirement": "BetaLikeness", "beta": 1, "kind": "basic", "attribute": None, "shares": [0.5]},
        {"requirement": "DeltaDisclosure", "delta": 0, "attribute": None},
        {"requirement": "DeltaDisclosure", "delta": True, "attribute": None},
        {"requirement": "DeltaPresence", "d_max": 0.5, "d_min": 0.6},
        {"requirement": "DeltaPresence", "d_max": 0, "d_min": 0},
        {"requirement": "DeltaPresence", "d_max": 0.5, "d_min": 0, "population": "/etc/passwd"},
    ],
)
def test_what_a_hostile_file_promises_is_refused(data: dict[str, Any]) -> None:
    with pytest.raises(sd.InputError):
        promise_from_json(data)


@pytest.mark.parametrize("asked", [*ASKED, sd.DeltaPresence(0.5, 0.1)], ids=str)
def test_a_promise_is_read_as_it_was_written(asked: Any) -> None:
    assert promise_from_json(promise_to_json(asked)) == asked


def test_a_certificate_that_claims_better_than_the_recount_is_refused(tmp_path: Path) -> None:
    rows = drawn(200, "abc")
    asked = [sd.BetaLikeness(1), sd.DeltaDisclosure(2)]
    folder = sd.generalize(sd.read(frame_of(rows), SCHEMA), asked).write(tmp_path / "out")
    certificate = Certificate.open(folder / "hand-over" / "certificate.json")
    assert sd.verify(folder).measured == certificate.measured
    for name in ("beta", "disclosure"):
        better = certificate.measured | {name: certificate.measured[name] / 2}
        forged = certificate.model_copy(update={"measured": better})
        with pytest.raises(sd.RequirementError, match=f"claims {name} = "):
            refuse_figures(forged, certificate.measured)


@given(strategies.records, st.booleans())
def test_the_recount_divides_whole_numbers_however_many_records_there_are(
    records: plain.Records, enhanced: bool
) -> None:
    """A thousand million times as many of each: products no longer fit into 64 bits, and shares are what they were."""
    frame = pl.DataFrame(records, schema=["q", "s"], orient="row")
    rows, weights = frame.select(pl.col("q").cast(pl.String)), pl.repeat(1, frame.height, eager=True)
    whole = np.bincount(frame["s"].to_numpy()).astype(np.int64)
    few = recount.count_blocks(rows, weights, ["q"], frame["s"], whole)
    many = recount.count_blocks(rows, weights * 10**9, ["q"], frame["s"], whole * 10**9)
    found = [recount_shares.growths(one, enhanced=enhanced) for one in (few, many)]
    assert found[0] == pytest.approx(found[1], abs=1e-12)
    assert recount_shares.disclosures(few) == pytest.approx(recount_shares.disclosures(many), abs=1e-12)
