"""The attack on a randomized table: what an outsider reaches at most, by the law that its values were drawn by.

A row of such a table is not anybody's record, so that looking people up in it, as the other attacks do, reads noise as
truth. What it tells about a person is a property of the law, which is published with it; all numbers here come from that.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sudare.attacks.published import Output, frame_of
from sudare.errors import InputError, ParameterError
from sudare.tables.folders import CERTIFICATE, LAW, handed_over

MOST_BITS = 12
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Sureness:
    """What a published value tells about the original one at most, where all were equally likely beforehand."""

    values: int
    before: float
    """The probability of any value beforehand."""
    after: float
    """The probability of the likeliest original value, given the most telling published one."""


@dataclass(frozen=True)
class ByLaw:
    """What an outsider reaches at most, whatever they know."""

    records: int
    k: float
    """Who knows the whole original finds a person's row with a probability of 1/k at most."""
    epsilon: float
    """No guess about a person's values becomes more than e^epsilon times likelier, or less likely."""
    by_attribute: dict[str, Sureness]

    def summary(self) -> dict[str, Any]:
        """Return the numbers as plain data."""
        return asdict(self)

    def __str__(self) -> str:
        lines = [
            "Every published value was drawn by a law, and no row is a record as it was.",
            f"Who knows the whole original finds a person's row with probability {1 / self.k:.2%} at most.",
            f"A guess about a person's values becomes at most {_times(self.epsilon)} times likelier, or less likely "
            f"(epsilon = {self.epsilon:.4g}).",
        ]
        for name, sure in self.by_attribute.items():
            lines.append(
                f"{name}: of {sure.values:,} equally likely values, the most telling published one makes one "
                f"{sure.after:.1%} sure, instead of {sure.before:.1%}."
            )
        return "\n".join(lines)


def _times(epsilon: float) -> str:
    return f"{math.exp(epsilon):,.3g}" if epsilon < 700 else "infinitely many"


def by_law(output: Output, *, law: Mapping[str, Any] | None = None) -> ByLaw:
    """Find out what the law of a randomized table leaves to outsiders; it lies beside the output, or is given.

    >>> import polars as pl
    >>> frame = pl.DataFrame({"ill": ["yes", "no", "no"]})
    >>> found = by_law(frame, law={"attributes": {"ill": {"values": ["yes", "no"], "retention": [0.75, 0.75]}}})
    >>> round(found.k, 3), round(found.epsilon, 4), found.by_attribute["ill"].after
    (1.222, 1.0986, 0.75)
    """
    found = law if law is not None else law_of(output)
    if found is None:
        raise InputError(
            "The law of a randomized table is missing. Name the release's folder, or give law=..."
        )
    try:
        tells = {str(name): _tells(own) for name, own in found["attributes"].items()}
        estimates = math.fsum(float(spent) for spent in found.get("estimates", {}).values())
    except (KeyError, TypeError, ValueError, AttributeError, ZeroDivisionError, OverflowError):
        tells, estimates = {}, 0.0
    if not tells or not (math.isfinite(estimates) and estimates >= 0):
        raise InputError("This is not the law of a randomized table, or it is damaged. Ask for it again.")
    records = frame_of(output).height
    spread = math.fsum(one.spread for one in tells.values()) + 2 * estimates
    return ByLaw(
        records=records,
        k=1 + (records - 1) * math.exp(-spread),
        epsilon=math.fsum(one.epsilon for one in tells.values()) + estimates,
        by_attribute={
            name: Sureness(one.size, 1 / one.size, max(one.after, 1 / one.size))
            for name, one in tells.items()
        },
    )


# -- Is it randomized? -----------------------------------------------------------------------------------


def law_of(output: Any) -> Mapping[str, Any] | None:
    """Return the law beside a published file or in a folder; None where the output is not randomized."""
    if not isinstance(output, str | Path):
        return None
    path = handed_over(output)
    folder = path if path.is_dir() else path.parent
    if (folder / LAW).exists():
        return _read(folder / LAW)
    if (folder / CERTIFICATE).exists() and _read(folder / CERTIFICATE).get("method") == "randomize":
        raise InputError(
            f"{folder}: this table is randomized, but its {LAW} is missing. Ask for the whole folder."
        )
    return None


def refuse_noise_as_truth(output: Any, kind: str) -> None:
    """Refuse to attack a randomized table as if its rows were people's records."""
    if law_of(output) is not None:
        raise ParameterError(
            f"{output} is randomized: its rows are drawn by a law, and the {kind} attack would take noise for truth. What "
            'an outsider can reach is told by kind="law".'
        )


