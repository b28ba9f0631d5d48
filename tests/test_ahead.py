"""A kernel is compiled by one process at a time, and a second process compiles ahead what a first release needs last."""

from __future__ import annotations

import gc
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from numba.core.errors import TypingError
from numba.core.registry import CPUDispatcher

from sudare import ahead, compiled, threads
from sudare.compiled import Kernel

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="files are not locked there")

SOURCE = "from sudare.kernels import kernel\n\n@kernel\ndef ask(x):\n    return 3 * x\n"
ASK = """
import sys
from a_kernel import ask
print(ask._cache._cache_file._index_path, flush=True)
sys.stdin.readline()
print(ask(2), sum(ask.stats.cache_hits.values()), flush=True)
"""
FOUND, COMPILED = "6 1", "6 0"


class Process:
    """A process that asks a kernel when it is told to."""

    def __init__(self, folder: Path) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", ASK], cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._say, self._hear = self._process.stdin, self._process.stdout
        self.index = Path(self._hear.readline().strip())

    def asks(self) -> None:
        print(file=self._say, flush=True)

    def hears(self) -> str:
        return self._hear.readline().strip()

    def end(self) -> None:
        self._process.kill()
        self._process.communicate()


@pytest.fixture
def process(tmp_path: Path) -> Iterator[Callable[[], Process]]:
    """Processes that share a kernel which nobody has compiled."""
    (tmp_path / "a_kernel.py").write_text(SOURCE)
    begun: list[Process] = []

    def begin() -> Process:
        begun.append(Process(tmp_path))
        return begun[-1]

    yield begin
    for one in begun:
        one.end()


def test_of_processes_that_begin_together_one_compiles(process: Callable[[], Process]) -> None:
    together = [process() for _ in range(3)]
    for one in together:
        one.asks()
    assert sorted(one.hears() for one in together) == [COMPILED, FOUND, FOUND]
    assert {file.suffix for file in together[0].index.parent.glob("a_kernel.ask*")} == {".nbi", ".nbc"}


def test_who_waits_for_one_that_has_failed_compiles_by_itself(process: Callable[[], Process]) -> None:
    import fcntl

    waits = process()
    with waits.index.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        waits.asks()
        time.sleep(0.3)
        assert not waits.index.exists()
    assert waits.hears() == COMPILED


def test_a_file_that_a_killed_process_left_keeps_nobody_waiting(process: Callable[[], Process]) -> None:
    first = process()
    first.index.with_suffix(".lock").touch()
    first.asks()
    assert first.hears() == COMPILED


@pytest.fixture
def own(tmp_path: Path) -> Kernel:
    """A kernel of this process, which nobody has compiled."""
    (tmp_path / "another.py").write_text(SOURCE.replace("3 * x", "x.real"))
    names: dict[str, Any] = {"__name__": "another"}
    exec(compile((tmp_path / "another.py").read_text(), str(tmp_path / "another.py"), "exec"), names)
    made: Kernel = names["ask"]
    return made


def test_a_stopped_process_is_not_waited_for_for_ever(own: Kernel, monkeypatch: pytest.MonkeyPatch) -> None:
    import fcntl

    monkeypatch.setattr(compiled, "PATIENCE", 0.05)
    with Path(own._cache._cache_file._index_path).with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert own(2) == 2
    assert own.is_ready()


