"""Randomness that protects people: a ChaCha20 keystream, no part of which is used twice."""

from __future__ import annotations

import hashlib
import hmac
import mmap
import os
import secrets
from collections.abc import Callable
from threading import Lock
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from sudare.errors import SudareError
from sudare.noise._chacha import fill_words
from sudare.privacy.requirement import whole_number
from sudare.threads import in_threads, pieces

MAX_SEED = 2**256
PIECE = 2**16
"""Draws that one stream serves. It is fixed, so that what is drawn does not depend on how many threads draw."""

Work = Callable[[NDArray[np.uint32], np.uint64, slice], None]
"""Draws a part of a whole: given the key, the stream, and where the part lies."""


MADV_WIPEONFORK = 18  # Linux 4.14 and later: a child finds zeros in such memory, whoever forked it

_forks = 0  # how many forks of Python's own lie between this process and its first ancestor


def _count_fork() -> None:
    global _forks
    _forks += 1


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_count_fork)


class _Birthmark:
    """Tells the process that made it from every fork of that process.

    Numbers of processes do not: in a PID namespace of its own, a child can have its parent's. Python counts its own forks;
    those of C libraries are seen by a page of memory that a child finds wiped, where the system has such pages.
    """

    __slots__ = ("_forks", "_page")

    def __init__(self) -> None:
        self._forks = _forks
        self._page: mmap.mmap | None = None
        try:
            page = mmap.mmap(-1, mmap.PAGESIZE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
            page.madvise(MADV_WIPEONFORK)
        except (AttributeError, OSError, ValueError):  # not on this system
            return
        page[0] = 1
        self._page = page

    def is_here(self) -> bool:
        return self._forks == _forks and (self._page is None or self._page[0] == 1)


class Keystream:
    """ChaCha20 (RFC 8439) with a secret key, a 64-bit counter and a 64-bit nonce.

    Each nonce gives a stream of its own, and each stream is handed out once. What one has seen of the streams says
    nothing of the rest, unlike with the generators of numpy, whose next numbers can be computed from the last ones.

    >>> noise = Keystream()
    >>> noise.description
    'ChaCha20 keyed by the operating system'
    >>> Keystream.unsafe(seed=7).words(2).tolist() == Keystream.unsafe(seed=7).words(2).tolist()
    True
    """

    __slots__ = ("_birthmark", "_key", "_lock", "_streams", "description", "safe")

    def __init__(self) -> None:
        self._start(secrets.token_bytes(32), "ChaCha20 keyed by the operating system", safe=True)

    @classmethod
    def unsafe(cls, seed: int) -> Keystream:
        """Return a source that repeats itself, for tests and papers: whoever knows the seed can undo the protection."""
        digits = str(whole_number(seed, "seed", "Keystream.unsafe", least=0, most=MAX_SEED))
        source = cls.__new__(cls)
        key = hashlib.sha256(digits.encode()).digest()
        source._start(key, f"UNSAFE: ChaCha20 keyed by the seed {digits}", safe=False)
        return source

    @classmethod
    def of_secret(cls, secret: bytes, purpose: str) -> Keystream:
        """Return a source that repeats itself for who has the secret, and is as good as new for everybody else.

        Each purpose has a source of its own, of which the others tell nothing (HMAC-SHA256).
        """
        source = cls.__new__(cls)
        key = hmac.digest(secret, purpose.encode(), "sha256")
        source._start(key, "ChaCha20 keyed by a secret that its owner keeps", safe=True)
        return source

    def _start(self, key: bytes, description: str, *, safe: bool) -> None:
        self._key = np.frombuffer(key, dtype="<u4").astype(np.uint32)
        self._streams = 0
        self._lock = Lock()
        self._birthmark = _Birthmark()
        self.description = description
        """What it is, in words for a certificate."""
        self.safe = safe

    def words(self, size: int) -> NDArray[np.uint64]:
        """Return so many random words, all 2^64 equally likely."""
        out = np.empty(whole_number(size, "size", "words", least=0), dtype=np.uint64)
        self.draw(size, lambda key, stream, part: fill_words(key, stream, out[part]))
        return out

    def draw(self, size: int, work: Work) -> None:
        """Let threads do the work part by part, each part with a fresh stream."""
        parts = pieces(size, PIECE)
        first = self._take(len(parts))
        in_threads(lambda p: work(self._key, np.uint64(first + p), parts[p]), range(len(parts)))

    def _take(self, streams: int) -> int:
        """Return the first of so many streams that nobody has had and nobody else will get."""
        if not self._birthmark.is_here():
            raise SudareError(
                "A Keystream cannot be used in a forked process: it would repeat what its parent draws. "
                "Make a new Keystream() there."
            )
        with self._lock:
            first = self._streams
            self._streams += streams
        return first

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError(
            "A Keystream cannot be copied or pickled: the copy would repeat the same noise, and noise used twice can "
            "be subtracted. Pass the Keystream itself, or make another."
        )

    def __repr__(self) -> str:
        return f"<Keystream: {self.description}>"
