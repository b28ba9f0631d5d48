"""What was compiled of a kernel, kept for later processes, and for how long it is valid.

It stands beside the source, in `__pycache__`. Numba takes it for valid as long as the kernel's own file stays the same; but a kernel
holds compiled steps of other files, so ours are valid as long as none of these files changes: a new version of Sudare never runs
steps of an old one.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from numba.core.caching import FunctionCache, IndexDataCacheFile


class Compiled(FunctionCache):
    """What was compiled of a kernel: by this user, or before that where the package stands, by who installed it."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        source = Path(function.__code__.co_filename)
        self._cache_file._source_stamp = _stamp(source)
        installed, name = str(source.parent / "__pycache__"), self._impl.filename_base
        self._installed = IndexDataCacheFile(installed, name, _stamp(source))

    def _load_overload(self, sig: Any, target_context: Any) -> Any:
        found = super()._load_overload(sig, target_context)
        if found is None:
            data = self._installed.load(self._index_key(sig, target_context.codegen()))
            found = None if data is None else self._impl.rebuild(target_context, data)
        return found


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
