from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import sudare as sd

SCHEMA = sd.Schema.from_roles(identifier=["name"], quasi=["age", "sex"], sensitive=["illness"])
OUTPUT = pl.DataFrame(
    {
        "age": ["[20, 30)"] * 3 + [None] * 2,
        "sex": ["f"] * 3 + ["m"] * 2,
        "illness": ["a", "b", "a", "b", "b"],
    }
)


@pytest.mark.parametrize("ending", ["csv", "parquet", "frame"])
def test_recounts_frames_and_files(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"data.{ending}"
    if ending == "csv":
        OUTPUT.write_csv(path)
    elif ending == "parquet":
        OUTPUT.write_parquet(path)
    found = sd.verify(OUTPUT if ending == "frame" else path, sd.KAnonymity(3), SCHEMA)
    assert (found.holds, found.value) == (False, 2)
    assert found.worst == {"age": None, "sex": "m"}


def test_a_missing_value_is_apart_from_every_text(tmp_path: Path) -> None:
    output = OUTPUT.with_columns(age=pl.Series(["", "", None, None, None]), sex=pl.lit("f"))
    assert sd.verify(output, sd.KAnonymity(2), SCHEMA).value == 2
    output.write_csv(tmp_path / "data.csv")
    assert sd.verify(tmp_path / "data.csv", sd.KAnonymity(2), SCHEMA).value == 2


def test_a_list_of_requirements_holds_only_if_all_do() -> None:
    found = sd.verify(OUTPUT, [sd.KAnonymity(2), sd.KAnonymity(3)], SCHEMA)
    assert [finding.holds for finding in found.findings] == [True, False]
    assert not found.holds
    with pytest.raises(sd.RequirementError, match="does not have 3-anonymity: k = 2"):
        found.refuse_if_broken()


def test_an_identifier_in_the_output_is_refused() -> None:
    with pytest.raises(sd.RequirementError, match="still has the identifier 'name'"):
        sd.verify(OUTPUT.with_columns(name=pl.lit("x")), sd.KAnonymity(2), SCHEMA)


def test_a_quasi_attribute_that_is_not_there_is_refused() -> None:
    with pytest.raises(sd.InputError, match="no column 'sex'"):
        sd.verify(OUTPUT.drop("sex"), sd.KAnonymity(2), SCHEMA)


def test_empty_or_unreadable_output_is_refused(tmp_path: Path) -> None:
    with pytest.raises(sd.InputError, match="empty"):
        sd.verify(OUTPUT.clear(), sd.KAnonymity(2), SCHEMA)
    (tmp_path / "data.parquet").write_text("no parquet")
    with pytest.raises(sd.InputError, match="cannot be read"):
        sd.verify(tmp_path, sd.KAnonymity(2), SCHEMA)
    with pytest.raises(sd.InputError, match="cannot be read"):
        sd.verify(tmp_path / "none.csv", sd.KAnonymity(2), SCHEMA)
