"""A p-view's domain is what the schema says, whatever the table and the source that it came from."""

from __future__ import annotations

import datetime as dt
import inspect
import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings

import sudare as sd
from sudare.pview.domain import Axis, Domain
from tests.tables.sources import Drawn, agreeing_sources, tables_of

PURE = sd.DifferentialPrivacy(1.0)


def schema_of(missing: Any = "own value", **attribute: Any) -> sd.Schema:
    return sd.Schema(attributes={"x": sd.Attribute(role="quasi", **attribute)}, missing=missing)


def manifest(table: sd.Table, folder: Path) -> dict[str, Any]:
    pview = sd.materialize(table, PURE, "independent", unsafe_seed=1)
    return json.loads((pview.save(folder / "pview", force=True) / "manifest.json").read_text())["domain"][0]


def test_a_domain_is_not_even_given_a_table() -> None:
    for made in (Domain.of, Axis.of):
        assert not {"table", "column", "frame", "source"} & set(inspect.signature(made).parameters)


@pytest.mark.parametrize("type_", [None, "integer", "number"])
def test_one_missing_age_does_not_make_numbers_of_whole_numbers(type_: Any, tmp_path: Path) -> None:
    """pandas keeps whole numbers of which one is missing as floats."""
    schema = schema_of(bounds=(0, 77), type=type_)
    frames = [pd.DataFrame({"x": values}) for values in ([20, 30, 40], [20, None, 40])]
    manifests = [manifest(sd.read(frame, schema), tmp_path) for frame in frames]
    assert manifests[0] == manifests[1] == Domain.of(schema).to_json()[0]
    assert manifests[0]["bins"] == (100 if type_ == "number" else 78)


@pytest.mark.parametrize("declared", [{"bounds": (0, 100.0)}, {"bounds": (0, 100), "type": "number"}])
def test_the_scale_of_decimals_is_not_told(declared: dict[str, Any], tmp_path: Path) -> None:
    for text in ("20.5", "20.55", "20.555"):
        table = sd.read(pl.DataFrame({"x": [Decimal(text), Decimal("3")]}), schema_of(**declared))
        assert manifest(table, tmp_path)["type"] == "Float64"
        assert sd.materialize(table, PURE, "independent").sample(0).schema == {"x": pl.Float64}


@pytest.mark.parametrize("largest", [99, 2**63, 10**30])
@pytest.mark.parametrize("type_", [None, "integer"])
def test_a_huge_number_that_is_clipped_does_not_change_the_type(
    largest: int, type_: Any, tmp_path: Path
) -> None:
    schema = schema_of(bounds=(0, 99), outside="clip", type=type_)
    table = sd.read(pl.DataFrame({"x": pl.Series([3, largest], strict=False)}), schema)
    assert manifest(table, tmp_path)["type"] == "Int64"
    assert Domain.of(schema).counts(table).codes.tolist() == [[3], [99]]


def test_values_between_whole_numbers_are_refused_with_the_line_to_add(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text("x\n30\n30.5\n")
    with pytest.raises(sd.InputError) as refused:
        sd.materialize(sd.read(path, schema_of(bounds=(0, 120))), PURE)
    assert str(refused.value) == (
        "people.csv, line 3, column 'x': 30.5 is not a whole number, as its bounds are. "
        'Add to [attributes.x]: type = "number".'
    )
    day, noon = dt.date(2024, 1, 1), dt.datetime(2024, 1, 1, 12)
    with pytest.raises(sd.InputError, match=r'row 1, .* is not a day.*type = "datetime"'):
        sd.materialize(sd.read(pl.DataFrame({"x": [noon]}), schema_of(bounds=(day, day))), PURE)


def test_times_that_do_not_fit_are_refused_with_the_reason() -> None:
    start = dt.datetime(2024, 1, 1)
    schema = schema_of(bounds=(start, start.replace(month=2)))
    fine = pl.Series([start]).cast(pl.Datetime("ns")).to_physical() + 1
    for values, says in (
        (fine.cast(pl.Datetime("ns")), "row 1, column 'x': .* has a part of a microsecond"),
        (pl.Series([start]).dt.replace_time_zone("UTC"), "the values have a time zone, but the schema none"),
    ):
        with pytest.raises(sd.InputError, match=says):
            sd.materialize(sd.read(pl.DataFrame({"x": values}), schema), PURE)


def test_whether_something_is_missing_is_the_schemas_to_say() -> None:
    for declared in ({"bounds": (0, 9)}, {"domain": ("a", "b")}, {"bounds": (0, 0.5)}):
        assert Domain.of(schema_of(**declared)).axes[0].missing
        assert not Domain.of(schema_of("refuse", **declared)).axes[0].missing


@pytest.mark.parametrize(
    ("attribute", "says"),
    [
        ({}, "no domain is declared"),
        ({"type": "integer"}, "no domain is declared"),
        ({"type": "text", "bounds": (0, 9)}, "its bounds are numbers, but its values are String"),
        ({"type": "integer", "domain": ("a",)}, "a value that is not a whole number"),
        ({"type": "integer", "domain": (1, 2**63)}, "a value that is not a whole number"),
        ({"type": "date", "domain": (dt.datetime(2024, 1, 1, 5),)}, "a value that is not a date"),
        ({"domain": (1.0, float("inf"))}, "a value that is not a number"),
        ({"domain": range(100_001)}, "100,001 values, more than 100,000"),
        ({"domain": (dt.datetime(2024, 1, 1), dt.datetime(2024, 1, 1, tzinfo=dt.UTC))}, "not a date and time"),
    ],
    ids=str,
)  # fmt: skip
def test_what_a_schema_cannot_mean_is_refused(attribute: dict[str, Any], says: str) -> None:
    with pytest.raises(sd.InputError, match=f"'x': .*{says}"):
        Domain.of(schema_of(**attribute))


def test_a_written_schema_has_the_same_domain(tmp_path: Path) -> None:
    """120.0 and 120 are equal, but not the same: one makes numbers, the other whole ones."""
    for bounds in ((0.0, 120.0), (0, 120)):
        schema = schema_of(bounds=bounds)
        (tmp_path / "schema.toml").write_text(schema.to_toml())
        again = sd.Schema.from_toml(tmp_path / "schema.toml")
        assert Domain.of(again).to_json() == Domain.of(schema).to_json()


def test_bins_are_not_all_written_to_be_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[Any] = []
    monkeypatch.setattr("sudare.pview.axis.text_of", lambda value: written.append(value) or str(value))
    Domain.of(schema_of(bounds=(0.0, 1.0), bins=10_000))
    assert len(written) == 2


@settings(max_examples=150)
@given(drawn=agreeing_sources())
def test_any_table_of_any_source_has_the_schemas_domain(
    drawn: Drawn, tmp_path_factory: pytest.TempPathFactory
) -> None:
    domain, tables = Domain.of(drawn[0]), tables_of(drawn, tmp_path_factory.mktemp("sources"))
    folder = tmp_path_factory.mktemp("pview")
    written = []
    for table in tables:
        pview = sd.materialize(table, sd.DifferentialPrivacy(100.0), "independent", unsafe_seed=1)
        pview.save(folder / "pview", force=True)
        written.append(json.loads((folder / "pview" / "manifest.json").read_text())["domain"])
        assert pview.sample(0).schema == {axis.name: axis.dtype for axis in domain.axes}
        counts = domain.counts(table)
        assert counts.total == len(table)
        assert (counts.codes >= 0).all()
        assert (counts.codes < domain.sizes).all()
    assert written[0] == written[1] == domain.to_json()
