"""What is left of a table tells nothing of who was left out: it is what a file with these rows alone would have been read as."""

import datetime as dt
import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import sudare as sd
from sudare.errors import InputError

AGES = [30] * 6 + [60] * 6
WHOLE = list(range(12))
DAYS = [dt.date(2020, 1, 1 + day) for day in range(12)]


def lines(folder: Path, ages: list[int], values: list[Any]) -> Path:
    rows = (json.dumps({"age": age, "x": value}) for age, value in zip(ages, values, strict=True))
    (folder / "people.jsonl").write_text("\n".join(rows))
    return folder / "people.jsonl"


def workbook(folder: Path, ages: list[int], values: list[Any]) -> Path:
    book = pytest.importorskip("openpyxl").Workbook()
    for row in [("age", "x"), *zip(ages, values, strict=True)]:
        book.active.append(row)
    book.save(folder / "people.xlsx")
    return folder / "people.xlsx"


def labelled(folder: Path, ages: list[int], values: list[Any]) -> Path:
    write = pytest.importorskip("pyreadstat").write_sav
    labels = {"x": {float(code): f"ward {code}" for code in WHOLE}}
    write(
        pl.DataFrame({"age": ages, "x": values}),
        str(folder / "people.sav"),
        variable_value_labels=labels,
    )
    return folder / "people.sav"


def published(path: Path, type_: Any) -> pl.DataFrame:
    schema = sd.Schema.from_roles(quasi=["age"], other=["x"], types={"x": type_} if type_ else None)
    release = sd.generalize(sd.read(path, schema), sd.KAnonymity(5), suppress=0.2)
    return release.frame()


@pytest.mark.parametrize(
    ("write", "values", "odd", "type_"),
    [
        (lines, WHOLE, 2.5, None),
        (lines, list("0123456789ab"), "odd", None),
        (lines, list(map(str, WHOLE)), "odd", None),
        (workbook, WHOLE, 2.5, None),
        (workbook, list(map(str, WHOLE)), "odd", None),
        (workbook, DAYS, dt.datetime(2020, 1, 1, 12), None),
        (workbook, WHOLE, "odd", "text"),
        (workbook, DAYS, "odd", "text"),
        (labelled, WHOLE, 77, "integer"),
    ],
)
def test_what_is_left_has_the_type_that_it_would_have_by_itself(
    write: Any, values: list[Any], odd: Any, type_: str | None, tmp_path: Path
) -> None:
    alone = published(write(tmp_path, AGES, values), type_)
    left = published(write(tmp_path, [*AGES, 99], [*values, odd]), type_)

    assert left.schema == alone.schema
    assert left.equals(alone)


@pytest.mark.parametrize(
    ("write", "values", "odd"),
    [
        (workbook, WHOLE, "odd"),
        (workbook, WHOLE, DAYS[0]),
        (workbook, WHOLE, True),
        (workbook, DAYS, 5),
        (labelled, WHOLE, 77),
    ],
)
def test_a_type_that_hangs_on_who_is_left_out_must_be_declared(
    write: Any, values: list[Any], odd: Any, tmp_path: Path
) -> None:
    source = write(tmp_path, [*AGES, 99], [*values, odd])

    with pytest.raises(
        InputError, match=r"column 'x': .*would tell of those who are left out.*\[attributes.x\]"
    ):
        published(source, None)


def test_lines_that_mix_texts_and_numbers_are_refused_as_arrays_are(tmp_path: Path) -> None:
    for odd in (5, -5, 0.5, True, False):
        with pytest.raises(InputError, match=r"column 'x': it mixes .*texts"):
            sd.read(lines(tmp_path, [30, 30], ["a", odd]))

    assert sd.read(lines(tmp_path, [30, 30], ['"x": 5', None])).frame()["x"].to_list() == ['"x": 5', None]
