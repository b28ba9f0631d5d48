"""What is installed with Sudare is what Sudare imports."""

from __future__ import annotations

import ast
import re
import tomllib
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parent.parent
NOT_IMPORTED = {"dev", "docs"}
ARE_CALLED = {"scikit-learn": "sklearn", "resvg-py": "resvg_py", "python-calamine": "python_calamine"}
BEHIND = {"pyarrow": "duckdb's and polars' way of handing over tables"}


@cache
def imported() -> set[str]:
    """The top-level modules that the sources name in an import, or as a text that is imported."""
    modules: set[str] = set()
    for file in (ROOT / "src").rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.Import):
                modules |= {name.name.split(".")[0] for name in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                modules.add(node.module.split(".")[0])
            elif isinstance(node, ast.Call) and "import_module" in ast.unparse(node.func):
                modules |= {
                    one.value.split(".")[0] for one in ast.walk(node) if isinstance(one, ast.Constant)
                }
            elif isinstance(node, ast.Call) and "load_extra" in ast.unparse(node.func):
                modules |= {one.value.split(".")[0] for one in node.args if isinstance(one, ast.Constant)}
    return modules


def test_everything_that_is_installed_is_imported() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = {
        extra: names for extra, names in project["optional-dependencies"].items() if extra not in NOT_IMPORTED
    }
    wanted = [*project["dependencies"], *(name for names in extras.values() for name in names)]
    modules = {ARE_CALLED.get(name, name) for name in (re.split(r"[>\[;]", one)[0] for one in wanted)}
    assert modules - set(BEHIND) <= imported()
    assert "opendp" not in imported()
