"""Writing a folder whole or not at all.

Everything is first written into a hidden folder beside the target, made durable, and then put under the
target's name by one atomic rename. A run that is killed at any step leaves under that name either what was
there before or the whole new folder. It may leave a hidden `.NAME.partial-*` beside it, safe to delete.
"""

from __future__ import annotations

import ctypes
import errno
import os
import secrets
import shutil
import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from sudare.errors import InputError, ParameterError

# The file that marks a folder as a release. Only a folder with its mark may be replaced.
_MARK = "certificate.json"

# The renames that take a flag, and the flags, of Linux and of macOS.
_CALL = {"linux": "renameat2", "darwin": "renameatx_np"}
_NO_REPLACE = {"linux": 1, "darwin": 4}
_EXCHANGE = {"linux": 2, "darwin": 2}
_NOT_SUPPORTED = {errno.ENOSYS, errno.EINVAL, errno.ENOTSUP}


def write_folder(
    folder: Path,
    files: Mapping[str, Callable[[Path], object]],
    *,
    force: bool = False,
    mark: str = _MARK,
    private: Sequence[str] = (),
) -> None:
    """Write a folder of files that appears under its name whole, or not at all.

    Each function in `files` writes one file at the path it is given; a name may have one folder before it, as in
    `keep/report.html`. If one of them fails, `folder` stays as it was. Missing parent folders are created. Only the
    owner can look into the `private` ones of these folders.

    An existing `folder` is refused unless `force` is given. With `force` it is replaced, but only if it holds
    the file `mark`: a mistyped name can then never wipe a folder that is not ours.

    Replacing exchanges the old and the new folder in one step on Linux and macOS. On Windows, and on file
    systems without that call (some network ones), it takes two renames. A run that is killed between the two
    leaves nothing under the name, and the old folder whole in `.NAME.old-*` beside it.

    >>> import tempfile
    >>> release = Path(tempfile.mkdtemp()) / "release"
    >>> write_folder(release, {"certificate.json": lambda path: path.touch()})
    >>> [file.name for file in release.iterdir()]
    ['certificate.json']
    """
    _check_names(files)
    refuse_unwritable(folder, force=force, mark=mark)  # before the work, not only after it
    folder = folder.resolve()
    partial = _make_partial(folder)
    try:
        for inner in dict.fromkeys(Path(name).parent.name for name in files if "/" in name):
            (partial / inner).mkdir(mode=0o700 if inner in private else 0o777)
        for name, write in files.items():
            write(partial / name)
            if Path(name).parent.name in private:
                (partial / name).chmod(0o600)
            _sync_file(partial / name)
        for written in {(partial / name).parent for name in files} | {partial}:
            _sync_folder(written)
        # Asked again: the target may have come or changed while the files were written.
        if _must_replace(folder, mark, force=force):
            _exchange(partial, folder)
        else:
            move(partial, folder)
        _sync_folder(folder.parent)
    finally:
        # After an exchange the old folder has this name; after a failure, the unfinished new one.
        _remove(partial)


def refuse_unwritable(folder: Path, *, force: bool = False, mark: str = _MARK) -> None:
    """Refuse a folder that `write_folder` could not write, before anything is read or learned for it.

    >>> import tempfile
    >>> taken = Path(tempfile.mkdtemp())
    >>> refuse_unwritable(taken / "new" / "release")
    >>> refuse_unwritable(taken)                                            # doctest: +ELLIPSIS
    Traceback (most recent call last):
    sudare.errors.InputError: ... exists already. Nothing was written. ...
    """
    folder = folder.resolve()
    _must_replace(folder, mark, force=force)
    _refuse_parent(next(parent for parent in folder.parents if parent.exists()), folder)


def refuse_unwritable_file(path: Path) -> None:
    """Refuse a file that `write_file` could not write, before anything is read or learned for it.

    >>> refuse_unwritable_file(Path("nowhere/report.html"))                 # doctest: +ELLIPSIS
    Traceback (most recent call last):
    sudare.errors.InputError: Cannot write nowhere/report.html: there is no folder nowhere. ...
    """
    _refuse_parent(path.parent, path)


def _refuse_parent(parent: Path, path: Path) -> None:
    if not parent.is_dir():
        fault = f"{parent} is not a folder" if parent.exists() else f"there is no folder {parent}"
    elif not os.access(parent, os.W_OK | os.X_OK):
        fault = f"you may not write in {parent}"
    else:
        return
    raise InputError(f"Cannot write {path}: {fault}. Nothing was written. Choose another place.")


def _check_names(files: Mapping[str, Callable[[Path], object]]) -> None:
    for name in files:
        parts = name.split("/")
        if len(parts) > 2 or any(Path(part).name != part or part in ("", "..") for part in parts):
            raise ParameterError(
                f"The name of a file to write must be a plain file name, or one in a plain folder. Got {name!r} instead."
            )


