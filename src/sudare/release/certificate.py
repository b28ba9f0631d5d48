"""The certificate: what was promised, what was measured on the output, and what it cost."""

from __future__ import annotations

import hashlib
import platform
import secrets
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

VERSIONED = ("sudare", "numpy", "numba", "polars", "scipy", "opendp")


def versions() -> dict[str, str]:
    """Return the versions of everything that had a part in the result."""
    return {"python": platform.python_version()} | {name: version(name) for name in VERSIONED}


class InputHash(BaseModel):
    """A commitment to the input: SHA-256 over a random salt and the table's digest.

    A plain hash would let an outsider who guesses the whole table confirm the guess, whatever the
    release protects. The salt stays with the holder, in the ledger; with it anybody can check.

    >>> commitment, salt = InputHash.commit("people.csv", "00" * 32)
    >>> commitment.matches("00" * 32, salt), commitment.matches("11" * 32, salt)
    (True, False)
    """

    model_config = ConfigDict(frozen=True)

    source: str
    sha256_salted: str

    @classmethod
    def commit(cls, source: str, digest: str) -> tuple[InputHash, str]:
        """Commit to a table's digest; also returns the salt, which must not be published."""
        salt = secrets.token_hex(32)
        return cls(source=source, sha256_salted=_salted(digest, salt)), salt

    def matches(self, digest: str, salt: str) -> bool:
        """Tell whether this commitment was made to that digest."""
        return secrets.compare_digest(self.sha256_salted, _salted(digest, salt))


def _salted(digest: str, salt: str) -> str:
    return hashlib.sha256(bytes.fromhex(salt) + bytes.fromhex(digest)).hexdigest()


class Certificate(BaseModel):
    """What was promised, measured on the output alone, paid in utility, and made from which input."""

    model_config = ConfigDict(frozen=True)

    requirements: list[str]
    measured: dict[str, Any]
    method: str
    utility: dict[str, Any]
    bound: float | None = None
    """No method could have distorted less than this; None where it was not computed."""
    gap: float | None = None
    """The distortion over the bound: near 1, the data are at fault for it, and not the method."""
    decision: str | None = None
    """What was assessed and decided before, if this was published through an assessment."""
    caveats: list[str] = Field(default_factory=list)
    """What the promise does not cover."""
    attacks: dict[str, Any] = Field(default_factory=dict)
    """What an outsider's attacks reach on the input and on the output."""
    records: dict[str, int]
    randomness: str
    input: InputHash
    output: dict[str, str] = Field(default_factory=dict)
    """SHA-256 of every file of the release, by name; filled in when it is written."""
    versions: dict[str, str] = Field(default_factory=versions)
    created: str = Field(default_factory=lambda: datetime.now(UTC).isoformat(timespec="seconds"))
