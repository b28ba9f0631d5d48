"""What each extra is for, used once in an installation that has this extra alone: python extras.py NAME, in an empty folder."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import sudare as sd

SUDARE = Path(sys.executable).with_name("sudare")
people = sd.datasets.health_survey(300).select("age", "sex", "diagnosis")
schema = sd.Schema.from_roles(quasi=["age", "sex"], sensitive=["diagnosis"], bounds={"age": (0, 120)})


def _published(engine: str) -> None:
    people.write_parquet("people.parquet")
    release = sd.generalize(sd.read("people.parquet", schema, engine=engine), sd.KAnonymity(5), "mondrian")
    release.write("out")
    assert sd.verify("out").holds


def _as_files() -> None:
    people.write_csv("people.csv")
    Path("sudare.toml").write_text(schema.to_toml(), encoding="utf-8")


def core() -> None:
    """What needs no extra; what it compiles serves the others, too."""
    _published("memory")


def duckdb() -> None:
    """An engine, and a database."""
    _published("duckdb")
    sd.generalize(sd.read(people, schema), sd.KAnonymity(5)).write(
        "both", to="duckdb:///people.duckdb?table=k5"
    )
    assert len(sd.read("duckdb:///people.duckdb?table=k5")) == 300


def spark() -> None:
    """An engine."""
    _published("spark")


def postgres() -> None:
    """A database; none runs here, so that it is asked for is all that can be seen."""
    said = subprocess.run(
        [SUDARE, "init", "postgresql://127.0.0.1:9/none?table=people", "--schema", "none.toml"],
        check=False,
        capture_output=True,
        text=True,
    )
    assert said.returncode == 2, said
    assert "refused" in said.stderr, said


def files() -> None:
    """Workbooks, and files of Stata and SPSS."""
    sd.generalize(sd.read(people, schema), sd.KAnonymity(5)).write(
        "out", formats=["xlsx", "ods", "dta", "sav"]
    )
    for ending in ("xlsx", "ods", "dta", "sav"):
        (file,) = Path("out").rglob(f"*.{ending}")
        assert len(sd.read(file)) == 300


def classifier() -> None:
    """How well models learn from what is published."""
    _as_files()
    command = [SUDARE, "generalize", "people.csv", "out", "-k", "5", "--predict", "diagnosis"]
    said = subprocess.run(command, check=True, capture_output=True, text=True)
    assert "diagnosis predicted right" in said.stdout, said


def sklearn() -> None:
    """Transformers."""
    from sudare.sklearn import Generalizer

    assert Generalizer(sd.KAnonymity(5), schema=schema).fit_transform(people).shape == (300, 3)


def plots() -> None:
    """Pictures of an assessment."""
    _as_files()
    subprocess.run(
        [SUDARE, "assess", "people.csv", "-k", "5", "--plots", "pictures"],
        check=True,
        stdout=subprocess.DEVNULL,
    )
    assert list(Path("pictures").glob("*.png"))


def studio() -> None:
    """The walk in a browser: its first page, which asks for nothing from elsewhere."""
    command = [SUDARE, "studio", "--no-browser", "--projects", "projects"]
    serving = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert serving.stdout is not None
    try:
        said = ""
        for line in serving.stdout:
            said += line
            if "Projects are in" in said:
                break
        (address,) = re.findall(r"http://127\.0\.0\.1:\d+/\?token=[\w-]+", said)  # on a line of its own
        page = _page(address)
        assert "<title>" in page
        assert not re.findall(r"(?:src|href)=\"https?://", page)
    finally:
        serving.terminate()
        serving.wait(30)


def _page(address: str) -> str:
    opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
    for _ in range(50):
        try:
            return str(opener.open(address).read().decode())
        except ConnectionError:
            time.sleep(0.2)
    raise AssertionError("the studio does not answer")


if __name__ == "__main__":
    assert importlib.util.find_spec("tests") is None
    assert "site-packages" in str(sd.__file__), f"this is not the installed package: {sd.__file__}"
    globals()[sys.argv[1]]()
