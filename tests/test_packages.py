"""What is handed to users as a package: it has all that it needs, and nothing beside; the pages about it name files that exist."""

from __future__ import annotations

import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

import sudare as sd

ROOT = Path(__file__).parent.parent


@pytest.mark.slow
def test_a_wheel_installed_alone_runs_the_demo() -> None:
    """Built from the sdist, and installed into a clean environment away from the checkout."""
    done = subprocess.run(
        [ROOT / ".ci" / "package", sys.executable], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "the smoke test and the demo run" in done.stdout
    (wheel,) = (ROOT / "dist").glob(f"sudare-{sd.__version__}-*.whl")
    inside = zipfile.ZipFile(wheel).namelist()
    assert {name.split("/")[0] for name in inside} == {"sudare", f"sudare-{sd.__version__}.dist-info"}
    own = {
        str(file.relative_to(ROOT / "src"))
        for file in (ROOT / "src").rglob("*")
        if file.suffix in (".py", ".jinja", ".typed")
    }
    assert own <= set(inside)
    with tarfile.open(next((ROOT / "dist").glob(f"sudare-{sd.__version__}.tar.gz"))) as sdist:
        folders = {name.split("/")[1] for name in sdist.getnames() if "/" in name}
    assert {"src", "README.md", "LICENSE", "pyproject.toml"} <= folders
    assert not folders & {".venv", "dist", "demo-output"}


def test_an_image_is_built_from_files_that_exist() -> None:
    """No image can be built where the tests run; what it copies and installs can be looked up."""
    text = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    copied = [name for line in re.findall(r"^COPY (?!--)(.*) \S+$", text, re.M) for name in line.split()]
    assert copied
    assert all((ROOT / name).exists() for name in copied)
    allowed = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    assert set(copied) == allowed
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    (extras,) = re.findall(r"'\.\[([\w,]+)\]'", text)
    assert set(extras.split(",")) <= set(project["optional-dependencies"])


def test_the_page_for_contributors_names_files_that_exist() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    named = [name for name in re.findall(r"`((?:src|tests|\.ci)/[\w./-]+)`", text) if "NAME" not in name]
    assert len(named) > 10
    for name in named:
        assert (ROOT / name).exists(), name
    for name in re.findall(r"`((?:engines|generalization|plans|privacy|pview|reports)/[\w./-]+)`", text):
        assert "NAME" in name or (ROOT / "src" / "sudare" / name).exists(), name


def test_versions_agree() -> None:
    assert f"## {sd.__version__}" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert f"\nversion: {sd.__version__}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")
