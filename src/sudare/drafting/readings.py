"""What texts say that are no plain numbers: bands such as 30-39, and numbers with a unit."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import NamedTuple

MOST = 0.8  # of the values must be bands; others, such as "unknown", stay as they are
NUMBER = r"(-?\d+(?:\.\d+)?)"
BETWEEN = re.compile(
    rf"^\D*?{NUMBER}\s*(?:-|–|~|〜|to|bis|à|a|through|thru|until|,)\s*{NUMBER}\D*$", re.IGNORECASE
)
BELOW = re.compile(
    rf"^(?:<=?|≤|under|unter|below|less than|moins de|menos de|up to)\s*{NUMBER}\D*$|^{NUMBER}\D*(?:未満|以下)$",
    re.IGNORECASE,
)
ABOVE = re.compile(
    rf"^(?:>=?|≥|over|über|above|more than|plus de|más de|mas de)\s*{NUMBER}\D*$|"
    rf"^\D*?{NUMBER}\D*?(?:\+|and over|and older|or more|plus|以上|und älter|et plus|y más|y mas)$",
    re.IGNORECASE,
)
DECADE = re.compile(r"^(\d+)(?:代|s)$")
QUANTITY = re.compile(r"^([$€£¥￥]?)\s*(-?\d+(?:\.\d+)?)\s*([^\d\s].{0,11})?$")


class Band(NamedTuple):
    """Numbers from low to high, both included; None where it is open."""

    low: float | None
    high: float | None

    def __str__(self) -> str:
        if self.low is None:
            return f"<={_text(self.high)}"
        return f"{_text(self.low)}+" if self.high is None else f"{_text(self.low)}-{_text(self.high)}"

    @property
    def start(self) -> float:
        """Where it begins, for putting bands in order."""
        return float("-inf") if self.low is None else self.low


def _text(number: float | None) -> str:
    return "" if number is None else f"{number:.15g}"


def band_of(text: str) -> Band | None:
    """Read a band.

    >>> [str(band_of(text)) for text in ("30-39", "30 to 39 years", "65+", "<20", "30代", "65歳以上", "flu")]
    ['30-39', '30-39', '65+', '<=19', '30-39', '65+', 'None']
    """
    bare = re.sub(r"(?<=\d),(?=\d{3}\b)", "", text.strip())
    if found := DECADE.match(bare):
        return Band(float(found[1]), float(found[1]) + 9)
    if found := BELOW.match(bare):
        limit = float(found[1] or found[2])
        within = re.match(r"<=|≤|up to", bare, re.IGNORECASE) or bare.endswith("以下")
        return Band(None, limit if within or not limit.is_integer() else limit - 1)
    if found := ABOVE.match(bare):
        return Band(float(found[1] or found[2]), None)
    if found := BETWEEN.match(bare):
        band = Band(float(found[1]), float(found[2]))
        return band if band.start <= float(found[2]) else None
    return None


def bands_of(texts: list[str]) -> dict[str, Band] | None:
    """Read the bands that most of some texts are; None where they are not, or lie over each other.

    >>> bands_of(["0-17", "18-64", "65+"]).keys()
    dict_keys(['0-17', '18-64', '65+'])
    >>> bands_of(["10-20", "15-25", "x"]) is None
    True
    """
    read = {text: band for text in texts if (band := band_of(text))}
    if len(read) < 3 or len(read) < MOST * len(texts):
        return None
    ordered = sorted(read.values(), key=lambda band: band.start)
    apart = all(a.high is not None and b.low is not None and a.high <= b.low for a, b in pairwise(ordered))
    return read if apart else None


def quantities_of(texts: list[str]) -> tuple[dict[str, float], str] | None:
    """Read numbers that all have the same unit; None where they do not.

    >>> quantities_of(["12 kg", "7.5kg"])
    ({'12 kg': 12.0, '7.5kg': 7.5}, 'kg')
    """
    read, units = {}, set()
    for text in texts:
        found = QUANTITY.match(re.sub(r"(?<=\d),(?=\d{3}\b)", "", text.strip()))
        if found is None:
            return None
        read[text] = float(found[2])
        units.add(found[1] or (found[3] or "").strip())
    return (read, units.pop()) if len(units) == 1 and units != {""} else None
