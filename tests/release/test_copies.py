"""What is handed over in other formats is verified with the rest: no copy says more, or something else."""

from __future__ import annotations

import json
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

import sudare as sd
from sudare.attacks.attack import attack_all
from sudare.privacy.certificate import Certificate
from sudare.release.writing import sha256_of
from sudare.tables.copies import COPY_ENDINGS, FORMATS, write_copy
from sudare.tables.file_rows import FileRows
from sudare.tables.labels import Labels
from sudare.tables.runs import Runs

PEOPLE = pl.DataFrame(
    {
        "name": [f"p{i}" for i in range(40)],
        "age": [20 + i % 20 for i in range(40)],
        "sex": ["f", "m"] * 20,
        "ill": [1 + i % 3 for i in range(40)],
    }
)
SCHEMA = sd.Schema.from_dict(
    {
        "attributes": {
            "name": {"role": "identifier", "label": "Full name"},
            "age": {"role": "quasi", "label": "Age in years", "codes": {"99": "not known"}},
            "sex": {"role": "quasi"},
            "ill": {
                "role": "sensitive",
                "label": "Illness",
                "codes": {"1": "flu", "2": "cold", "3": "HIV", "9": "secret"},
            },
        }
    }
)


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    release = sd.generalize(sd.read(PEOPLE, SCHEMA), [sd.KAnonymity(4), sd.LDiversity(2)])
    return release.write(tmp_path_factory.mktemp("release") / "out", formats=FORMATS)


@pytest.fixture
def folder(original: Path, tmp_path: Path) -> Path:
    shutil.copytree(original, tmp_path / "out")
    return tmp_path / "out" / "hand-over"


def certified(folder: Path, change: Callable[[dict[str, object]], object] = lambda data: None) -> None:
    """Write the certificate again, for the files as they are now, as its own writer does."""
    data = json.loads((folder / "certificate.json").read_text())
    del data["sha256"]
    data["output"] = {
        file.name: sha256_of(file) for file in sorted(folder.iterdir()) if file.name != "certificate.json"
    }
    change(data)
    Certificate.from_json(data).write(folder / "certificate.json")


def test_all_formats_are_there_and_verified(folder: Path) -> None:
    assert {file.suffix for file in folder.iterdir()} == {".parquet", ".csv", *COPY_ENDINGS}
    assert sd.verify(folder).holds
    assert sd.verify(folder).notes == ()
    certified(folder)
    assert sd.verify(folder).holds


@pytest.mark.parametrize("ending", COPY_ENDINGS)
def test_a_copy_alone(folder: Path, ending: str) -> None:
    published = sd.Schema(attributes={name: own for name, own in SCHEMA.attributes.items() if name != "name"})
    typed = published.model_copy(
        update={
            "attributes": published.attributes | {"ill": SCHEMA["ill"].model_copy(update={"type": "integer"})}
        }
    )
    assert sd.verify(folder / f"data{ending}", sd.KAnonymity(4), typed).measured["k"] >= 4


def test_labels_are_those_of_what_is_published(folder: Path) -> None:
    labels = Certificate.open(folder / "certificate.json").labels
    assert labels["ill"].codes == {"1": "flu", "2": "cold", "3": "HIV"}
    assert set(labels) == {"age", "ill"}
    for file in folder.iterdir():
        content = file.read_bytes()
        assert b"secret" not in content
        assert b"Full name" not in content


def test_without_copies_a_certificate_says_nothing_of_labels(tmp_path: Path) -> None:
    release = sd.generalize(sd.read(PEOPLE, SCHEMA), sd.KAnonymity(4))
    data = json.loads((release.write(tmp_path / "out") / "hand-over" / "certificate.json").read_text())
    assert "labels" not in data
    assert "pyreadstat" not in data["versions"]


@pytest.mark.parametrize("ending", COPY_ENDINGS)
def test_a_copy_with_other_rows(folder: Path, ending: str) -> None:
    rows = FileRows([folder / "data.parquet"]).frame()
    other = rows.with_columns(sex=pl.when(pl.int_range(rows.height) == 0).then(pl.lit("x")).otherwise("sex"))
    write_copy(Runs.of(other), Labels(), folder / f"data{ending}")
    certified(folder)
    with pytest.raises(
        sd.RequirementError, match=rf"data{ending} has other bytes than a release writes for its rows"
    ):
        sd.verify(folder)


