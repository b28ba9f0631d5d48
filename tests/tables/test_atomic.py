from __future__ import annotations

import ctypes
import errno
import itertools
import json
import os
import shutil
import stat
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from sudare.errors import InputError, ParameterError
from sudare.tables import atomic
from sudare.tables.atomic import write_folder
from tests.release.killing import die_at, forker, survives

OLD = {"certificate.json": "old", "gone.csv": "old rows"}
NEW = {"certificate.json": "new", "rows.csv": "new rows", "report.html": "new report"}

Files = dict[str, Callable[[Path], None]]


def writers(texts: dict[str, str]) -> Files:
    return {name: lambda path, text=text: path.write_text(text) for name, text in texts.items()}  # type: ignore[misc]


def content(folder: Path) -> dict[str, str] | None:
    return {path.name: path.read_text() for path in folder.iterdir()} if folder.exists() else None


def names(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


def put(folder: Path, texts: dict[str, str]) -> None:
    folder.mkdir()
    for name, text in texts.items():
        (folder / name).write_text(text)


def never(path: Path) -> None:
    raise AssertionError("what is refused must be refused before the work")


def meanwhile(happens: Callable[[], object]) -> Files:
    """A writer during whose work something happens elsewhere."""

    def write(path: Path) -> None:
        path.touch()
        happens()

    return {"last": write}


def refuse_flags(old: Path, new: Path, flag: object) -> bool:
    """Stands in for `_rename` on a system that has no such call."""
    return False


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "release"


@pytest.fixture(params=["flags", "no flags"])
def each_system(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run the test on this system, and as on one that has only plain renames."""
    if request.param == "no flags":
        monkeypatch.setattr(atomic, "_rename", refuse_flags)


@pytest.mark.usefixtures("each_system")
class TestWhole:
    def test_new_folder(self, folder: Path) -> None:
        write_folder(folder, writers(NEW))
        assert content(folder) == NEW
        assert names(folder.parent) == ["release"]

    def test_folders_in_it_and_a_private_one(self, folder: Path) -> None:
        texts = {"out/certificate.json": "new", "keep/report.html": "private"}
        for force in (False, True):
            write_folder(folder, writers(texts), mark="out/certificate.json", private=["keep"], force=force)
            assert {f"{path.parent.name}/{path.name}" for path in folder.glob("*/*")} == set(texts)
            modes = [stat.S_IMODE((folder / name).stat().st_mode) for name in ("keep", "keep/report.html")]
            assert modes == [0o700, 0o600]
            assert stat.S_IMODE((folder / "out/certificate.json").stat().st_mode) & 0o044

    @pytest.mark.parametrize("force", [False, True])
    def test_missing_parents_are_created(self, tmp_path: Path, force: bool) -> None:
        write_folder(tmp_path / "a" / "b" / "release", writers(NEW), force=force)
        assert content(tmp_path / "a" / "b" / "release") == NEW

    def test_force_replaces_the_whole_old_folder(self, folder: Path) -> None:
        put(folder, OLD)
        write_folder(folder, writers(NEW), force=True)
        assert content(folder) == NEW
        assert names(folder.parent) == ["release"]

    def test_force_follows_a_link_to_the_folder(self, tmp_path: Path) -> None:
        put(tmp_path / "real", OLD)
        (tmp_path / "link").symlink_to(tmp_path / "real")
        write_folder(tmp_path / "link", writers(NEW), force=True)
        assert (tmp_path / "link").is_symlink()
        assert content(tmp_path / "real") == NEW

    def test_relative_folder_whose_writer_changes_directory(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (tmp_path / "elsewhere").mkdir()
        monkeypatch.chdir(tmp_path)
        write_folder(Path("release"), meanwhile(lambda: os.chdir("elsewhere")) | writers(NEW))
        assert content(tmp_path / "release") == {"last": "", **NEW}


@pytest.mark.usefixtures("each_system")
class TestNotAtAll:
    @pytest.mark.parametrize("old", [None, OLD])
    @pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
    def test_failing_writer(
        self, folder: Path, old: dict[str, str] | None, error: type[BaseException]
    ) -> None:
        if old:
            put(folder, old)

        def fail(path: Path) -> None:
            path.write_text("half")
            raise error

        with pytest.raises(error):
            write_folder(folder, writers(NEW) | {"last": fail}, force=True)
        assert content(folder) == old
        assert names(folder.parent) == (["release"] if old else [])

    def test_writer_that_writes_nothing(self, folder: Path) -> None:
        with pytest.raises(FileNotFoundError, match="forgotten"):
            write_folder(folder, writers(NEW) | {"forgotten": lambda path: None})
        assert names(folder.parent) == []

    @pytest.mark.parametrize("old", [OLD, {}])
    def test_existing_folder(self, folder: Path, old: dict[str, str]) -> None:
        put(folder, old)
        with pytest.raises(InputError, match=r"release exists already.*Nothing was written.*--force"):
            write_folder(folder, {"never": never})
        assert content(folder) == old

    def test_existing_file(self, folder: Path) -> None:
        folder.write_text("mine")
        with pytest.raises(InputError, match="exists already"):
            write_folder(folder, {"never": never})
        assert folder.read_text() == "mine"

    @pytest.mark.parametrize("old", [{"diary.txt": "mine"}, {}])
    def test_force_on_a_folder_that_is_not_ours(self, folder: Path, old: dict[str, str]) -> None:
        put(folder, old)
        with pytest.raises(InputError, match=r"folder without certificate\.json.*Nothing was written"):
            write_folder(folder, {"never": never}, force=True)
        assert content(folder) == old

    def test_force_on_a_folder_with_a_folder_of_that_name(self, folder: Path) -> None:
        (folder / "certificate.json").mkdir(parents=True)
        with pytest.raises(InputError, match=r"folder without certificate\.json"):
            write_folder(folder, {"never": never}, force=True)

    def test_force_on_a_file(self, folder: Path) -> None:
        folder.write_text("mine")
        with pytest.raises(InputError, match="is not a folder"):
            write_folder(folder, {"never": never}, force=True)
        assert folder.read_text() == "mine"

    @pytest.mark.parametrize("name", ["", ".", "..", "../x", "a/../b", "a/b/c", "a/", "/x"])
    def test_names_that_are_not_plain(self, folder: Path, name: str) -> None:
        with pytest.raises(ParameterError, match="plain file name"):
            write_folder(folder, writers({name: "text"}))
        assert not folder.exists()

    def test_parent_is_a_file(self, tmp_path: Path) -> None:
        (tmp_path / "file").write_text("mine")
        with pytest.raises(InputError, match=r"Cannot write .*file.*Nothing was written"):
            write_folder(tmp_path / "file" / "release", {"never": never})


@pytest.mark.usefixtures("each_system")
class TestRaces:
    @pytest.mark.parametrize("texts", [OLD, {}])
    def test_target_appears_while_writing(self, folder: Path, texts: dict[str, str]) -> None:
        with pytest.raises(InputError, match="exists already"):
            write_folder(folder, writers(NEW) | meanwhile(lambda: put(folder, texts)))
        assert content(folder) == texts
        assert names(folder.parent) == ["release"]

    def test_forced_target_becomes_a_stranger_while_writing(self, folder: Path) -> None:
        put(folder, OLD)
        loses_its_mark = meanwhile((folder / "certificate.json").unlink)
        with pytest.raises(InputError, match="folder without"):
            write_folder(folder, writers(NEW) | loses_its_mark, force=True)
        assert content(folder) == {"gone.csv": "old rows"}

    def test_forced_target_disappears_while_writing(self, folder: Path) -> None:
        put(folder, OLD)
        leaves = meanwhile(lambda: folder.rename(folder.parent / "away"))
        write_folder(folder, writers(NEW) | leaves, force=True)
        assert content(folder) == {"last": "", **NEW}
        assert content(folder.parent / "away") == OLD

    @pytest.mark.parametrize("force", [False, True])
    def test_target_appears_after_the_last_look(
        self, folder: Path, monkeypatch: pytest.MonkeyPatch, force: bool
    ) -> None:
        rename = atomic._rename

        def late(old: Path, new: Path, flag: dict[str, int]) -> bool:
            put(folder, OLD)
            return rename(old, new, flag)

        monkeypatch.setattr(atomic, "_rename", late)
        with pytest.raises(InputError, match="exists already"):
            write_folder(folder, writers(NEW), force=force)
        assert content(folder) == OLD
        assert names(folder.parent) == ["release"]


@pytest.mark.skipif(sys.platform not in atomic._CALL, reason="this system has no rename with flags")
def test_empty_folder_that_appears_after_the_last_look(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rename = atomic._rename

    def late(old: Path, new: Path, flag: dict[str, int]) -> bool:
        folder.mkdir()
        return rename(old, new, flag)

    monkeypatch.setattr(atomic, "_rename", late)
    with pytest.raises(InputError, match="exists already"):
        write_folder(folder, writers(NEW))
    assert content(folder) == {}


@pytest.mark.skipif(sys.platform not in atomic._CALL, reason="this system has no rename with flags")
def test_this_system_exchanges(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Else the tests of killed runs below would only see the way around.
    monkeypatch.setattr(Path, "rename", lambda *_: pytest.fail("not one step"))
    put(folder, OLD)
    write_folder(folder, writers(NEW), force=True)
    assert content(folder) == NEW


@pytest.mark.parametrize("code", [errno.ENOSYS, errno.EINVAL, errno.ENOTSUP])
def test_only_a_missing_call_is_worked_around(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(ctypes, "CDLL", lambda *_, **__: type("C", (), {"renameat2": lambda *_: -1}))
    monkeypatch.setattr(ctypes, "get_errno", lambda: code)
    assert not atomic._rename(tmp_path / "a", tmp_path / "b", atomic._EXCHANGE)
    monkeypatch.setattr(ctypes, "get_errno", lambda: errno.EACCES)
    with pytest.raises(PermissionError):
        atomic._rename(tmp_path / "a", tmp_path / "b", atomic._EXCHANGE)


@pytest.mark.parametrize("platform", ["win32", "linux"])
def test_system_or_library_without_the_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, platform: str
) -> None:
    monkeypatch.setattr(sys, "platform", platform)
    monkeypatch.setattr(ctypes, "CDLL", lambda *_, **__: object())
    assert not atomic._rename(tmp_path / "a", tmp_path / "b", atomic._EXCHANGE)


def test_other_failures_of_the_rename_are_told_as_they_are(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(old: Path, new: Path, flag: object) -> bool:
        raise PermissionError("no")

    monkeypatch.setattr(atomic, "_rename", refused)
    with pytest.raises(PermissionError, match="no"):
        write_folder(folder, writers(NEW))
    assert names(folder.parent) == []


def test_old_folder_comes_back_when_the_second_rename_fails(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rename = Path.rename

    def second_fails(self: Path, target: Path) -> Path:
        if ".partial-" in self.name:
            raise PermissionError("no")
        return rename(self, target)

    put(folder, OLD)
    monkeypatch.setattr(atomic, "_rename", refuse_flags)
    monkeypatch.setattr(Path, "rename", second_fails)
    with pytest.raises(PermissionError):
        write_folder(folder, writers(NEW), force=True)
    assert content(folder) == OLD
    assert names(folder.parent) == ["release"]


def test_what_cannot_be_removed_is_named(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(folder, OLD)
    monkeypatch.setattr(shutil, "rmtree", lambda *_, **__: None)
    with pytest.warns(UserWarning, match=r"Could not remove .*\.release\.partial-"):
        write_folder(folder, writers(NEW), force=True)
    assert content(folder) == NEW


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="needs /proc to tell what is synced")
@pytest.mark.parametrize("force", [False, True])
def test_all_is_durable_before_it_has_the_name_and_before_the_old_goes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, force: bool
) -> None:
    steps: list[str] = []
    sync, rename, remove = os.fsync, atomic._rename, shutil.rmtree

    def note_sync(descriptor: int) -> None:
        path = Path(f"/proc/self/fd/{descriptor}").readlink()
        steps.append("sync partial" if ".partial-" in path.name else f"sync {path.name}")
        sync(descriptor)

    def note_rename(old: Path, new: Path, flag: dict[str, int]) -> bool:
        steps.append("rename")
        return rename(old, new, flag)

    def note_remove(path: Path, *, ignore_errors: bool) -> None:
        steps.append("remove")
        remove(path, ignore_errors=ignore_errors)

    parent = tmp_path / "a" / "b"
    if force:
        parent.mkdir(parents=True)
        put(parent / "release", OLD)
    monkeypatch.setattr(os, "fsync", note_sync)
    monkeypatch.setattr(atomic, "_rename", note_rename)
    monkeypatch.setattr(shutil, "rmtree", note_remove)
    write_folder(parent / "release", writers(NEW), force=force)

    made = [] if force else ["sync a", f"sync {tmp_path.name}"]
    files = [f"sync {name}" for name in NEW]
    assert steps == [*made, *files, "sync partial", "rename", "sync b", "remove"]


def test_folders_that_cannot_be_synced(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code = errno.EINVAL

    def sync(descriptor: int) -> None:
        if os.path.isdir(descriptor):  # noqa: PTH112 - it is a number
            raise OSError(code, "no")

    monkeypatch.setattr(os, "fsync", sync)
    write_folder(folder, writers(NEW))
    assert content(folder) == NEW
    code = errno.EIO
    with pytest.raises(OSError, match="no"):
        write_folder(folder.with_name("other"), writers(NEW))
    assert not folder.with_name("other").exists()


def state(folder: Path) -> str:
    assert all(name == "release" or name.startswith(".release.") for name in names(folder.parent))
    files = content(folder)
    if files is None:
        aside = [content(path) for path in folder.parent.glob(".release.old-*")]
        return "old aside" if aside == [OLD] else "nothing"
    return "old" if files == OLD else "new" if files == NEW else f"neither: {files}"


def states_after_kills(base: Path, scenario: str) -> list[str]:
    states = []
    for step in itertools.count(1):
        folder = base / scenario / str(step) / "release"
        folder.parent.mkdir(parents=True)
        if scenario != "fresh":
            put(folder, OLD)

        def write(folder: Path = folder, step: int = step) -> None:
            if scenario == "force without exchange":
                atomic._rename = refuse_flags
            files = writers(NEW)
            die_at(step, atomic, shutil)  # shutil removes
            write_folder(folder, files, force=scenario != "fresh")

        survived = survives(write)
        states.append(state(folder))
        if survived:
            return states
    raise AssertionError


# Each state is seen, in this order, and no other: what was there before, then at once the whole new.
IN_ORDER = {
    "fresh": ["nothing", "new"],
    "force": ["old", "new"],
    "force without exchange": ["old", "old aside", "new"],
}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize(
    "scenario",
    ["force without exchange", *(pytest.param(s, marks=pytest.mark.slow) for s in ("fresh", "force"))],
)
def test_killed_at_every_step(scenario: str, tmp_path: Path) -> None:
    if scenario == "force" and sys.platform not in atomic._CALL:
        pytest.skip("this system cannot exchange two folders")
    with forker(__name__, str(tmp_path), scenario) as output:
        states = json.load(output)
    assert [state for state, _ in itertools.groupby(states)] == IN_ORDER[scenario]
    assert len(states) > 100


if __name__ == "__main__":
    print(json.dumps(states_after_kills(Path(sys.argv[1]), sys.argv[2])))


def test_a_relative_path_is_one_from_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("partial").write_text("whole")
    atomic.move(Path("partial"), Path("file"))
    assert (tmp_path / "file").read_text() == "whole"
