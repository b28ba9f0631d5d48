"""Folders with a certificate that carry more than was promised: in bytes, in figures, in texts, or under other roles."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from typer.testing import CliRunner

import sudare as sd
from sudare.cli.app import app
from sudare.privacy.certificate import Certificate
from tests.pview.forged import forge
from tests.release.hand_over import PEOPLE, forged, write
from tests.reports.pview_cases import people, survey

OTHER_BYTES = "has other bytes than a release writes for its rows"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write(tmp_path / "hand-over")


# -- bytes beside the rows -------------------------------------------------------------------------------


def field_metadata(path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    fields = [
        pyarrow.field(name, pyarrow.large_string(), metadata={"raw": "Alice"}) for name in PEOPLE.columns
    ]
    parquet.write_table(PEOPLE.to_arrow().cast(pyarrow.schema(fields)), path)


def bytes_before_the_footer(path: Path) -> None:
    content = path.read_bytes()
    start = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
    path.write_bytes(content[:start] + b"Alice, 23, HIV" + content[start:])


def smaller_row_groups(path: Path) -> None:
    PEOPLE.write_parquet(path, row_group_size=2)


def other_compression(path: Path) -> None:
    PEOPLE.write_parquet(path, compression="uncompressed")


@pytest.mark.parametrize(
    "change", [field_metadata, bytes_before_the_footer, smaller_row_groups, other_compression]
)
def test_a_parquet_file_with_more_than_its_rows(folder: Path, change: Callable[[Path], None]) -> None:
    change(folder / "data.parquet")
    assert pl.read_parquet(folder / "data.parquet").equals(PEOPLE)
    forged(folder, lambda c: None)
    with pytest.raises(sd.RequirementError, match=rf"data\.parquet {OTHER_BYTES}"):
        sd.verify(folder)


def quoted(text: bytes) -> bytes:
    return text.replace(b"HIV", b'"HIV"', 1)


def other_line_ends(text: bytes) -> bytes:
    return text.replace(b"\n", b"\r\n")


def byte_order_mark(text: bytes) -> bytes:
    return b"\xef\xbb\xbf" + text


@pytest.mark.parametrize("change", [quoted, other_line_ends, byte_order_mark])
@pytest.mark.parametrize("alone", [False, True])
def test_a_csv_file_written_otherwise(folder: Path, change: Callable[[bytes], bytes], alone: bool) -> None:
    path = folder / "data.csv"
    path.write_bytes(change(path.read_bytes()))
    if alone:
        (folder / "data.parquet").unlink()
    forged(folder, lambda c: None)
    with pytest.raises(sd.RequirementError, match=rf"data\.csv {OTHER_BYTES}|same rows"):
        sd.verify(folder)


def test_a_file_of_another_version_of_polars(folder: Path) -> None:
    other_compression(folder / "data.parquet")
    forged(folder, lambda c: c["versions"].update(polars="0.1"))
    note = sd.verify(folder).notes[0]
    assert "was written by polars 0.1" in note
    field_metadata(folder / "data.parquet")
    forged(folder, lambda c: None)
    with pytest.raises(sd.RequirementError, match=OTHER_BYTES):
        sd.verify(folder)


def test_several_row_groups_and_types_are_written_alike(tmp_path: Path) -> None:
    n = 300_000
    row = pl.int_range(n, eager=True)
    frame = pl.select(
        age=row // 100_000,
        sex=(row % 7).cast(pl.Int32).cast(pl.Date),
        illness=(row % 5).cast(pl.String),
        note=pl.when(row % 3 > 0).then(row / 7),
    )
    frame = frame.sort(frame.columns, nulls_last=True)
    assert sd.verify(write(tmp_path / "out", {"data": frame})).holds


# -- figures and texts -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda c: c["utility"].update(blocks=3), "claims utility.blocks = 3, but the output has 2"),
        (lambda c: c["utility"].update(discernibility=1), "claims utility.discernibility"),
        (lambda c: c["utility"].update(average_block="Alice"), "claims utility.average_block"),
        (lambda c: c["utility"].update(raw="Alice"), "the figure 'utility.raw', which is not recounted"),
        (lambda c: c["utility"].pop("blocks"), "lacks the figure 'utility.blocks'"),
        (lambda c: c["utility"].update(distortion="Alice"), "distortion = Alice, which is no number"),
        (lambda c: c["utility"].update(distortion=1.5), "distortion = 1.5, which is no number"),
        (lambda c: c["attacks"].update(raw="Alice"), "the figure 'attacks.raw'"),
        (
            lambda c: c["attacks"]["output"]["homogeneity"]["illness"].update(share=0.9),
            "claims attacks.output",
        ),
        (lambda c: c["versions"].update(raw="1"), "versions have 'raw'"),
        (lambda c: c["versions"].update(numpy="Alice, 23, HIV"), "versions have 'numpy'"),
        (lambda c: c.update(caveats=["Alice"] * 21), "21 caveats"),
        (lambda c: c.update(caveats=["Alice" * 300]), "a text of 1,500 characters"),
        (lambda c: c.update(randomness="Alice" * 300), "a text of 1,500 characters"),
    ],
)
def test_what_was_not_recounted(folder: Path, change: Callable[[dict[str, Any]], Any], message: str) -> None:
    with pytest.raises(sd.RequirementError, match=message):
        sd.verify(forged(folder, change))


def test_a_distortion_is_said_to_be_claimed(folder: Path) -> None:
    forged(folder, lambda c: c["utility"].update(distortion=0.25))
    assert any("claimed, not recounted" in note for note in sd.verify(folder).notes)
    assert "claimed, not recounted" in said("verify", folder).replace("\n", " ")


def test_views_state_no_distortion(tmp_path: Path) -> None:
    frame = pl.DataFrame({"age": ["{D, Q}"] * 3, "illness": ["a", "b", "c"]})
    promises = [sd.MultiViewDiversity(3)]
    folder = write(tmp_path / "out", {"one": frame, "two": frame}, promises)
    utility = sd.Certificate.open(folder / "certificate.json").utility
    assert [set(figures) for figures in utility.values()] == [
        {"blocks", "average_block", "discernibility"}
    ] * 2
    assert sd.verify(folder).holds
    with pytest.raises(sd.RequirementError, match=r"'utility\.one\.distortion'"):
        sd.verify(forged(folder, lambda c: c["utility"]["one"].update(distortion=0.0)))


# -- roles ---------------------------------------------------------------------------------------------------


def test_a_certificate_that_calls_nothing_quasi(folder: Path) -> None:
    def other(certificate: dict[str, Any]) -> None:
        for column in certificate["attributes"].values():
            if column["role"] == "quasi":
                column["role"] = "other"

    with pytest.raises(sd.RequirementError, match="calls no column quasi"):
        sd.verify(forged(folder, other))


def said(*arguments: object) -> str:
    return CliRunner().invoke(app, [str(a) for a in arguments]).output


def test_the_command_says_what_counts_as_known(folder: Path) -> None:
    text = said("verify", folder)
    assert "Known to outsiders (quasi): age, sex" in text
    assert text.index("Sensitive: illness") < text.index("holds")
    columns = {"quasi": ["age", "sex"], "sensitive": ["illness"], "other": []}
    assert json.loads(said("verify", folder, "--json"))["columns"] == columns


# -- laws ------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def randomized(tmp_path_factory: pytest.TempPathFactory) -> Path:
    schema = sd.Schema.from_roles(sensitive=["ill"], domains={"ill": ["no", "yes"]})
    table = sd.read(pl.DataFrame({"ill": ["no", "yes"] * 50}), schema)
    folder = sd.randomize(table, sd.PkAnonymity(5)).write(tmp_path_factory.mktemp("law") / "out")
    return folder / "hand-over"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda law: law.update(epsilon=0.0), "The law claims epsilon = 0"),
        (lambda law: law.update(pk=90.0), "The law claims pk = 90"),
        (lambda law: law.update(records=101), "The law speaks of 101 records"),
        (lambda law: law["attributes"]["ill"].update(epsilon=0.0), "claims epsilon of 'ill' = 0"),
        (lambda law: law["attributes"]["ill"].update(spread=0.0), "claims spread of 'ill' = 0"),
    ],
)
def test_a_law_that_claims_more(
    randomized: Path, tmp_path: Path, change: Callable[[dict[str, Any]], Any], message: str
) -> None:
    folder = Path(shutil.copytree(randomized, tmp_path / "out"))
    assert sd.verify(folder).holds
    law = json.loads((folder / "law.json").read_text())
    change(law)
    (folder / "law.json").write_text(json.dumps(law))
    with pytest.raises(sd.RequirementError, match=message):
        sd.verify(forged(folder, lambda c: None))


# -- p-views ---------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def view(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = sd.materialize(survey(people(300)), sd.DifferentialPrivacy(1.0), "independent")
    return made.save(tmp_path_factory.mktemp("view") / "view")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda f: f.update(raw="Alice"), "the facts of the p-view have 'raw'"),
        (lambda f: f["certificate"].update(records={"published": 300}), "p-view.records"),
        (lambda f: f["certificate"]["attributes"].update(raw={"role": "other"}), "p-view.attributes"),
        (lambda f: f["certificate"]["measured"].update(epsilon=2.0), "p-view.measured.epsilon"),
        (lambda f: f["certificate"]["utility"].update(rows=1), "p-view.utility.rows"),
        (lambda f: f["certificate"]["attacks"].update(raw="Alice"), "p-view.attacks.raw"),
        (lambda f: f["certificate"]["versions"].update(raw="Alice"), "versions have 'raw'"),
        (lambda f: f["budget"].update(whole="2"), "the whole budget"),
        (lambda f: f["budget"].update(remaining="1/2"), "the whole budget"),
    ],
)
def test_a_view_that_says_more(
    view: Path, tmp_path: Path, change: Callable[[dict[str, Any]], Any], message: str
) -> None:
    folder = Path(shutil.copytree(view, tmp_path / "view"))
    assert sd.verify(folder).holds
    forge(folder, lambda about: change(about["facts"]))
    with pytest.raises(sd.RequirementError, match=message):
        sd.verify(folder)


def test_a_view_with_bytes_beside_its_data(view: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(view, tmp_path / "view"))
    bytes_before_the_footer(folder / "pview.parquet")
    forge(folder)
    with pytest.raises(sd.RequirementError, match=rf"view\.parquet {OTHER_BYTES}"):
        sd.verify(folder)


def test_blanks_in_a_law_or_a_manifest_are_refused(tmp_path: Path) -> None:
    """White space can hold a message, and a forger hashes it anew."""
    schema = sd.Schema.from_roles(sensitive=["ill"], domains={"ill": ["yes", "no"]}, missing="refuse")
    table = sd.read(pl.DataFrame({"ill": ["yes", "no"] * 20}), schema)
    folder = sd.randomize(table, sd.PkAnonymity(2)).write(tmp_path / "out") / "hand-over"
    law = folder / "law.json"
    law.write_bytes(law.read_bytes().replace(b'": ', b'":  ', 1))
    certificate = Certificate.open(folder / "certificate.json")
    digest = hashlib.sha256(law.read_bytes()).hexdigest()
    forged = certificate.model_copy(update={"output": certificate.output | {"law.json": digest}})
    forged.write(folder / "certificate.json")
    with pytest.raises(sd.RequirementError, match="not written as a release writes it"):
        sd.verify(folder)
    view = sd.materialize(table, sd.DifferentialPrivacy(1.0)).save(tmp_path / "view")
    manifest = view / "manifest.json"
    assert sd.verify(view).holds
    manifest.write_bytes(manifest.read_bytes().replace(b'": ', b'":  ', 1))
    with pytest.raises(sd.RequirementError, match="not written as a release writes it"):
        sd.verify(view)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"method": "Alice has HIV"}, "which is none of Sudare's"),
        ({"domain": ["Alice", "Bob"]}, "lists values of 'ill', which no promise needs"),
        ({"hierarchy": [["flu", "Alice", "*"], ["HIV", "Alice", "*"]]}, "lists values of 'ill'"),
    ],
)
def test_a_certificate_has_no_room_for_other_texts(
    tmp_path: Path, change: dict[str, Any], message: str
) -> None:
    schema = sd.Schema.from_roles(quasi=["age"], sensitive=["ill"])
    table = sd.read(pl.DataFrame({"age": [20, 20, 30, 30], "ill": ["flu", "HIV"] * 2}), schema)
    folder = sd.generalize(table, sd.KAnonymity(2)).write(tmp_path / "out") / "hand-over"
    certificate = Certificate.open(folder / "certificate.json")
    ill = certificate.attributes["ill"]
    attributes = certificate.attributes | {"ill": ill.model_copy(update=change)}
    forged = certificate.model_copy(update=change if "method" in change else {"attributes": attributes})
    forged.write(folder / "certificate.json")
    with pytest.raises(sd.RequirementError, match=message):
        sd.verify(folder)
