"""Examples run as they stand, also cell by cell as notebooks, and what is public stays what it is called."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import sudare as sd

ROOT = Path(__file__).parent.parent
spec = importlib.util.spec_from_file_location("examples_notebooks", ROOT / "examples" / "notebooks.py")
assert spec is not None
assert spec.loader is not None
notebooks = importlib.util.module_from_spec(spec)
spec.loader.exec_module(notebooks)
EXAMPLES = notebooks.examples()


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda file: file.stem)
def test_examples_run_cell_by_cell(example: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As a notebook runs them; what a cell ends with is shown, and has a picture of its own."""
    monkeypatch.chdir(tmp_path)
    source = example.read_text(encoding="utf-8")
    made = notebooks.notebook(source)
    code = ["".join(cell["source"]) for cell in made["cells"] if cell["cell_type"] == "code"]
    assert "".join("".join(code).split()) == "".join(re.sub(r"^#.*$", "", source, flags=re.M).split()), (
        "a cell is lost"
    )
    names: dict[str, Any] = {"__name__": "__main__"}
    for cell in code:
        exec(compile(cell, example.name, "exec"), names)
        last = cell.splitlines()[-1]
        if last.isidentifier() or re.fullmatch(r"\w+\.\w+", last):
            assert eval(last, names)._repr_html_().startswith("<div>")


def test_every_example_is_listed() -> None:
    text = (ROOT / "examples" / "README.md").read_text(encoding="utf-8")
    listed = re.findall(r"^\| \[(\w+)\.py\]", text, re.M)
    assert sorted(listed) == [file.stem for file in EXAMPLES]


@pytest.mark.slow
def test_types_of_examples_are_right_for_users() -> None:
    files = [str(file) for file in [*EXAMPLES, ROOT / "examples" / "notebooks.py"]]
    done = subprocess.run(
        [sys.executable, "-m", "mypy", *files], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout


PUBLIC = """
    Assessment Attribute BetaLikeness BusyError Certificate Counts CsvFormat DeltaDisclosure DeltaPresence DifferentialPrivacy Hierarchy InputError Interest KAnonymity KMap LDiversity Ledger LedgerError
    MultiViewDiversity PView PViewDesign ParameterError PkAnonymity Plan Policy Randomizer Release RequirementError Role Schedule Schema SudareError
    TCloseness Table apply assess attack bounds combine datasets draw evidence generalize generalize_views materialize materialize_design methods pram publish
    publish_pview randomize read reconstruct run show_progress sql verify
"""


def test_public_names_stay() -> None:
    """A name that is taken away or added is told in CHANGELOG.md; one that is changed works for one more minor version, and warns."""
    assert sd.__all__ == PUBLIC.split()


def test_old_names_warn_every_time() -> None:
    for name, new in sd._NEW_NAMES.items():
        for _ in range(2):
            with pytest.warns(DeprecationWarning, match=f"sudare.{name} is called sudare.{new} now"):
                assert callable(getattr(sd, name))
