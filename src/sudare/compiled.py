"""What was compiled of a kernel, kept for later processes, and for how long it is valid.

It stands beside the source, in `__pycache__`. Numba takes it for valid as long as the kernel's own file stays the same; but a kernel
holds compiled steps of other files, so ours are valid as long as none of these files changes: a new version of Sudare never runs
steps of an old one. A kernel is compiled by one process at a time: others that need it wait, and take what that one has made.
"""

from __future__ import annotations

import gc
import hashlib
import os
import pickle
import re
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from types import FunctionType
from typing import Any

from numba.core.caching import (
    CompileResultCacheImpl,
    FunctionCache,
    IndexDataCacheFile,
    InTreeCacheLocator,
)
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import CPUDispatcher, cpu_target

PATIENCE = 60.0  # seconds to wait for another process at most, which may have been stopped
POLL = 0.01
ROOM = (
    2**17
)  # values: with what every call needs just above a power of two, so that nearly half of its piece is left
_UNREADABLE = (
    OSError,
    EOFError,
    pickle.UnpicklingError,
    ValueError,
    TypeError,
    LookupError,
    AttributeError,
    ImportError,
)
"""What reading a damaged file may raise."""


class Kernel(CPUDispatcher):
    """A function that is compiled when it is first called with arguments of some types, unless another process has done so."""

    def __init__(self, *defined: Any, **options: Any) -> None:
        super().__init__(*defined, **options)
        self._cache = Compiled(self.py_func)

    def is_ready(self) -> bool:
        """Tell whether it is compiled for some types, here or by another process."""
        return bool(self.overloads) or self._cache.is_kept()

    def compile(self, sig: Any) -> Any:
        """Compile it, or take what is kept."""
        with global_compiler_lock:
            try:
                return _with_room(super().compile, sig)
            finally:
                self._cache.end_turn()


def _call(function: Callable[[Any], Any], argument: Any) -> Any:
    return function(argument)


_with_room = FunctionType(_call.__code__.replace(co_stacksize=ROOM), globals())
"""Call a function with room for all the calls that it makes in turn.

Python keeps its calls in pieces of memory of 16 KB. Where a loop stands at the end of a piece, each call that it makes gets a piece
from the system and gives it back: compiling, which is deep, spent a fifth of its time on that. A call that asks for so much room
itself gets a piece of nearly twice that, where all others fit in.
"""


class _Anywhere(InTreeCacheLocator):
    """The place beside the source, taken also if nothing can be written there: a user without a home, as in a container, can only read."""

    def ensure_cache_path(self) -> None:
        """Leave it as it is."""

    @classmethod
    def from_function(cls, function: Callable[..., Any], file: str) -> _Anywhere:
        """Take it in any case."""
        return cls(function, file)


class _Places(CompileResultCacheImpl):
    _locator_classes = [*CompileResultCacheImpl._locator_classes, _Anywhere]  # noqa: RUF012  # as numba has it


class Compiled(FunctionCache):
    """What was compiled of a kernel: by this user, or before that where the package stands, by who installed it."""

    _impl_class = _Places

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        source = Path(function.__code__.co_filename)
        installed, name = str(source.parent / "__pycache__"), self._impl.filename_base
        self._cache_file = _Kept(self._cache_path, name, _stamp(source))
        self._installed = _Kept(installed, name, _stamp(source))
        self._turn: _Turn | None = None

    def is_kept(self) -> bool:
        """Tell whether something of it is kept for this kind of processor."""
        processor = cpu_target.target_context.codegen().magic_tuple()
        keys = [*self._cache_file._load_index(), *self._installed._load_index()]
        return any(processor in key for key in keys)

    def end_turn(self) -> None:
        """Let others compile it: this process has done so, or has failed to."""
        if self._turn is not None:
            self._turn.end()
            self._turn = None

    def _load_overload(self, sig: Any, target_context: Any) -> Any:
        if not self._enabled:
            return None
        found = self._kept(sig, target_context)
        if found is None:
            self._turn = _Turn(Path(self._cache_file._index_path).with_suffix(".lock"))
            found = self._kept(sig, target_context) if self._turn.waited else None
        return found

    def _kept(self, sig: Any, target_context: Any) -> Any:
        key = self._index_key(sig, target_context.codegen())
        data = self._cache_file.load(key) or self._installed.load(key)
        return None if data is None else self._impl.rebuild(target_context, data)


class _Kept(IndexDataCacheFile):
    """The files of a kernel. What cannot be read of them is compiled again: they may be damaged, or another user's."""

    def load(self, key: Any) -> Any:
        """Return what is kept."""
        with suppress(*_UNREADABLE):
            return super().load(key)

    def _load_index(self) -> Any:
        with suppress(*_UNREADABLE):
            return super()._load_index()
        return {}

    def save(self, key: Any, data: Any) -> None:
        """Keep the machine code first, and name it then: a process may end in between, and what was there before is of an old version.

        Each has a name of its own: of processes that save at a time, none names what another one has made for other types.
        What cannot be kept is compiled again by the next process.
        """
        name = self._data_name(int.from_bytes(hashlib.sha256(repr(key).encode()).digest()[:8], "big"))
        with suppress(OSError):
            self._save_data(name, data)
            self._save_index({**self._load_index(), key: name})


class _Turn:
    """The turn of this process at compiling a kernel, for as long as it holds a file locked; no garbage is looked for meanwhile.

    Compiling makes millions of objects that refer to each other and stay, and looking through them again and again takes a sixth of
    its time. Where files cannot be locked, every process compiles for itself.
    """

    def __init__(self, file: Path) -> None:
        self._file, self.waited = file, False
        self._lock = None if sys.platform == "win32" else self._locked()
        self._collects = gc.isenabled()
        gc.disable()

    def end(self) -> None:
        """Let go of the file, and take it away."""
        if self._collects:
            gc.enable()
        if self._lock is not None:
            with suppress(OSError):
                self._file.unlink()
            os.close(self._lock)

    def _locked(self) -> int | None:
        import fcntl

        end = time.monotonic() + PATIENCE
        try:
            lock = os.open(self._file, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        except OSError:
            return None
        while True:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return lock
            except BlockingIOError:
                self.waited = True
                if time.monotonic() > end:
                    break
                time.sleep(POLL)
            except OSError:
                break
        os.close(lock)
        return None


_PACKAGE = Path(__file__).parent
_IMPORTED = re.compile(r"^from sudare\.([\w.]+) import", re.MULTILINE)


@cache
def _stamp(file: Path) -> bytes:
    """Return a digest of all source that a kernel of this file may hold: the file's, and what it imports."""
    digest = hashlib.sha256()
    for source in sorted(_imported_by(file)):
        digest.update(hashlib.sha256(source.read_bytes()).digest())
    return digest.digest()


@cache
def _imported_by(file: Path) -> frozenset[Path]:
    """Return the file and, transitively, the modules of ours that it imports (not those that only types need)."""
    names = _IMPORTED.findall(file.read_text())
    modules = (_PACKAGE.joinpath(*name.split(".")).with_suffix(".py") for name in names)
    return frozenset({file}).union(*(_imported_by(module) for module in modules if module.exists()))
