"""A p-view saved and opened again; files that were damaged, cut or mixed up are refused."""

from __future__ import annotations

import datetime as dt
import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from sudare.errors import InputError
from sudare.pview import files
from sudare.pview.boxes import Boxes
from sudare.pview.domain import Axis, Domain
from sudare.pview.pview import PView
from tests.pview.exact import Exact, blocks_pview, points_pview

AXES = (
    Axis("age", pl.Int64(), None, 18, 96, 10, missing=True),
    Axis("marital-status", pl.String(), ("single", 'new "old"', "既婚"), missing=True),
    Axis("born", pl.Date(), (dt.date(2024, 1, 1), dt.date(2024, 2, 1))),
    Axis("seen", pl.Datetime("us"), None, 0, 1e9, 50),
    Axis("rate", pl.Float64(), (0.1, 1.0, -3.0)),
    Axis("well", pl.Boolean(), (False, True)),
)


@pytest.fixture(autouse=True)
def _kinds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(files.KINDS, "exact", Exact)


def some_rows(n: int) -> pl.DataFrame:
    rng = np.random.default_rng(1)
    return Domain(AXES).decode(rng.integers(0, Domain(AXES).sizes, size=(n, len(AXES))), rng)


def points() -> PView:
    pview = points_pview(AXES, some_rows(300), error=2.5)
    return PView(pview.domain, pview.model, {"epsilon": 1.0, "shares": {"total": "1/64"}})


@pytest.fixture(params=["points", "blocks"])
def pview(request: pytest.FixtureRequest) -> PView:
    return points() if request.param == "points" else blocks_pview(AXES, 40, seed=3)


def test_a_pview_opens_as_it_was_saved(pview: PView, tmp_path: Path) -> None:
    folder = pview.save(tmp_path / "pview")
    assert sorted(path.name for path in folder.iterdir()) == ["manifest.json", "pview.parquet"]
    again = PView.open(folder)
    assert again.domain.to_json() == pview.domain.to_json()
    assert [axis.cell_values().to_list() for axis in again.domain.axes] == [
        axis.cell_values().to_list() for axis in pview.domain.axes
    ]
    assert again.facts == pview.facts
    assert again.model.boxes is not None
    assert again.model.boxes.points == pview.model.boxes.points  # type: ignore[union-attr]
    query = 'SELECT born, COUNT(*) FROM view WHERE age BETWEEN 20 AND 50 OR "marital-status" IS NULL GROUP BY born'
    assert again.sql(query).equals(pview.sql(query))
    assert again.count(age=(20, 50)) == pview.count(age=(20, 50))


def test_only_a_pview_is_replaced_and_only_with_force(tmp_path: Path) -> None:
    pview = points()
    pview.save(tmp_path / "pview")
    with pytest.raises(InputError, match=r"exists already.*Nothing was written"):
        pview.save(tmp_path / "pview")
    other = blocks_pview(AXES, 5, seed=1)
    other.save(tmp_path / "pview", force=True)
    assert PView.open(tmp_path / "pview").total == other.total
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "manifest.json").write_text("{}")
    with pytest.raises(InputError, match=r"folder without pview\.parquet"):
        pview.save(tmp_path / "mine", force=True)


def test_what_cannot_be_written_leaves_nothing(tmp_path: Path) -> None:
    broken = PView(points().domain, points().model, {"epsilon": object()})
    with pytest.raises(TypeError):
        broken.save(tmp_path / "pview")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_without_a_pview(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"There is no .*manifest\.json. Give the folder of a p-view"):
        PView.open(tmp_path)
    (tmp_path / "manifest.json").write_text('{"name": "an app"}')
    with pytest.raises(InputError, match="is not the manifest of a p-view"):
        PView.open(tmp_path)
    (tmp_path / "manifest.json").write_text("[]")
    with pytest.raises(InputError, match="is not the manifest of a p-view"):
        PView.open(tmp_path)


def test_a_pview_without_its_data(tmp_path: Path) -> None:
    folder = points().save(tmp_path / "pview")
    (folder / "pview.parquet").unlink()
    with pytest.raises(InputError, match=r"There is no .*view\.parquet"):
        PView.open(folder)
    (folder / "pview.parquet").mkdir()
    with pytest.raises(InputError, match=r"view\.parquet: the p-view cannot be opened: Is a directory"):
        PView.open(folder)


@pytest.mark.parametrize("name", ["pview.parquet", "manifest.json"])
@pytest.mark.parametrize("harm", ["cut", "empty", "flip", "grow"])
def test_damage_is_noticed(tmp_path: Path, name: str, harm: str) -> None:
    path = points().save(tmp_path / "pview") / name
    content = path.read_bytes()
    middle = content.index(b"single") if name == "manifest.json" else len(content) // 2
    harmed = {
        "cut": content[:-100],
        "empty": b"",
        "flip": content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :],
        "grow": content + b"x",
    }
    path.write_bytes(harmed[harm])
    with pytest.raises(
        InputError, match=f"{name} is damaged.*Copy the whole folder again, or save the p-view"
    ):
        PView.open(path.parent)


def test_any_bit_of_a_manifest_counts(tmp_path: Path) -> None:
    path = points().save(tmp_path / "pview") / "manifest.json"
    content = path.read_bytes()
    blank = b" \n\t\r"
    for at in range(0, len(content), 37):
        if content[at] not in blank:
            path.write_bytes(content[:at] + bytes([content[at] ^ 4]) + content[at + 1 :])
            with pytest.raises(InputError):
                PView.open(path.parent)


def test_the_data_of_another_pview(tmp_path: Path) -> None:
    one = points().save(tmp_path / "one")
    other = blocks_pview(AXES, 5, seed=1).save(tmp_path / "other")
    (one / "pview.parquet").write_bytes((other / "pview.parquet").read_bytes())
    with pytest.raises(InputError, match=r"view\.parquet is damaged"):
        PView.open(one)


@pytest.mark.parametrize(
    "change", [{"version": 1, "format": "sudare view"}, {"version": 3}, {"kind": "cube"}]
)
def test_another_version_is_named(tmp_path: Path, change: dict[str, object]) -> None:
    path = points().save(tmp_path / "pview") / "manifest.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    with pytest.raises(InputError, match=r"another version of Sudare .*this one knows format 2 and 'cloud'"):
        PView.open(path.parent)


def test_a_large_pview_opens_as_it_was_saved(tmp_path: Path) -> None:
    rng, axes = (
        np.random.default_rng(1),
        tuple(Axis(f"a{i}", pl.Int64(), None, 0, 100, 100) for i in range(15)),
    )
    codes = rng.integers(0, 100, size=(200_000, 15)).astype(np.uint8)
    boxes = Boxes.in_order(codes, codes, rng.random(len(codes)), (100,) * 15)
    opened = PView.open(PView(Domain(axes), Exact(boxes)).save(tmp_path / "pview"))
    assert np.array_equal(opened.model.boxes.low, codes)  # type: ignore[union-attr]
    assert np.array_equal(opened.model.boxes.weights, boxes.weights)  # type: ignore[union-attr]
