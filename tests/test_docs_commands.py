"""Commands that pages show work as they stand there: section by section, in a folder that has what a reader would have."""

from __future__ import annotations

import re
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

import sudare as sd
from sudare.cli.app import COMMANDS, app, imported
from tests.test_docs import ROOT

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
COLUMNS = ["name", "age", "sex", "region", "education", "diagnosis"]
QUASI = COLUMNS[1:-1]
MAKERS = ("generalize", "generalize-views", "publish", "randomize", "materialize")
ELSEWHERE = {  # what no test can have, and why
    "postgresql://": "a server of its own",
    "--head 5f0c...": "a head that somebody noted",
    "--unit family --tie rent": "columns that this table does not have",
    "sudare studio": "a browser",
    "--pdf": "Chromium",
    "sc://": "a server of its own",
}
GIVEN = ("out", "elsewhere")
PIPELINE = """
read = { source = "people.csv", schema = "sudare.toml" }
make = { verb = "generalize", k = 5, l = 3, method = "mondrian" }
write = { folder = "releases", ledger = "releases.db" }
"""


def sections(page: Path) -> Iterator[tuple[str, list[list[str]]]]:
    """Yield the commands of every section, as a shell would split them."""
    for section in re.split(r"(?m)^## ", page.read_text(encoding="utf-8")):
        found = [
            line.removeprefix("$ ")
            for code in re.findall(r"```(?:sh|console)\n(.*?)```", section, re.DOTALL)
            for line in code.splitlines()
        ]
        lines = [line for line in found if line.startswith("sudare ")]
        wanted = [line for line in lines if not any(words in line for words in ELSEWHERE)]
        commands = [shlex.split(line, comments=True)[1:] for line in wanted]
        yield section.splitlines()[0], [line[: line.index(">")] if ">" in line else line for line in commands]


def inline(page: Path) -> list[list[str]]:
    """Return commands that stand within sentences."""
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    found = [words for words in re.findall(r"`sudare ([^`]*)`", text) if "..." not in words]
    return [shlex.split(words.split(";")[0]) for words in found]


def refuse_unknown(words: list[str]) -> None:
    """Raise an error if there is no such command, or if it has no such option."""
    if words[0] in ("--version", "--help", "--install-completion"):
        return
    assert words[0] in COMMANDS, words
    command, words = imported(words[0]), words[1:]
    while hasattr(command, "commands") and words:
        assert words[0] in command.commands, words
        command, words = command.commands[words[0]], words[1:]
    known = {name for one in command.params for name in [*one.opts, *one.secondary_opts]} | {"--help"}
    for word in words:
        if re.match(r"--?[A-Za-z]", word):
            assert word.split("=")[0] in known, (command.name, word)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_commands_and_options_exist(page: Path) -> None:
    for words in [*inline(page), *(words for _, commands in sections(page) for words in commands)]:
        refuse_unknown(words)


def test_an_option_that_is_not_there_is_noticed() -> None:
    with pytest.raises(AssertionError):
        refuse_unknown(["generalize", "people.csv", "out", "--nothing-such"])


def prepared(folder: Path, commands: list[list[str]]) -> None:
    """Lay out what the reader of a section has: a table, its schema, and files of others."""
    people = sd.datasets.health_survey(1200).select(COLUMNS).drop_nulls()
    people.write_csv(folder / "people.csv")
    people.select(QUASI).write_csv(folder / "register.csv")
    for name in ("sample", "others", "both", "newer"):
        people.head(600).write_csv(folder / f"{name}.csv")
    (folder / "people").mkdir()
    people.write_parquet(folder / "people" / "part-1.parquet")
    (folder / "pipeline.toml").write_text(PIPELINE)
    schema = sd.Schema.from_roles(
        identifier=["name"],
        quasi=QUASI,
        sensitive=["diagnosis"],
        bounds={"age": (18, 95)},
        domains={
            name: people[name].unique().sort().to_list()
            for name in ("sex", "region", "education", "diagnosis")
        },
        hierarchies={"age": sd.Hierarchy.intervals(range(15, 100), width=5, fanout=2)},
        missing="refuse",
        source="people",
    )
    if not any(words[0] == "init" for words in commands):
        (folder / "sudare.toml").write_text(schema.to_toml())
    release = sd.generalize(sd.read(people, schema), [sd.KAnonymity(10), sd.LDiversity(3)], method="mondrian")
    first = {name: next((words for words in commands if name in words), []) for name in GIVEN}
    for name in GIVEN:
        if first[name] and first[name][0] not in MAKERS:
            release.write(folder / name, ledger=sd.Ledger(folder / "releases.db"))
    release.write(
        folder / "given", ledger=sd.Ledger(folder / "releases.db") if needs_a_ledger(commands) else None
    )
    shutil.copytree(folder / "given" / "hand-over", folder / "hand-over")
    shutil.copy(folder / "given" / "hand-over" / "data.csv", folder / "data.csv")


def needs_a_ledger(commands: list[list[str]]) -> bool:
    """Say whether a section looks at a ledger that was there before."""
    return bool(commands) and commands[0][:2] == ["ledger", "show"]


WALKS = [
    pytest.param(page, title, commands, id=f"{page.stem}: {title[:40]}", marks=pytest.mark.slow)
    for page in PAGES
    for title, commands in sections(page)
    if commands
]


@pytest.mark.usefixtures("reports")
@pytest.mark.parametrize(("page", "title", "commands"), WALKS)
def test_commands_run(
    page: Path, title: str, commands: list[list[str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    prepared(tmp_path, commands)
    for words in commands:
        done = CliRunner().invoke(app, words)
        if "exists already" in str(done.exception):  # a page may show several ways to make one folder
            for word in set(words) & {"out", "sudare.toml"}:
                shutil.rmtree(tmp_path / word, ignore_errors=True)
                (tmp_path / word).unlink(missing_ok=True)
            done = CliRunner().invoke(app, words)
        assert done.exit_code == 0, (words, done.output, done.exception)
