"""The documentation site: what is made from code is as the code is, and pages say all that they should."""

from __future__ import annotations

import importlib.util
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import sudare as sd
from docs import measured, pictures
from sudare.cli.app import COMMANDS

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
TUTORIALS = sorted((DOCS / "tutorials").glob("*.md"))


def test_pictures_are_those_of_the_script() -> None:
    for name, draw in pictures.PICTURES.items():
        assert (DOCS / name).read_text(encoding="utf-8") == draw(), f"{name}: python -m docs.pictures"


def test_every_picture_is_made_by_a_script() -> None:
    """Drawn by docs/pictures.py, or taken of a page by docs/screens.py or by the studio's tests with SUDARE_PICTURES=docs."""
    shown = {
        name
        for page in [ROOT / "README.md", *DOCS.rglob("*.md")]
        for name in re.findall(r"!\[[^\]]*\]\((?:docs/|\.\./)?([^)]+)\)", page.read_text(encoding="utf-8"))
    }
    drawn = {Path(name).name for name in pictures.PICTURES}
    scripts = [DOCS / "screens.py", *(ROOT / "tests" / "studio").rglob("*.py")]
    taken = "".join(file.read_text(encoding="utf-8") for file in scripts)
    for name in shown:
        assert (
            Path(name).name in drawn or Path(name).name.removeprefix("studio-").removesuffix(".png") in taken
        ), name


def test_badges_are_true() -> None:
    assert pictures.badges() == {
        "licence": "Apache-2.0",
        "python": pictures.badges()["python"],
        "types": "mypy, strict",
        "status": "alpha",
    }
    assert (ROOT / "LICENSE").read_text(encoding="utf-8").split()[:2] == ["Apache", "License"]
    assert pictures.badges()["python"].startswith("3.11 | 3.12")


def test_every_room_is_in_the_picture_of_the_layers() -> None:
    rooms = {
        folder.name for folder in (ROOT / "src" / "sudare").iterdir() if (folder / "__init__.py").exists()
    }
    assert rooms == {name for row in pictures.layer_rows() for name in row}


@pytest.mark.slow
@pytest.mark.usefixtures("data_folder")
@pytest.mark.parametrize("name", measured.MEASURES)
def test_pictures_draw_what_is_measured(name: str) -> None:
    assert measured.MEASURES[name]() == json.loads(measured.FILE.read_text(encoding="utf-8"))[name]


def test_every_field_of_a_certificate_is_explained() -> None:
    told = re.findall(r"^\| `(\w+)` \|", (DOCS / "certificate.md").read_text(encoding="utf-8"), re.M)
    assert told == [*sd.Certificate.model_fields, "sha256"]


def test_every_page_has_its_place() -> None:
    text = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    listed = set(re.findall(r"[\w/.-]+\.md", text))
    assert {str(page.relative_to(DOCS)) for page in DOCS.rglob("*.md")} <= listed


def test_every_method_page_says_the_same_things() -> None:
    for page in (DOCS / "methods").glob("*.md"):
        if page.stem != "index":
            titles = re.findall(r"(?m)^## (.+)$", page.read_text(encoding="utf-8"))
            assert [words.split(":")[0] for words in titles] == [
                "When to take it",
                "What is guaranteed",
                "Why",
                "What it costs",
                "The paper, and where it slips",
                "Try it",
            ]


@pytest.mark.parametrize("page", TUTORIALS, ids=lambda page: page.stem)
def test_tutorials_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The blocks of a tutorial are one walk, from its first to its last."""
    try:
        sd.datasets.path("adult/adult.data")
    except sd.InputError:
        pytest.skip("SUDARE_DATA names no folder with the public data files")
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    assert blocks
    walk: dict[str, object] = {}
    for code in blocks:
        exec(code, walk)


@pytest.mark.slow
def test_the_site_is_built_without_a_warning(tmp_path: Path) -> None:
    if any(importlib.util.find_spec(name) is None for name in ("mkdocs", "material", "mkdocstrings")):
        pytest.skip("the packages of the site are not installed: pip install 'sudare[docs]'")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path / "site")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "WARNING" not in done.stderr
    site = tmp_path / "site"
    commands = (site / "reference" / "commands.html").read_text(encoding="utf-8")
    assert all(f"sudare {name}" in commands for name in COMMANDS)
    python = (site / "reference" / "python.html").read_text(encoding="utf-8")
    assert all(name in python for name in sd.__all__)
    for page in site.rglob("*.html"):  # nothing is asked of other servers when a page is opened
        asked = re.findall(
            r"<(?:script|img|link|iframe)[^>]+(?:src|href)=\"(https?:[^\"]+)\"",
            page.read_text(encoding="utf-8"),
        )
        assert asked == [], page
