"""The documentation site: what is made from code is as the code is, and pages say all that they should."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

import sudare as sd
from sudare.cli.app import COMMANDS

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
TUTORIALS = sorted((DOCS / "tutorials").glob("*.md"))


def script(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"docs_{name}", DOCS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_pictures_are_those_of_the_script() -> None:
    for name, draw in script("pictures").PICTURES.items():
        assert (DOCS / name).read_text(encoding="utf-8") == draw()


def test_every_field_of_a_certificate_is_explained() -> None:
    told = re.findall(r"^\| `(\w+)` \|", (DOCS / "certificate.md").read_text(encoding="utf-8"), re.M)
    assert told == [*sd.Certificate.model_fields, "sha256"]


def test_every_page_has_its_place() -> None:
    text = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    listed = set(re.findall(r"[\w/.-]+\.md", text))
    assert {str(page.relative_to(DOCS)) for page in DOCS.rglob("*.md")} <= listed


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
