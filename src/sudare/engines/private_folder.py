"""A folder for people's data on disk: only its owner can look into it, and it is removed, at the latest by the next run."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

PREFIX = "sudare-"
LOCK = "in-use"


def private_folder(what: str) -> tuple[Path, Callable[[], None]]:
    """Make a new folder of mode 0700, named after what is in it, and return it with what removes it.

    Folders of runs that were killed are removed first. A run that lives holds a lock in its folder, which the system takes
    away from it when it dies, however it dies.
    """
    _remove_abandoned(Path(tempfile.gettempdir()))
    folder = Path(tempfile.mkdtemp(prefix=f"{PREFIX}{what}-"))
    lock = _locked(folder / f"{LOCK}.new")
    if lock is not None:
        (folder / f"{LOCK}.new").rename(folder / LOCK)  # nobody looks at one that is not locked yet

    def remove() -> None:
        shutil.rmtree(folder, ignore_errors=True)
        if lock is not None:
            os.close(lock)

    return folder, remove


def _remove_abandoned(folder: Path) -> None:
    for other in folder.glob(f"{PREFIX}*"):
        try:
            mine = (
                sys.platform != "win32" and other.lstat().st_uid == os.getuid() and (other / LOCK).is_file()
            )
        except OSError:
            continue
        if mine and not other.is_symlink() and (lock := _locked(other / LOCK)) is not None:
            shutil.rmtree(other, ignore_errors=True)
            os.close(lock)


def _locked(path: Path) -> int | None:
    """Lock a file, and return what holds the lock; None if somebody else does, or the system knows no such locks."""
    if sys.platform == "win32":
        return None
    import fcntl

    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    except OSError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        return None
    return descriptor
