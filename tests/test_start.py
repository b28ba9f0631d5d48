"""`import sudare` and `sudare --version` wait for no library, and all names at the top are there all the same."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest

import sudare as sd

HEAVY = (
    "duckdb jinja2 narwhals numba numpy opendp pandas polars pooch psycopg pyarrow pydantic scipy scipy.sparse sklearn "
    "pyspark sqlglot torch"
).split()
SHOW = "import json, sys; print(json.dumps(sorted(sys.modules)), file=sys.stderr)"


def modules_after(code: str) -> set[str]:
    done = subprocess.run(
        [sys.executable, "-c", f"{code}\n{SHOW}"], capture_output=True, text=True, check=True
    )
    return set(json.loads(done.stderr))


def command(*arguments: str) -> str:
    return (
        f"import sys; sys.argv = ['sudare', *{list(arguments)!r}]\n"
        "from sudare.cli import main\n"
        "try: main()\n"
        "except SystemExit: pass"
    )


@pytest.mark.parametrize("code", ["import sudare", command("--version"), command("--help")])
def test_nothing_heavy_is_imported(code: str) -> None:
    assert not modules_after(code) & set(HEAVY)


def test_a_name_imports_what_it_needs_and_no_more() -> None:
    loaded = modules_after(
        "import sudare; sudare.KAnonymity, sudare.datasets.health_survey, sudare.read, sudare.assess"
    )
    assert "polars" in loaded
    assert not loaded & {
        "scipy.sparse",
        "scipy.optimize",
        "pooch",
        "sqlglot",
        "opendp",
        "duckdb",
        "psycopg",
        "sklearn",
    }


def test_python_finds_the_names_that_type_checkers_see() -> None:
    (block,) = [
        one for one in ast.parse(Path(sd.__file__).read_text("utf-8")).body if isinstance(one, ast.If)
    ]
    seen = {
        name.name: one.module for one in block.body if isinstance(one, ast.ImportFrom) for name in one.names
    }
    assert seen == sd._MODULE_OF
    assert set(sd.__all__) <= set(seen)
    for name, module in seen.items():
        if name in sd._NEW_NAMES:
            continue  # it warns
        assert getattr(sd, name) is getattr(sys.modules[str(module)], name)
    assert set(sd.__all__) <= set(dir(sd))


def test_helpers_of_papers_are_grouped_and_keep_their_old_names() -> None:
    for group, names in {
        sd.pram: ["conventional_pram", "optimal_pram", "invariant_pram"],
        sd.bounds: ["max_blocks", "min_block_distinct", "min_block_entropy"],
    }.items():
        assert set(names) <= set(group.__all__)
        for name in names:
            with pytest.warns(DeprecationWarning, match=f"sudare.{name} is called sudare"):
                assert getattr(sd, name) is getattr(group, name)
            assert name not in sd.__all__


def test_what_is_not_there_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'sudare' has no attribute 'anonymize'"):
        sd.anonymize  # noqa: B018