def _must_replace(folder: Path, mark: str, *, force: bool) -> bool:
    """Whether there is an old folder to replace. Refuses what must not be replaced."""
    if not folder.exists():
        return False
    if not force:
        raise _already_there(folder)
    if not (folder / mark).is_file():
        what = f"is a folder without {mark}" if folder.is_dir() else "is not a folder"
        raise InputError(
            f"{folder} {what}, so it is not ours, and force does not replace it. Nothing was written. "
            "Choose another folder, or remove it yourself."
        )
    return True


def _already_there(folder: Path) -> InputError:
    return InputError(
        f"{folder} exists already. Nothing was written. "
        "Choose another folder, or replace this one with --force (in Python: force=True)."
    )


def _make_partial(folder: Path) -> Path:
    partial = folder.with_name(f".{folder.name}.partial-{secrets.token_hex(4)}")
    try:
        missing = [parent for parent in folder.parents if not parent.exists()]
        folder.parent.mkdir(parents=True, exist_ok=True)
        partial.mkdir()
    except OSError as error:
        raise InputError(
            f"Cannot write {folder}: {error.strerror}: {error.filename}. Nothing was written. "
            "Choose a folder that can be created."
        ) from error
    for parent in missing:
        _sync_folder(parent.parent)
    return partial


def move(partial: Path, folder: Path) -> None:
    """Give `partial` the name `folder`, which must be free."""
    try:
        if not _rename(partial, folder, _NO_REPLACE):
            # A plain rename refuses everything but an empty folder, and the caller has just seen that there
            # is none: the worst that a race can cost here is a folder with nothing in it.
            partial.rename(folder)
    except OSError as error:
        if folder.exists():
            raise _already_there(folder) from error
        raise


def _exchange(partial: Path, folder: Path) -> None:
    """Swap the names of two folders: at once where the system can, else by way of a third name."""
    if _rename(partial, folder, _EXCHANGE):
        return
    aside = folder.with_name(f".{folder.name}.old-{secrets.token_hex(4)}")
    try:
        folder.rename(aside)
        partial.rename(folder)
    except BaseException:  # also an interrupt from the keyboard
        if not folder.exists():
            aside.rename(folder)
        raise
    aside.rename(partial)


def _rename(old: Path, new: Path, flag: Mapping[str, int]) -> bool:
    """Rename with a flag, in one system call. False if the system or the file system has no such call."""
    if sys.platform not in _CALL:
        return False
    try:
        call = getattr(ctypes.CDLL(None, use_errno=True), _CALL[sys.platform])
    except AttributeError:  # a C library older than the call
        return False
    # The -1 stand for the folders that relative paths would start from: a database is named by one, and so made absolute here.
    failed = call(
        -1, os.fsencode(old.absolute()), -1, os.fsencode(new.absolute()), ctypes.c_uint(flag[sys.platform])
    )
    if not failed:
        return True
    code = ctypes.get_errno()
    if code in _NOT_SUPPORTED:
        return False
    raise OSError(code, os.strerror(code), str(old), None, str(new))


def _sync_file(path: Path) -> None:
    # Windows syncs only what is open for writing; elsewhere a writer may have made its file read-only.
    descriptor = os.open(path, os.O_RDWR if sys.platform == "win32" else os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _sync_folder(folder: Path) -> None:
    if sys.platform == "win32":
        return  # it has no way to open a folder, and syncs names on its own
    try:
        _sync_file(folder)
    except OSError as error:
        # Some network file systems cannot sync a folder. Their server does it, or nobody can.
        if error.errno not in _NOT_SUPPORTED:
            raise


def _remove(partial: Path) -> None:
    shutil.rmtree(partial, ignore_errors=True)
    if partial.exists():
        # No error: whether the new folder is in place was settled before this.
        warnings.warn(f"Could not remove {partial}. It is not needed: remove it yourself.", stacklevel=3)


def write_file(path: Path, content: str | bytes, *, private: bool = False) -> None:
    """Write one file that appears under its name whole, or not at all; it replaces an old one.

    Only its owner can read one that is `private`.
    """
    partial = path.with_name(f".{path.name}.partial-{secrets.token_hex(4)}")
    try:
        partial.touch(mode=0o600 if private else 0o666)
        partial.write_bytes(content.encode() if isinstance(content, str) else content)
        _sync_file(partial)
        partial.replace(path)
        _sync_folder(path.parent)
    except OSError as error:
        raise InputError(f"Cannot write {path}: {error.strerror}. Nothing was written.") from error
    finally:
        partial.unlink(missing_ok=True)