def test_a_workbook_with_a_hidden_note(folder: Path) -> None:
    with zipfile.ZipFile(folder / "data.xlsx", "a") as archive:
        archive.writestr("docProps/core.xml", "<creator>Ann</creator>")
    certified(folder)
    with pytest.raises(sd.RequirementError, match=r"data\.xlsx has other bytes than a release writes"):
        sd.verify(folder)


@pytest.mark.parametrize("ending", [".dta", ".sav"])
def test_a_label_more(folder: Path, ending: str) -> None:
    labels = Labels({"age": "Age in years", "ill": "Illness", "sex": "as Ann says"})
    write_copy(FileRows([folder / "data.parquet"]), labels, folder / f"data{ending}")
    certified(folder)
    with pytest.raises(sd.RequirementError, match=rf"data{ending} has other bytes"):
        sd.verify(folder)


def test_a_copy_that_another_version_wrote_is_compared_by_what_it_says(folder: Path) -> None:
    content = bytearray((folder / "data.sav").read_bytes())
    content[92:101] = b"17 Nov 26"  # as one would that leaves the date in
    (folder / "data.sav").write_bytes(content)
    certified(folder)
    with pytest.raises(sd.RequirementError, match=r"data\.sav has other bytes"):
        sd.verify(folder)
    certified(folder, lambda data: data["versions"].update(pyreadstat="1.0"))  # type: ignore[attr-defined]
    notes = sd.verify(folder).notes
    assert any(note.startswith("data.sav was written by pyreadstat 1.0, and here is") for note in notes)
    write_copy(FileRows([folder / "data.parquet"]), Labels({"sex": "as Ann says"}), folder / "data.sav")
    certified(folder)
    with pytest.raises(sd.RequirementError, match=r"data\.sav has other bytes"):
        sd.verify(folder)


def test_labels_in_a_certificate_of_what_is_not_there(folder: Path) -> None:
    certified(folder, lambda data: data["labels"]["ill"]["codes"].update({"9": "secret"}))  # type: ignore[index]
    with pytest.raises(
        sd.RequirementError, match="The certificate lists labels of 'ill' that nothing in the output has"
    ):
        sd.verify(folder)
    for ending in (".dta", ".sav"):
        (folder / f"data{ending}").unlink()
    certified(folder)
    with pytest.raises(
        sd.RequirementError, match="The certificate lists labels, which no file beside it has"
    ):
        sd.verify(folder)


def test_a_copy_without_its_table(folder: Path) -> None:
    (folder / "data.xlsx").rename(folder / "more.xlsx")
    certified(folder)
    with pytest.raises(
        sd.RequirementError, match=r"more\.xlsx lies there without the Parquet files of its table"
    ):
        sd.verify(folder)


def test_a_folder_without_a_certificate(folder: Path) -> None:
    (folder / "certificate.json").unlink()
    assert sd.verify(folder, sd.KAnonymity(4), SCHEMA).holds
    shutil.copy(folder / "data.xlsx", folder / "data.ods")
    with pytest.raises(sd.RequirementError, match=r"data\.ods has other bytes"):
        sd.verify(folder, sd.KAnonymity(4), SCHEMA)


def test_views_and_a_randomized_table(tmp_path: Path) -> None:
    table = sd.read(PEOPLE, SCHEMA)
    views = sd.generalize_views(table, {"ages": ["age"], "sexes": ["sex"]}, sd.MultiViewDiversity(2))
    out = views.write(tmp_path / "views", formats=["xlsx", "sav"])
    assert {"ages.xlsx", "sexes.xlsx", "ages.sav", "sexes.sav"} <= {
        file.name for file in (out / "hand-over").iterdir()
    }
    assert sd.verify(out).holds
    declared = sd.Schema.from_roles(
        identifier=["name"],
        quasi=["age", "sex"],
        sensitive=["ill"],
        bounds={"age": (0, 99), "ill": (1, 3)},
        domains={"sex": ["f", "m"]},
        missing="refuse",
    )
    noisy = sd.randomize(sd.read(PEOPLE, declared), sd.PkAnonymity(2), unsafe_seed=1)
    assert sd.verify(noisy.write(tmp_path / "noisy", formats=["ods", "json", "dta"])).holds


def test_an_attack_reads_a_copy(folder: Path) -> None:
    figures = [attack_all(folder / f"data{ending}", SCHEMA) for ending in (".parquet", ".xlsx")]
    assert figures[0]["homogeneity"]["ill"]["records"] == 0
    assert figures[1] == figures[0]
