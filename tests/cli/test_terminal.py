"""What comes from a file reaches the terminal only as something to look at."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sudare as sd
import sudare.cli
from sudare.cli.output import escaped, print_json, print_table, printable, say
from tests.cli.conftest import Run

ORDERS = "\x1b[2K\x1b[1Gholds\x07\x9b2J\u202e\u200b\x7f"


def obeyed(text: str) -> set[str]:
    """The signs in a text that a terminal obeys instead of showing."""
    return {sign for sign in text if not sign.isprintable() and sign not in "\n "}


@given(st.text())
def test_nothing_printable_is_an_order(text: str) -> None:
    assert not {sign for sign in printable(text) if not sign.isprintable() and sign != "\n"} - set(
        "\xa0\u3000\u2003\u2002\u2009\u202f\u205f\u1680\u2000\u2001\u2004\u2005\u2006\u2007\u2008\u200a"
    )


@given(st.text(alphabet=st.characters() | st.sampled_from("[]/\\b{}\x1b")))
def test_say_shows_any_value_as_it_is(text: str) -> None:
    from rich.text import Text

    assert Text.from_markup(f"[b]{escaped(text)}[/]").plain == printable(text)


def test_every_value_is_apart_from_its_template() -> None:
    """What `say` prints is a text that stands in the code; whatever is known only later comes as a value."""
    calls = [
        call
        for file in Path(sudare.cli.__file__).parent.glob("*.py")
        for call in ast.walk(ast.parse(file.read_text()))
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "say"
    ]
    assert len(calls) > 40
    for call in calls:
        template = call.args[0]
        constant = isinstance(template, ast.Name) and template.id.isupper()
        assert constant or (isinstance(template, ast.Constant) and isinstance(template.value, str)), (
            call.lineno
        )


def test_published_values_cannot_rewrite_a_verdict(run: Run) -> None:
    rows = {"town": [ORDERS, "b", "b"], "[/x]": ["[red]", "y", "y"]}
    pl.DataFrame(rows).write_csv("data.csv")
    schema = sd.Schema.from_roles(quasi=["town", "[/x]"])
    Path("sudare.toml").write_text(schema.to_toml())
    result = run("verify", "data.csv", "-k", 2)
    assert result.code == 1
    assert "does not hold" in result.out
    assert not obeyed(result.out + result.err)
    assert "[/x]" in result.out
    for command in (["check", "data.csv"], ["count", "data.csv", "town", "[/x]"], ["attack", "data.csv"]):
        result = run(*command)
        assert "Traceback" not in result.err
        assert not obeyed(result.out + result.err), command


def test_names_of_files_are_only_shown(run: Run) -> None:
    name = "[b]\x1b[2J.csv"
    pl.DataFrame({"a": [1, 1]}).write_csv(name)
    result = run("init", name, "--schema", "[x].toml")
    assert result.code == 0
    assert not obeyed(result.out + result.err)
    missing = run("check", "none\x1b[2J.csv", "--schema", "[x].toml")
    assert missing.code == 2
    assert not obeyed(missing.err)
    assert "none\\x1b[2J.csv: there is no such file" in missing.err


def test_json_is_json_and_has_no_orders(capsys: pytest.CaptureFixture[str]) -> None:
    print_json({ORDERS: [ORDERS, "東京"]})
    out = capsys.readouterr().out
    assert json.loads(out) == {ORDERS: [ORDERS, "東京"]}
    assert "東京" in out
    assert not obeyed(out)


def test_tables_show_titles_headers_and_cells_as_they_are(capsys: pytest.CaptureFixture[str]) -> None:
    print_table("[/t]", ["[/h]"], [["[/c]"], [ORDERS]])
    say("[b]{}[/] {}", "[/v]", "{}")
    out = capsys.readouterr().out
    assert all(text in out for text in ("[/t]", "[/h]", "[/c]", "[/v]", "{}"))
    assert not obeyed(out) - set("\x1b")  # rich itself may draw bold lines


def test_help_keeps_its_brackets(run: Run) -> None:
    assert "[publish]" in run("publish", "--help").out


def test_the_password_of_a_source_is_not_shown(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    import sudare.cli.arguments
    import sudare.cli.check
    import sudare.cli.count

    said: list[str] = []

    @contextmanager
    def working(text: str) -> Iterator[None]:
        said.append(text)
        yield

    for module in (sudare.cli.arguments, sudare.cli.check, sudare.cli.count):
        monkeypatch.setattr(module, "working", working)
    Path("sudare.toml").write_text(sd.Schema.from_roles(quasi=["age"]).to_toml())
    source = "postgresql://somebody:hunter2@127.0.0.1:1/people?table=people"
    for command in (["check", source], ["count", source], ["generalize", source, "out", "-k", 2]):
        done = run(*command)
        assert done.code == 2
        assert "hunter2" not in done.out + done.err
    assert len(said) == 3
    assert not any("hunter2" in text for text in said)
