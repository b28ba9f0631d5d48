"""What the README and the docs show must work as it stands there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import typer

import sudare as sd
from sudare.cli.app import app

ROOT = Path(__file__).parent.parent
ALL_PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
PAGES = [
    page for page in ALL_PAGES if page.parent.name != "tutorials"
]  # whose blocks are one walk, in test_site.py


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


FIGURE = re.compile(r"(?<![\w.,])\d[\d,.]*\d%?|(?<![\w.,])\d%?")


def quoted(page: Path) -> list[tuple[list[str], Path]]:
    """Return the figures of every row of tables that say where they are from, with that page."""
    found = []
    for table in re.findall(
        r"(?m)^\|.*\| figure \| from \|\n\|[-| :]+\|\n((?:\|.*\n)+)", page.read_text(encoding="utf-8")
    ):
        for row in table.splitlines():
            *_, figures, source = row.strip("| ").split(" | ")
            link = re.search(r"\]\(([^)#]+)", source)
            assert link is not None, row
            found.append((FIGURE.findall(figures), (page.parent / link[1]).resolve()))
    return found


QUOTED = [(page, figures, source) for page in ALL_PAGES for figures, source in quoted(page)]


@pytest.mark.parametrize(("page", "figures", "source"), QUOTED)
def test_figures_are_those_of_the_page_that_measured_them(
    page: Path, figures: list[str], source: Path
) -> None:
    assert figures, page
    there = set(FIGURE.findall(source.read_text(encoding="utf-8")))
    assert set(figures) <= there, (page.name, source.name)


def test_a_figure_that_was_not_measured_is_noticed(tmp_path: Path) -> None:
    (tmp_path / "measured.md").write_text("It took 1,234.5 s and 17%.\n")
    (tmp_path / "page.md").write_text(
        "| what | figure | from |\n| --- | --- | --- |\n| a | 1,234.6 s, 17% | [it](measured.md) |\n"
    )
    ((figures, source),) = quoted(tmp_path / "page.md")
    assert figures == ["1,234.6", "17%"]
    assert set(figures) - set(FIGURE.findall(source.read_text())) == {"1,234.6"}


@pytest.mark.parametrize("page", ALL_PAGES, ids=lambda page: page.stem)
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), target


@pytest.mark.parametrize(
    "page", [ROOT / "CONTRIBUTING.md", ROOT / "docs" / "house.md"], ids=lambda page: page.stem
)
def test_files_that_contributors_are_sent_to_exist(page: Path) -> None:
    """Paths from the root, or within `src/sudare`; capitals stand for a name of one's own."""
    text = page.read_text(encoding="utf-8")
    named = {path for path in re.findall(r"`([\w./]+/[\w./]*)`", text) if not re.search(r"[A-Z]{3}", path)}
    assert named
    for path in named:
        assert (ROOT / path).exists() or (ROOT / "src" / "sudare" / path).exists(), path


@pytest.mark.parametrize(
    "page", [*ALL_PAGES, *(ROOT / "papers").rglob("README.md")], ids=lambda page: page.stem
)
def test_tables_are_whole(page: Path) -> None:
    """A table begins with its heads, and all rows have as many cells; an empty line within would end it."""
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    for table in re.findall(r"(?m)^\|.*\n(?:\|.*\n?)*", text):
        rows = [re.split(r"(?<!\\)\|", re.sub(r"`[^`]*`", "", row)) for row in table.splitlines()]
        assert re.fullmatch(r"[-:| ]+", table.splitlines()[1] if len(rows) > 1 else ""), (
            page.name,
            table[:80],
        )
        assert len({len(row) for row in rows}) == 1, (page.name, table[:80])
