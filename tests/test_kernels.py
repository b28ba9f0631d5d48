"""Compiling costs every user seconds: a kernel is compiled once, for one type and one layout of each array."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sudare.compiled
import sudare.kernels
import sudare.linked
from sudare.kernels import below, kernel, seeded, share, step

SHOW_FORMS = """
import sys
import numba
from sudare.warm_up import WALKS

ROOMS = (
    "tables", "engines", "privacy", "utility", "noise", "similarity", "plans", "attacks", "generalization", "pview",
    "randomization", "suitability", "ledger",
)
for name in sys.argv[1:] or WALKS:
    WALKS[name]()
for name, module in sorted(sys.modules.items()):
    if name.startswith(tuple(f"sudare.{room}." for room in ROOMS)):
        for kernel in vars(module).values():
            if isinstance(kernel, numba.core.dispatcher.Dispatcher) and kernel.py_func.__module__ == name:
                print(len(kernel.signatures), f"{name}.{kernel.py_func.__name__}")
"""

CALLED = (
    "attacks._kernels.mark_blocks attacks._kernels.add_records attacks._kernels.fit "
    "generalization._kernels._sweep generalization._improve._improve generalization._mondrian._mondrian generalization._refine._refine "
    "generalization._anneal._anneal generalization._reopen._reopen generalization._grow._grow generalization._grow._find_nearest "
    "generalization._cells._close generalization._fractional.best_blocks generalization._fractional._solve "
    "generalization._fractional._take_disjoint "
    "generalization._lattice.divide generalization._lattice.weigh "
    "generalization._views.cut_views generalization._paper_views.cut_views "
    "noise._categories.retain noise._categories.alias_tables noise._categories.exchange "
    "noise._chacha.fill_words noise._chacha.fill_below noise._chacha.tap "
    "noise._exponential.fill_laplace noise._exponential.fill_gaussian noise._exponential.choose noise._exponential.permute_and_flip "
    "pview._boxes.arrange pview._boxes.bounds pview._boxes.count pview._boxes.weigh pview._boxes.spread pview._boxes.put "
    "pview._boxes.errors pview._mondrian.grow pview._dawa.interval_errors pview._dawa.cheapest "
    "pview._pairs.weigh_pairs pview._pairs.rake pview._pairs.draw_given "
    "plans._cuts.routed "
    "privacy._kernels.block_meets privacy._kernels.entropies privacy._kernels.recursive_ls "
    "privacy._kernels.distances privacy._kernels.largest_windows "
    "privacy._views.block_sets privacy._views.keep_common privacy._views.weigh "
    "randomization._spread._largest similarity._kernels.bundle similarity._kernels.search "
    "suitability._tolls.lower_prices suitability._tolls.add_pulls suitability._tolls.adjust suitability._search.search "
    "tables._kernels.scan_csv tables._kernels.plain_csv tables._kernels.count_dense tables._kernels.unpack"
).split()
IN_THREE_WIDTHS = [f"sudare.similarity._kernels.{name}" for name in ("bundle", "search")]
"""Kernels that count in the narrowest numbers that suffice."""


def compiled(*walks: str) -> dict[str, int]:
    """Return how many forms of each kernel some walks need, or all, in a process that did nothing else."""
    command = [sys.executable, "-c", SHOW_FORMS, *walks]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return {name: int(forms) for forms, name in (line.split() for line in done.stdout.splitlines())}


@pytest.fixture(scope="module")
def by_all_walks() -> dict[str, int]:
    """How many forms of each kernel a walk through all rooms needs."""
    return compiled()


def test_each_kernel_of_a_walk_has_one_form() -> None:
    forms = compiled("randomize")
    assert forms["sudare.noise._categories.retain"] == 1
    assert max(forms.values()) == 1


@pytest.mark.slow
def test_each_kernel_has_one_form(by_all_walks: dict[str, int]) -> None:
    several = {name: forms for name, forms in by_all_walks.items() if forms > 1}
    assert several == dict.fromkeys(IN_THREE_WIDTHS, 3)


@pytest.mark.slow
def test_the_walk_passes_through_the_kernels(by_all_walks: dict[str, int]) -> None:
    """What it never comes by could not fail. (Kernels that only kernels call are not loaded if those were compiled before.)"""
    assert [name for name in CALLED if not by_all_walks[f"sudare.{name}"]] == []


STEP = "from sudare.kernels import step\n\n@step\ndef answer():\n    return {}\n"
CALLER = "from sudare.a_step import answer\nfrom sudare.kernels import kernel\n\n@kernel\ndef ask():\n    return answer()\n"
ASK = "from sudare.a_kernel import ask; print(ask(), sum(ask.stats.cache_hits.values()))"


@pytest.fixture
def ask(tmp_path: Path) -> Callable[..., str]:
    """A package of one kernel and one step, whose answer is given: what a process gets, and how often it found it compiled."""
    package = tmp_path / "sudare"
    package.mkdir()
    for module in (sudare.compiled, sudare.kernels, sudare.linked):
        shutil.copy(module.__file__, package)
    (package / "__init__.py").touch()
    (package / "a_kernel.py").write_text(CALLER)

    def answered(answer: int, **environment: str) -> str:
        (package / "a_step.py").write_text(STEP.format(answer))
        command = [sys.executable, "-B", "-c", ASK]
        return subprocess.check_output(command, cwd=tmp_path, env=os.environ | environment, text=True).strip()

    return answered


def test_what_was_compiled_is_used_until_a_step_of_another_file_changes(
    ask: Callable[..., str], tmp_path: Path
) -> None:
    """Also what was compiled at the installation, by those who may not write there."""
    elsewhere = {"NUMBA_CACHE_DIR": str(tmp_path / "elsewhere")}
    assert [ask(1), ask(1, **elsewhere), ask(2, **elsewhere), ask(2, **elsewhere)] == [
        "1 0",
        "1 1",
        "2 0",
        "2 1",
    ]


def test_a_user_without_a_home_takes_what_was_installed_and_else_compiles_for_itself(
    ask: Callable[..., str], tmp_path: Path
) -> None:
    """As in a container that runs under a number which it does not know: nothing can be written, neither there nor at home."""
    ask(1)
    assert ask(1, NUMBA_CACHE_LOCATOR_CLASSES="sudare.compiled._Anywhere") == "1 1"
    installed = tmp_path / "sudare" / "__pycache__"
    shutil.rmtree(installed)
    installed.touch()  # where a file lies, not even root makes a folder
    assert ask(1, HOME=str(installed), XDG_CACHE_HOME=str(installed)) == "1 0"


@step
def twice(x: int) -> int:  # pragma: no cover
    return 2 * x


@step
def four_times(x: int) -> int:  # pragma: no cover
    return twice(twice(x))


@kernel
def eight_times(x: int) -> int:  # pragma: no cover
    return twice(four_times(x))


def test_only_kernels_become_machine_code() -> None:
    """A step is a part of each kernel that calls it, also by way of other steps."""
    eight_times._cache.disable()  # type: ignore[attr-defined]
    assert [eight_times(x) for x in (0, 1, -3)] == [0, 8, -24]
    ready = {}
    for function in (twice, four_times, eight_times):
        (form,) = function.overloads.values()  # type: ignore[attr-defined]
        ready[function] = form.library._codegen._engine.is_symbol_defined(form.fndesc.llvm_func_name)
    assert ready == {twice: False, four_times: False, eight_times: True}


@kernel
def draw(
    state: np.ndarray[Any, Any], numbers: np.ndarray[Any, Any], shares: np.ndarray[Any, Any]
) -> None:  # pragma: no cover
    for i in range(numbers.size):
        numbers[i], shares[i] = below(6, state), share(state)


def test_numbers_drawn_for_searches_are_even_and_the_same_for_a_seed() -> None:
    numbers, shares = np.empty((3, 60_000), dtype=np.int64), np.empty((3, 60_000))
    for i, seed in enumerate((0, 0, 1)):
        draw(seeded(seed), numbers[i], shares[i])
        assert (abs(np.bincount(numbers[i], minlength=6) - 10_000) < 500).all()  # five deviations
        assert (abs(np.histogram(shares[i], 6, (0, 1))[0] - 10_000) < 500).all()
    assert (numbers[0] == numbers[1]).all()
    assert (numbers[0] != numbers[2]).any()
    assert shares.min() > 0
    assert shares.max() < 1
