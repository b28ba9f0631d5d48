"""Names and values of columns are text, whatever they try to be: on every page, in every script, command and question."""

from __future__ import annotations

import ast
import html
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.studio.conftest import HOSTILE, PAGES, Visitor, elements, hostile_table

SCRIPTS = {"script@src", "script@defer"}


@pytest.fixture(scope="module")
def attacked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Visitor]:
    """A visitor who has walked with a hostile table."""
    folder = tmp_path_factory.mktemp("hostile")
    path = folder / "<b>'\"$(id).csv"
    hostile_table().write_csv(path)
    one = Visitor(folder / "home")
    one.open(path)
    names = list(one.project.schema().attributes)
    one.roles(
        **dict.fromkeys(names[:2], "quasi") | {names[2]: "sensitive", names[3]: "other", "age": "quasi"}
    )
    one.post("explore", {"way": "generalize", "with-k": "1", "k": "3"})
    one.wait()
    one.post("choose", {"way": "generalize", "with-k": "1", "k": "3", "method": "mondrian"})
    one.wait()
    one.post("preview", {"with-k": "1", "k": "4"})
    for action, fields in {
        "sets": {},
        "population": {"share": "10", "population": str(path)},
        "together": {"first": names[0], "second": names[1]},
    }.items():
        one.post(action, fields)
        assert one.wait()["state"] == "done", one.get("run").text
    one.post("write", {"folder": str(folder / "<i>out"), "ledger": "1", "receiver": "<u>evil</u>"})
    one.wait()
    yield one
    one.end()


def test_the_walk_was_walked(attacked: Visitor) -> None:
    assert attacked.project.facts.releases, attacked.get("job").text
    assert {"sets", "lattice", "population", "together"} <= set(attacked.project.facts.results)
    assert "Two columns together" in attacked.get("run").text


@pytest.mark.parametrize("path", ["/", "/ledger", *PAGES, "column/0", "column/2"])
def test_pages_have_no_element_of_the_table(attacked: Visitor, path: str) -> None:
    page = attacked.get(path)
    found = set(elements(page.text))
    assert page.status_code == 200
    assert not found & {"img", "b@onclick", "i", "u"}, found
    assert not {one for one in found if "@on" in one or "@style" in one or "=" in one}
    assert {one for one in found if one.startswith("script@")} <= SCRIPTS
    assert "<script>" not in page.text


def test_code_holds_names_as_text(attacked: Visitor) -> None:
    tree = ast.parse(attacked.get("script").text)
    called = {ast.unparse(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    assert {name.split(".")[0] for name in called} <= {
        "sd",
        "release",
        "schema",
        "print",
        "attack_each",
        "column_sets",
        "sets",
    }
    for line in attacked.get("code").text.split('<pre tabindex="0">sudare')[1:]:
        words = shlex.split("sudare" + html.unescape(line.split("</pre>")[0]))
        assert words[0] == "sudare"


@pytest.mark.parametrize("value", HOSTILE)
def test_values_in_forms_are_refused_or_text(attacked: Visitor, value: str) -> None:
    for path, fields in {
        "preview": {"with-k": "1", "k": value, "with-l": "1", "attribute": value, "diversity": value},
        "choose": {"way": "generalize", "method": value, "with-k": "1", "k": "3"},
        "explore": {"way": "generalize", "with-k": "1", "k": "3", "levels": value},
        "lattice": {"node": value},
        "draw": {"part": value},
        "sets": {"columns": value},
        "/open": {"path": value},
        "/ledger/budget": {"source": value, "epsilon": value},
        "/ledger/apart": {"receivers": f"{value},{value}"},
        "/language": {"language": value, "back": value},
    }.items():
        answer = attacked.post(path, fields)
        assert answer.status_code in (200, 422), (path, answer.status_code)
        found = set(elements(answer.text))
        assert not found & {"img"}
        assert not {one for one in found if "@on" in one}


def test_uploads_stay_in_their_folder(visitor: Visitor, survey: Path) -> None:
    sent = {"origin": "http://127.0.0.1:1", "x-name": "..%2F..%2F..%2Fetc%2Fpasswd%00.csv"}
    answer = visitor.client.post("/upload", content=survey.read_bytes(), headers=sent)
    visitor.id = answer.json()["to"].split("/")[2]
    visitor.wait()
    (file,) = (visitor.project.folder / "upload").iterdir()
    assert file.stat().st_mode & 0o777 == 0o600
    assert file.parent.stat().st_mode & 0o777 == 0o700
    assert visitor.get("roles").status_code == 200
