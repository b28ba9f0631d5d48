"""The documentation site: what is made from code is as the code is, and pages say all that they should."""

from __future__ import annotations

import html
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import sudare as sd
from docs import measured, pictures
from examples import notebooks
from sudare.cli.app import COMMANDS
from sudare.privacy.multi_view import KINDS

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
    fields = [*sd.Certificate.model_fields, "sha256"]
    assert told[: len(fields)] == fields


def test_every_figure_of_a_certificate_is_explained() -> None:
    """By certificates of every verb, and every requirement and kind of one."""
    people = sd.datasets.health_survey(300).select("age", "sex", "region", "diagnosis").drop_nulls()
    schema = sd.Schema.from_roles(
        quasi=["age", "sex", "region"],
        sensitive=["diagnosis"],
        bounds={"age": (0, 120)},
        domains={name: people[name].unique().sort().to_list() for name in ("sex", "region", "diagnosis")},
        hierarchies={"age": sd.Hierarchy.intervals(range(121), width=10)},
        missing="refuse",
    )
    table = sd.read(people, schema)
    views = {"a": ["age"], "b": ["sex"]}
    asked = [
        sd.KAnonymity(2),
        sd.KMap(2, population=people),
        sd.LDiversity(2),
        sd.LDiversity(1.5, kind="entropy"),
        sd.LDiversity(2, kind="recursive", c=9),
        sd.TCloseness(0.9),
        sd.BetaLikeness(9),
        sd.DeltaDisclosure(9),
    ]
    made = [
        sd.generalize(table, asked, method="mondrian"),
        sd.generalize(table, sd.DeltaPresence(1, population=people), method="mondrian"),
        *(sd.generalize_views(table, views, sd.MultiViewDiversity(1, kind=kind)) for kind in KINDS),
        sd.randomize(table, sd.PkAnonymity(2)),
        sd.materialize(table, sd.DifferentialPrivacy(1.0, 1e-9), method="independent"),
    ]
    text = (DOCS / "certificate.md").read_text(encoding="utf-8")
    told = set(re.findall(r"`(\w+)`", text))
    for release in made:
        certificate = release.certificate
        figures = {*certificate.measured, *(certificate.utility.keys() - views.keys())}
        for kind, found in certificate.attacks.get("output", {}).items():
            figures |= {
                kind,
                *(found.keys() - {"diagnosis", "by_attribute", "records", "blocks", "population"}),
            }
        assert figures <= told | {"prosecutor", "journalist", "marketer"}, figures - told
        assert certificate.attacks.keys() <= {"output"}


def test_every_word_of_the_concepts_is_in_the_glossary_in_both_languages() -> None:
    rows = re.findall(
        r"^\| ([^|]+) \| ([^|]+) \| [^|]+ \|$", (DOCS / "glossary.md").read_text(encoding="utf-8"), re.M
    )
    told = {english.lower() for english, _ in rows}
    concepts = (DOCS / "concepts.md").read_text(encoding="utf-8")
    words = {word.lower() for word in re.findall(r"^\| \*\*([^*]+)\*\* \|", concepts, re.M)}
    roles = {role.value for role in sd.Role} - {"other", "quasi", "sensitive"}
    missing = [word for word in words | roles if not any(re.search(rf"\b{word}\b", one) for one in told)]
    assert missing == []
    assert all(re.search(r"[\u3040-\u30ff\u4e00-\u9fff]", japanese) for _, japanese in rows[2:])
    assert len(told) == len(rows)


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


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built as `make docs` does; where SUDARE_SITE names a folder, as `make docs` left it there."""
    if built := os.environ.get("SUDARE_SITE"):
        return ROOT / built
    if any(importlib.util.find_spec(name) is None for name in ("mkdocs", "material", "mkdocstrings")):
        pytest.skip("the packages of the site are not installed: pip install 'sudare[docs]'")
    folder = tmp_path_factory.mktemp("docs") / "site"
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    done = subprocess.run(
        command,
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
    )
    assert done.returncode == 0, done.stderr
    assert "WARNING" not in done.stderr.upper()
    return folder


@pytest.mark.slow
def test_references_have_all_that_there_is(site: Path) -> None:
    commands = (site / "reference" / "commands.html").read_text(encoding="utf-8")
    assert all(f"sudare {name}" in commands for name in COMMANDS)
    said = " ".join(html.unescape(re.sub(r"<[^>]+>", " ", commands)).split())
    for option, taken in (
        ("-k k-anonymity; several: -k 2 -k 5", "2 5 10"),
        (
            "--method minimal: least distortion",
            "minimal --suppress The share of records that may be left out. 0.0",
        ),
        ("--schema , -s The schema file.", "sudare.toml"),
        ("--epsilon The epsilon of the whole p-view", "it must be given"),
    ):
        assert taken in said[said.index(option) :][:400], option
    python = (site / "reference" / "python.html").read_text(encoding="utf-8")
    assert all(name in python for name in sd.__all__)
    shown = " ".join(html.unescape(re.sub(r"<[^>]+>", "", python)).split())
    for made in (
        "KAnonymity( k: int",
        "LDiversity( l: ",
        "Ledger( path: ",
        "Minimal( ",
        "Generalizer( requirements: ",
    ):
        assert made in shown or made.replace("( ", "(") in shown, (
            f"the reference does not say how a {made} is made"
        )


@pytest.mark.slow
def test_examples_can_be_taken_away_as_notebooks(site: Path) -> None:
    links = re.findall(r'href="(examples/\w+\.ipynb)"', (site / "examples.html").read_text(encoding="utf-8"))
    assert {Path(link).stem for link in links} == {example.stem for example in notebooks.examples()}
    for link in links:
        assert json.loads((site / link).read_text(encoding="utf-8"))["nbformat"] == 4


@pytest.mark.slow
@pytest.mark.browser
def test_pages_ask_nothing_of_others_and_are_searched_from_a_disk(site: Path) -> None:
    chromium = shutil.which("chromium")
    if chromium is None or importlib.util.find_spec("playwright") is None:
        pytest.skip("Chromium or Playwright is not installed")
    from playwright.sync_api import sync_playwright

    asked: set[str] = set()
    faults: list[str] = []
    with sync_playwright() as started:
        browser = started.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page()
        page.on("request", lambda request: asked.add(request.url.split(":")[0]))
        page.on("requestfailed", lambda request: faults.append(f"{request.url}: {request.failure}"))
        page.on("pageerror", lambda error: faults.append(str(error)))
        for file in site.rglob("*.html"):
            if file.name != "404.html":  # which only servers show, from their root
                page.goto(file.as_uri())
        page.goto((site / "index.html").as_uri())
        page.click("input.md-search__input")
        page.keyboard.type("postcode hierarchy", delay=30)
        page.wait_for_selector(".md-search-result__item", timeout=60_000)
        browser.close()
    assert asked <= {"file", "data", "blob", "about"}
    assert [
        fault for fault in faults if not fault.endswith("ERR_ABORTED")
    ] == []  # by going on to the next page
