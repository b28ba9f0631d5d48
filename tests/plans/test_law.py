"""Laws from outside: of the exact form, or refused in words, before a probability is computed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import sudare as sd
from sudare.errors import InputError
from sudare.plans.law import LawForm, TableLaw

OWN: dict[str, Any] = {"epsilon": 1.0, "spread": 2.0}
RETAIN: dict[str, Any] = OWN | {"how": "retain", "values": ["a", "b"], "retention": [0.75, 0.75]}
MATRIX: dict[str, Any] = OWN | {"how": "matrix", "values": ["a", "b"], "matrix": [[0.6, 0.4], [0.4, 0.6]]}
NOISE: dict[str, Any] = OWN | {
    "how": "noise",
    "low": 0,
    "step": 1.0,
    "steps": 10,
    "scale": "5/2",
    "after": "clip",
}
BITS: dict[str, Any] = OWN | {"how": "bits", "low": 0.0, "step": 1.0, "steps": 7, "flips": 0.25}
JOINT: dict[str, Any] = OWN | {
    "how": "retain",
    "columns": {"c": {"values": ["x", "y", "z"]}, "d": {"values": ["x", "?"], "missing": "?"}},
    "retention": [0.5] * 6,
}
TABLE: dict[str, Any] = {
    "method": "randomize",
    "records": 4,
    "epsilon": 1.0,
    "pk": 2.0,
    "split": "equal",
    "estimates": {},
    "caveats": [],
    "attributes": {"r": RETAIN, "m": MATRIX, "n": NOISE, "b": BITS, "j": JOINT},
}
DATA = pl.DataFrame(
    {
        "r": ["a", "b", "a", "b"],
        "m": ["a", "a", "b", "b"],
        "n": [0, 3, 7, 10],
        "b": [0, 1, 2, 7],
        "c": ["x", "y", "z", "x"],
        "d": ["x", None, "x", "x"],
    }
)


def written(folder: Path, table: Any, data: pl.DataFrame = DATA) -> Path:
    (folder / "law.json").write_text(table if isinstance(table, str) else json.dumps(table))
    data.write_parquet(folder / "data.parquet")
    return folder


def test_every_kind_of_law_is_read_and_reconstructed(tmp_path: Path) -> None:
    folder = written(tmp_path, TABLE)
    table = TableLaw.open(folder / "law.json")
    assert {name: own.size for name, own in table.attributes.items()} == {
        "r": 2,
        "m": 2,
        "n": 11,
        "b": 8,
        "j": 6,
    }
    assert table.columns() == {"r": "r", "m": "m", "n": "n", "b": "b", "c": "j", "d": "j"}
    for name in DATA.columns:
        assert sd.reconstruct(folder, name).counts.sum() == pytest.approx(4)


LONG = 10**400
WRONG: list[dict[str, Any]] = [
    *(RETAIN | {"retention": value} for value in (None, 1, "x", [], [1.5, 0.5], [-1, 1], [True, 1.0], ["0.5", 0.5], [0.5])),
    *(RETAIN | {"values": value} for value in (None, "ab", ["a", "a"], ["a", 1], ["a", None], [], {"a": 1})),
    *(RETAIN | {"epsilon": value} for value in (None, "1", -1, True)),
    *(RETAIN | {"how": value} for value in (None, "magic", 1)),
    RETAIN | {"more": 1},
    RETAIN | {"missing": "c"},
    RETAIN | {"steps": 1},
    RETAIN | {"matrix": MATRIX["matrix"]},
    *(MATRIX | {"matrix": value} for value in (None, [], [[1.0]], [[0.6, 0.4]], [[0.6, 0.6], [0.6, 0.6]], [[2, 0], [-1, 1]], "x")),
    *(NOISE | {"scale": value} for value in (None, 2.5, "-1", "0", "1/0", "1e9", "9" * 41, "5/2/2", "x", str(2**61))),
    *(NOISE | {"steps": value} for value in (None, 0, -1, 2**41, LONG, 1.5, "10")),
    *(NOISE | {"step": value} for value in (None, 0, -1.0, 1e308, "1")),
    *(NOISE | {"low": value} for value in (None, "0", 1e308, LONG)),
    *(NOISE | {"after": value} for value in (None, "fold", 1)),
    *(BITS | {"flips": value} for value in (None, 0, 1, -0.5, "x")),
    *(BITS | {"steps": value} for value in (0, 2**40 + 1, LONG)),
    JOINT | {"columns": {}},
    JOINT | {"columns": {"c": {"values": ["x"] * 6}}},
    JOINT | {"columns": {str(i): {"values": [str(j) for j in range(1000)]} for i in range(100)}},
    {},
]  # fmt: skip


@pytest.mark.parametrize("wrong", WRONG, ids=lambda wrong: repr(wrong)[:60])
def test_a_law_of_another_form_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="The law of 'x'"):
        LawForm.of("x", wrong)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"method": "generalize"}, "not the law of a randomized table"),
        ({"records": -1}, "'records' must be"),
        ({"estimates": {"r": -1}}, "'estimates.r' must be"),
        ({"attributes": {}}, "'attributes'"),
        ({"attributes": {"c": RETAIN, "j": JOINT}}, "Two laws speak of the column 'c'"),
        ({"more": 1}, "'more'"),
    ],
)
def test_a_table_of_laws_of_another_form_is_refused(
    change: dict[str, Any], message: str, tmp_path: Path
) -> None:
    folder = written(tmp_path, TABLE | change)
    for verb in (
        lambda: sd.reconstruct(folder, "r"),
        lambda: sd.verify(folder, sd.PkAnonymity(2), sd.Schema.from_roles(quasi=DATA.columns)),
    ):
        with pytest.raises(InputError, match=rf"law\.json: .*{message}"):
            verb()


@pytest.mark.parametrize(
    "text", ["", "[]", "null", "[" * 100_000, '{"method": NaN}', '{"a": ' + "9" * 10_000 + "}"]
)
def test_a_file_that_is_no_law(text: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"law\.json: "):
        sd.reconstruct(written(tmp_path, text), "r")


@pytest.mark.parametrize(
    "column",
    [
        pl.Series("n", ["a"] * 4),
        pl.Series("n", [1.0, None, 2.0, 3.0]),
        pl.Series("n", [1.0, float("nan"), 2.0, 3.0]),
        pl.Series("n", [True] * 4),
        pl.Series("r", [b"a"] * 4),
        pl.Series("r", ["c"] * 4),
    ],
    ids=str,
)
def test_data_that_do_not_fit_the_law(column: pl.Series, tmp_path: Path) -> None:
    folder = written(tmp_path, TABLE, DATA.with_columns(column))
    with pytest.raises(InputError, match=f"Column '{column.name}'"):
        sd.reconstruct(folder, column.name)
    with pytest.raises(InputError, match=f"Column '{column.name}'"):
        sd.verify(folder, sd.PkAnonymity(2), sd.Schema.from_roles(quasi=DATA.columns))


@pytest.mark.parametrize("after", ["clip", "reflect"])
def test_noise_that_leaves_nothing(after: str, tmp_path: Path) -> None:
    attributes = {"n": NOISE | {"scale": str(2**60), "after": after}}
    folder = written(tmp_path, TABLE | {"attributes": attributes}, DATA.select("n"))
    found = sd.reconstruct(folder, "n").count(n=(0, 5))
    assert (found.low, found.high) == (0, 4)
