"""The values and laws of a randomized table are what the schema says, whatever the table and its source."""

from __future__ import annotations

import inspect
import json
import math
import tracemalloc
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sudare as sd
from sudare.randomization.bins import binned
from sudare.randomization.bits import BitChannel
from sudare.randomization.domains import Categories
from sudare.randomization.grids import Grid
from sudare.randomization.published import MAX_FLIPPED
from sudare.tables.types import stored_type
from tests.randomization.test_channel import bit_matrix
from tests.tables.sources import Drawn, agreeing_sources, tables_of

EPSILON_1 = sd.DifferentialPrivacy(1.0, per="record")


def read(values: Any, missing: Any = "own value", **attribute: Any) -> sd.Table:
    schema = sd.Schema(attributes={"x": sd.Attribute(role="quasi", **attribute)}, missing=missing)
    frame = values if isinstance(values, pd.DataFrame) else pl.DataFrame({"x": values})
    return sd.read(frame, schema)


def law_of(table: sd.Table, **options: Any) -> dict[str, Any]:
    """What is published beside the data, as a file has it."""
    release = sd.randomize(table, EPSILON_1, unsafe_seed=1, **options)
    return json.loads(json.dumps(release.plan.to_json()["attributes"]))


def test_no_domain_is_given_a_table() -> None:
    for made in (Categories.of, Grid.of, binned):
        assert not {"table", "column", "frame", "source"} & set(inspect.signature(made).parameters)


def test_one_half_does_not_change_the_published_grid() -> None:
    assert law_of(read([30, 31] * 20, bounds=(0, 120)))["x"]["steps"] == 120
    with pytest.raises(
        sd.InputError, match=r'row 2, .*30\.5 is not a whole number.*\[attributes\.x\]: type = "number"'
    ):
        law_of(read([30.0, 30.5] * 20, bounds=(0, 120)))
    for values in ([30.0, 30.5], [30, 31]):
        assert law_of(read(values * 20, bounds=(0, 120), type="number"))["x"]["steps"] == 2**16


def test_sources_of_whole_numbers_give_one_law() -> None:
    sources = [
        [30, 40] * 9,
        [30.0, 40.0] * 9,
        pl.Series([30, 40] * 9, dtype=pl.UInt8),
        [Decimal("30.00"), Decimal("40.00")] * 9,
        pd.DataFrame({"x": [30, 40] * 9}),
        pd.DataFrame({"x": [30.0, 40.0] * 9}),
    ]
    for how in ("noise", "bins", "bits", "retain"):
        laws = [law_of(read(source, bounds=(0, 63)), how={"x": how}) for source in sources]
        assert all(law == laws[0] for law in laws)


def test_a_place_for_missing_values_is_the_schemas_to_say() -> None:
    for declared, how in (({"domain": ("a", "b")}, "retain"), ({"bounds": (0, 9)}, "bins")):
        values = ["a", "b"] if "domain" in declared else [1, 2]
        own, none = (
            law_of(read(values * 20, missing=m, **declared), how={"x": how}) for m in ("own value", "refuse")
        )
        some = law_of(read([*values, None] * 20, **declared), how={"x": how})
        assert own == some
        assert own["x"]["missing"] == own["x"]["values"][-1] == "(missing)"
        assert "missing" not in none["x"]


@settings(max_examples=100)
@given(drawn=agreeing_sources(missing=False), seed=st.integers(0, 3))
def test_any_table_of_any_source_has_the_schemas_law(
    drawn: Drawn, seed: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Only how many records there are may differ: the same number of them is published."""
    schema, sources = drawn
    rows = min(len(next(iter(columns.values()))) for _, columns in sources)
    cut = [(kind, {name: values[:rows] for name, values in columns.items()}) for kind, columns in sources]
    hows: dict[str, Any] = {}
    for i, (name, attribute) in enumerate(schema.attributes.items()):
        whole = attribute.kind in ("integer", "date")
        options = (
            ["retain"] if attribute.domain else ["noise", "bins", *(["bits", "retain"] if whole else [])]
        )
        hows[name] = options[(i + seed) % len(options)]
    laws = []
    for table in tables_of((schema, cut), tmp_path_factory.mktemp("sources")):
        release = sd.randomize(table, EPSILON_1, how=hows, unsafe_seed=seed)
        laws.append(json.dumps(release.plan.to_json()))
        for name, dtype in release.frame().schema.items():
            assert dtype == (pl.String if hows[name] == "bins" else stored_type(schema[name]))
    assert laws[0] == laws[1]


# -- Resources ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("bounds", [(0, 2**40), (-(2**39), 2**39)])
@pytest.mark.parametrize("after", ["clip", "reflect"])
def test_a_grid_of_a_trillion_steps_takes_memory_for_the_records_only(bounds: Any, after: Any) -> None:
    table = read([0, 5, 2**38] * 100, bounds=bounds)
    sd.randomize(table, EPSILON_1, after=after)  # compiles, and loads what is loaded late
    tracemalloc.start()
    release = sd.randomize(table, EPSILON_1, after=after)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 50_000_000
    assert release.frame()["x"].is_between(*bounds).all()
    assert sd.verify(release.frame(), EPSILON_1, table.schema, plan=release.plan.to_json()).holds


def test_a_longer_grid_is_refused_at_once() -> None:
    with pytest.raises(
        sd.InputError, match=r"too far apart for a grid of whole numbers: it has 1,099,511,627,776"
    ):
        sd.randomize(read([1, 2], bounds=(0, 2**40 + 1)), EPSILON_1)


@pytest.mark.parametrize("size", [MAX_FLIPPED - 1, MAX_FLIPPED, 2**30])
def test_bits_of_the_longest_grid_need_no_matrix(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    def never(self: BitChannel) -> None:
        raise AssertionError("the whole matrix was made")

    monkeypatch.setattr(BitChannel, "_whole", property(never))
    table = read(list(range(0, size, 7)[:600]), bounds=(0, size - 1))
    release = sd.randomize(table, EPSILON_1, how={"x": "bits"}, unsafe_seed=1)
    assert release.certificate.measured["epsilon"] == pytest.approx(1.0)
    assert release.frame()["x"].is_between(0, size - 1).all()


@pytest.mark.parametrize("size", [2, 3, 8, 11, 30])
def test_bits_change_as_often_as_their_matrix_says(size: int) -> None:
    for flip in (0.01, 0.3, 0.5):
        channel, matrix = BitChannel(size, flip), bit_matrix(size, flip)
        assert channel.expected_change() == pytest.approx(1 - np.diag(matrix).mean())
        assert channel.epsilon == pytest.approx(channel.bits * math.log((1 - flip) / flip))


def test_a_joint_law_of_too_many_combinations_is_refused_before_anything_is_made() -> None:
    names = [f"x{i}" for i in range(20)]
    schema = sd.Schema.from_roles(quasi=names, bounds=dict.fromkeys(names, (0, 9)))
    table = sd.read(pl.DataFrame({name: [1, 2] for name in names}), schema)
    with pytest.raises(sd.InputError, match="combinations, more than 1,000,000"):
        sd.randomize(table, EPSILON_1, joint={"all": names})


def test_a_written_law_is_that_of_the_plan(tmp_path: Path) -> None:
    release = sd.randomize(read([True, None] * 30, domain=(True, False)), EPSILON_1, unsafe_seed=1)
    assert release.frame().schema == {"x": pl.Boolean}
    assert release.plan.to_json()["attributes"]["x"]["values"] == ["true", "false", "(missing)"]