def _read(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"{path}: it cannot be read: {error}.") from None
    if not isinstance(found, dict):
        raise InputError(f"{path}: it is damaged. Ask for it again.")
    return found


# -- What one law tells ------------------------------------------------------------------------------------


class _Tells(NamedTuple):
    """The largest log ratio of probabilities of one output; the largest sum of two, there and back; the surest guess."""

    size: int
    epsilon: float
    spread: float
    after: float


def _tells(law: Mapping[str, Any]) -> _Tells:
    """Look at all outputs of a law. A law that is no law raises one of the errors that `by_law` expects."""
    if "scale" in law:
        return _noise(int(law["steps"]) + 1, Fraction(law["scale"]))
    if "flips" in law:
        return _flips(int(law["steps"]) + 1, float(law["flips"]))
    if "retention" in law:
        return _retention(_probabilities(law["retention"], 1))
    matrix = _probabilities(law["matrix"], 2)
    if matrix.shape[0] != matrix.shape[1] or (abs(matrix.sum(axis=0) - 1) > 1e-9).any():
        raise ValueError
    return _matrix(matrix)


def _probabilities(given: Any, dimensions: int) -> Floats:
    found = np.array(given, dtype=np.float64)
    if found.ndim != dimensions or not found.size or not ((found >= 0) & (found <= 1)).all():
        raise ValueError
    return found


def _noise(size: int, scale: Fraction) -> _Tells:
    """Noise on a grid: every step away from the published value is e^(-1/scale) times as likely.

    The ends tell most: they leave values on one side only, and what fell beyond them is put there, or folded inside.
    """
    if size < 1 or scale <= 0:
        raise ValueError
    width = float((size - 1) / scale)
    after = math.expm1(-float(1 / scale)) / math.expm1(-float(size / scale))
    return _Tells(size, width, 2 * width, after)


def _flips(size: int, flip: float) -> _Tells:
    """Bits that are flipped one by one; what comes out beyond the grid is put at its end."""
    bits = max(1, (size - 1).bit_length())
    if size < 1 or bits > MOST_BITS or not 0 < flip < 1:
        raise ValueError
    epsilon = bits * abs(math.log((1 - flip) / flip))
    values, end, after = np.arange(size), np.zeros(size), 0.0
    for output in range(2**bits):
        likely = (flip / (1 - flip)) ** np.bitwise_count(values ^ output)
        if output >= size - 1:
            end += likely
        else:
            after = max(after, float(likely.max() / likely.sum()))
    return _Tells(size, epsilon, 2 * epsilon, max(after, float(end.max() / end.sum())))


def _retention(keep: Floats) -> _Tells:
    """Value u is kept with keep[u], and else becomes any other with o[u] each.

    With r = log(keep / o), the outputs u, v and any other have the log ratios log(o[u] / o[v]) plus r[u], -r[v] and 0 for
    the inputs u and v; so the spread is the range of these three (of the first two, if there are no others).
    """
    d = len(keep)
    if d == 1:
        return _Tells(1, 0.0, 0.0, 1.0)
    o = (1 - keep) / (d - 1)
    order = np.argsort(o)
    least, most = (
        np.where(np.arange(d) == order[i], o[order[j]], o[order[i]]) for i, j in ((0, 1), (-1, -2))
    )
    high, low = np.maximum(keep, most), np.minimum(keep, least)  # of every output, over all inputs
    after = float((high / (keep + o.sum() - o)).max())
    if (low == 0).any():
        return _Tells(d, math.inf, math.inf, after)
    r = np.sort(np.log(keep / o))
    twice = max(r[-1] + r[-2], -(r[0] + r[1]))
    spread = twice if d == 2 else max(twice, abs(r).max())
    return _Tells(d, float(np.log(high / low).max()), float(spread), after)


def _matrix(matrix: Floats) -> _Tells:
    after = float((matrix.max(axis=1) / np.maximum(matrix.sum(axis=1), np.finfo(np.float64).tiny)).max())
    if len(matrix) == 1:
        return _Tells(1, 0.0, 0.0, 1.0)
    possible = matrix[matrix.sum(axis=1) > 0]
    if (possible == 0).any():
        return _Tells(len(matrix), math.inf, math.inf, after)
    logs = np.log(possible)
    spread = max(float(np.ptp(logs[:, [u]] - logs, axis=0).max()) for u in range(len(matrix)))
    return _Tells(len(matrix), float(np.ptp(logs, axis=1).max()), spread, after)