def test_where_no_file_can_be_locked_it_compiles_all_the_same(
    own: Kernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    import fcntl

    def refuse(_file: int, _how: int) -> None:
        raise OSError("No locks available")

    monkeypatch.setattr(fcntl, "flock", refuse)
    assert own(2) == 2
    assert own._cache.is_kept()


def test_a_failure_keeps_no_turn_and_garbage_is_looked_for_again(own: Kernel) -> None:
    with pytest.raises(TypingError):
        own("text")
    assert gc.isenabled()
    assert not list(Path(own._cache._cache_path).glob("*.lock"))
    assert own(2) == 2
    assert gc.isenabled()


def test_garbage_stays_unlooked_for_where_it_was(own: Kernel) -> None:
    gc.disable()
    try:
        assert own(2) == 2
        assert not gc.isenabled()
    finally:
        gc.enable()


def nothing() -> None:
    pass


def pages_taken(depth: int) -> int:
    """How many pages of memory the system hands out to a loop so deep, which needs none."""
    import resource

    if depth:
        return pages_taken(depth - 1)
    before = resource.getrusage(resource.RUSAGE_THREAD).ru_minflt
    for _ in range(1_000):
        nothing()
    return resource.getrusage(resource.RUSAGE_THREAD).ru_minflt - before


@pytest.mark.skipif(sys.platform != "linux", reason="pages are counted otherwise, or not at all")
def test_no_loop_of_the_compiler_stands_at_the_end_of_its_room(
    own: Kernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Python gives calls their room in pieces of some hundred calls: where one ends, a loop would take a page in every turn."""
    taken: list[int] = []

    def compile_deep(_kernel: Kernel, _types: object) -> None:
        taken.extend(pages_taken(depth) for depth in range(400))

    monkeypatch.setattr(CPUDispatcher, "compile", compile_deep)
    own.compile("int64(int64)")
    assert len(taken) == 400
    assert max(taken) < 500


def test_what_was_kept_half_is_not_taken(own: Kernel, monkeypatch: pytest.MonkeyPatch) -> None:
    """Machine code of an old version may still lie there under the same name: nothing names it before it is new."""

    def end(_self: object, _index: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(compiled._Kept, "_save_index", end)
        with pytest.raises(KeyboardInterrupt):
            own(2)
    assert list(Path(own._cache._cache_path).glob("*.nbc"))
    assert not own._cache.is_kept()


# -- Ahead -----------------------------------------------------------------------------------------


@pytest.fixture
def begun(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """The walks that were begun; no process is."""
    walks: list[str] = []

    class Begun:
        stdin = None

        def __init__(self, command: list[str], **_: object) -> None:
            walks.append(command[-1])

        stdin = None

        def wait(self) -> None:
            pass

    monkeypatch.setattr(subprocess, "Popen", Begun)
    monkeypatch.setattr(threads, "CORES", 2)
    ahead._begin.cache_clear()
    yield walks
    ahead._begin.cache_clear()


def test_one_process_begins_while_nothing_is_compiled(own: Kernel, begun: list[str]) -> None:
    ahead.compile_ahead("refine", own)
    ahead.compile_ahead("refine", own)
    assert begun == ["refine"]


def test_none_begins_where_all_is_compiled(own: Kernel, begun: list[str]) -> None:
    own(2)
    ahead.compile_ahead("refine", own)
    assert begun == []


def test_none_begins_on_one_core(own: Kernel, begun: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "CORES", 1)
    ahead.compile_ahead("refine", own)
    assert begun == []


@pytest.mark.parametrize("program", ["", None, "/opt/frozen/app"])
def test_none_begins_where_the_program_is_not_python(
    program: str | None, own: Kernel, begun: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", program)
    ahead.compile_ahead("refine", own)
    assert begun == []


def test_where_no_process_can_begin_nothing_fails(
    own: Kernel, begun: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise BlockingIOError("Resource temporarily unavailable")

    monkeypatch.setattr(subprocess, "Popen", refuse)
    ahead.compile_ahead("refine", own)
    assert begun == []


def test_it_ends_with_the_process_that_began_it() -> None:
    long = "import time; from sudare import warm_up; warm_up.WALKS['long'] = lambda: time.sleep(600); "
    caller = f"import sys; from sudare import ahead; ahead.WALK = {long!r} + ahead.WALK; "
    caller += "Popen = ahead.subprocess.Popen; ahead.subprocess.Popen = lambda *a, **b: began.append(Popen(*a, **b)) or began[-1]; "
    caller += "began = []; ahead._begin('long'); print(began[0].pid, flush=True); sys.stdin.read()"
    process = subprocess.Popen(
        [sys.executable, "-c", caller], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    other = Path("/proc", process.stdout.readline().strip())
    assert other.exists()
    process.kill()
    process.communicate()
    while other.exists():
        time.sleep(0.05)


def test_what_holds_the_other_process_is_let_go_of_when_that_has_ended() -> None:
    process = subprocess.Popen([sys.executable, "-c", ""], stdin=subprocess.PIPE)
    ahead._attend(process)
    assert process.returncode == 0
    assert process.stdin is not None
    assert process.stdin.closed


@pytest.mark.parametrize("damage", ["index", "machine code"])
@pytest.mark.parametrize("left", [0, 30])
def test_what_is_damaged_is_compiled_again(damage: str, left: int, tmp_path: Path) -> None:
    kept = compiled._Kept(str(tmp_path), "one", b"stamp")
    kept.save(("key",), {"some": "code"})
    assert kept.load(("key",)) == {"some": "code"}
    for path in tmp_path.glob("*.nbi" if damage == "index" else "*.nbc"):
        path.write_bytes(path.read_bytes()[:left] if left < path.stat().st_size else b"")
    assert kept.load(("key",)) is None
    kept.save(("key",), {"some": "code"})
    assert kept.load(("key",)) == {"some": "code"}


def test_machine_code_for_other_types_never_takes_the_name_of_another_one(tmp_path: Path) -> None:
    one, other = (compiled._Kept(str(tmp_path), "one", b"stamp") for _ in range(2))
    one.save(("int",), "for int")
    index = {**one._load_index()}
    other._load_index = dict  # type: ignore[method-assign]  # as it was before the first one had saved
    other.save(("float",), "for float")
    one._save_index(index)  # what the first one does last, if they save at a time
    assert one.load(("int",)) == "for int"


@pytest.mark.slow
def test_what_a_first_release_needs_last_is_compiled_ahead(tmp_path: Path) -> None:
    """In a copy of the package where nothing is compiled, the walk compiles what refining needs, and a release finds it."""
    import shutil

    import sudare

    package = Path(sudare.__file__).parent
    shutil.copytree(package, tmp_path / "sudare", ignore=shutil.ignore_patterns("__pycache__"))

    def run(code: str) -> str:
        command = [sys.executable, "-c", code]
        return subprocess.check_output(command, cwd=tmp_path, text=True, stdin=subprocess.DEVNULL)

    run("from sudare import warm_up; warm_up.WALKS['refine']()")
    release = "import sudare as sd; from sudare.generalization import _refine, _mondrian\n"
    release += "people = sd.read(sd.datasets.health_survey(300), 'sudare/datasets/survey.toml')\n"
    release += "sd.generalize(people, [sd.KAnonymity(5), sd.LDiversity(2, attribute='diagnosis')])\n"
    release += (
        "print([sum(one.stats.cache_misses.values()) for one in (_refine._refine, _mondrian._mondrian)])"
    )
    assert run(release).strip() == "[0, 0]"
