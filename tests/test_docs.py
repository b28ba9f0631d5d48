"""What the README and the docs show must work as it stands there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import typer

import sudare as sd
from sudare.cli.app import app

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def blocks(page: Path, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)


@pytest.mark.usefixtures("reports")
def test_python_examples_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    examples = [code for page in PAGES for code in blocks(page, "python")]
    assert examples
    for code in examples:
        exec(code, {})


def test_schema_examples_load(tmp_path: Path) -> None:
    examples = [text for page in PAGES for text in blocks(page, "toml")]
    assert examples
    for text in examples:
        (tmp_path / "sudare.toml").write_text(text, encoding="utf-8")
        assert sd.Schema.from_toml(tmp_path / "sudare.toml").attributes


def test_hierarchies_in_the_how_to_load(tmp_path: Path) -> None:
    rows = re.findall(
        r"^\| `([\"{].*?)` \|", (ROOT / "docs" / "how-to.md").read_text(encoding="utf-8"), re.MULTILINE
    )
    assert len(rows) == 10
    for text in rows:
        schema = tmp_path / "sudare.toml"
        schema.write_text(f'[attributes.a]\nrole = "quasi"\nhierarchy = {text}\n', encoding="utf-8")
        assert sd.Schema.from_toml(schema)["a"].hierarchy is not None


def test_commands_in_the_docs_exist() -> None:
    shown = {
        name
        for page in PAGES
        for code in blocks(page, "sh")
        for name in re.findall(r"^sudare ([\w-]+)", code, re.M)
    }
    assert shown
    assert shown <= set(typer.main.get_command(app).commands)  # type: ignore[attr-defined]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), target
