"""Texts that people take for one another: `HIV` and `HIV `, `name` and `Name`, a Latin `a` and a Cyrillic one."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

# Cyrillic and Greek letters that look Latin in one of their cases; case is folded first. Not every script has its
# twins here: these are the letters that keyboards put beside the Latin ones.
_LATIN = str.maketrans(
    "авекмнорстухіјѕԁԛԝһѵӏ" + "αβεζηικμνορτυχ",
    "abekmhopctyxijsdqwhvl" + "abezhikmnoptyx",
)
_BLANK = ("Zs", "Zl", "Zp", "Cc", "Cf")
# Not blanks by their category, but nothing is drawn: joiners, fillers, variation selectors, the empty Braille cell.
_SINGLE = (0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x180B, 0x180C, 0x180D, 0x180F, 0x2800, 0x3164, 0xFFA0)
_UNSEEN = frozenset(map(chr, (*_SINGLE, *range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0))))


def skeleton(text: str) -> str:
    """Return what is left of a text when case, width, blanks, unseen signs and the script of a letter are taken away.

    >>> skeleton("HIV ") == skeleton("hiv") == skeleton("ＨＩＶ") == skeleton("H\\u200bIV")
    True
    """
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    seen = (c for c in folded if unicodedata.category(c) not in _BLANK and c not in _UNSEEN)
    return unicodedata.normalize("NFKC", "".join(seen).translate(_LATIN))


def lookalikes(texts: Iterable[str]) -> list[tuple[str, ...]]:
    """Return the groups of different texts that look alike, each in its given order.

    >>> lookalikes(["flu", "HIV", "HIV ", "Flu", "cold"])
    [('flu', 'Flu'), ('HIV', 'HIV ')]
    """
    groups: dict[str, dict[str, None]] = {}
    for text in texts:
        groups.setdefault(skeleton(text), {})[text] = None
    return [tuple(group) for group in groups.values() if len(group) > 1]
