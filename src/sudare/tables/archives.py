"""Zip archives from outside: what they claim to unpack to is checked first, and nothing is ever written where they say."""

from __future__ import annotations

import lzma
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sudare.errors import InputError
from sudare.tables.text import listed

UNPACKED_FLOOR, UNPACKED_PER_BYTE = 2**28, 200
"""Bytes that a packed file unpacks to: so many, or so many for each of its own."""
MAX_MEMBERS = 10_000
BROKEN = (
    *(zipfile.BadZipFile, OSError, EOFError, ValueError, NotImplementedError, RuntimeError),
    *(zlib.error, lzma.LZMAError, struct.error, LookupError),
)
"""What Python's own reader raises over a damaged archive."""


class Archive:
    """The files in a zip archive, by their names."""

    def __init__(self, path: Path, file: zipfile.ZipFile) -> None:
        self.path, self._file = path, file
        files = [one for one in file.infolist() if not one.filename.endswith("/")]
        self.members = {one.filename: one for one in files}
        if len(files) > MAX_MEMBERS:
            raise InputError(
                f"{path}: it has more than {MAX_MEMBERS:,} files in it. Unpack it, and name one of them."
            )
        if len(self.members) < len(files):
            raise InputError(
                f"{path}: two files in it have one name, so that nobody can say which is meant. Pack it again."
            )

    def names(self) -> list[str]:
        """Return the names of all files in it, but for what a system put beside them."""
        return [
            name
            for name in self.members
            if not name.startswith("__MACOSX/") and not name.rpartition("/")[2].startswith(".")
        ]

    def unpacked(self, *names: str) -> list[bytes]:
        """Unpack some files; refuse those that become far larger than the archive is."""
        most = most_unpacked(self.path)
        members = [self.members[name] for name in names]
        if locked := [one.filename for one in members if one.flag_bits & 1]:
            raise InputError(
                f"{self.path}: {listed(locked)} in it is protected by a password. Unpack it yourself."
            )
        if sum(one.file_size for one in members) > most:
            raise too_large(self.path, most)
        # Of each file no more is read than it says, and its checksum is compared.
        return [self._file.read(one) for one in members]


def most_unpacked(path: Path) -> int:
    """Return to how many bytes a packed file may unpack."""
    return max(UNPACKED_FLOOR, UNPACKED_PER_BYTE * path.stat().st_size)


def too_large(path: Path, most: int) -> InputError:
    """Say that a packed file is too large unpacked."""
    return InputError(
        f"{path}: the file unpacks to more than {most:,} bytes, the most for its size. Unpack it yourself, and give the file "
        "that comes out."
    )


@contextmanager
def opened(path: Path) -> Iterator[Archive]:
    """Open a zip archive; what is broken in it is an error of ours."""
    try:
        with zipfile.ZipFile(path) as file:
            yield Archive(path, file)
    except BROKEN as error:
        reason = getattr(error, "strerror", None) or str(error) or "it is damaged"
        raise InputError(
            f"{path}: the file cannot be unpacked: {reason.removesuffix('.')}. Ask for it again."
        ) from None
