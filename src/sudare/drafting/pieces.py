"""Taking abbreviated words apart: `husage` is a husband's age, and `fatheduc` a father's education."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Mapping
from functools import cache, lru_cache

from sudare.drafting.words import AFFIXES, AFTER, BEFORE, MEANINGS, ORDINARY
from sudare.tables.attribute import Role

DIGITS = "0123456789"
SHORTEST = 3  # letters of a piece that means something
LIKE = 4  # letters of a known word that another may be short for, or have grown from
LONG = 5  # letters of the beginning of one, which ends in another way
YEAR = re.compile(r"^y(?=[0-9]{2}$|[0-9]{4}$)")  # of `y94`, which says whether it was in that year
CODED = re.compile(r"^[a-z]{1,2}[0-9]+(?=[a-z]{3})")  # `e16` of `e16sex`, the number of a question


@cache
def _known() -> tuple[frozenset[str], frozenset[str], tuple[str, ...]]:
    """Return the words, the beginnings of words, and the parts that a name can have without meaning anything."""
    words: set[str] = set()
    stems: set[str] = set()
    for meaning in MEANINGS:
        for language in ("English", "codes"):
            for entry in meaning.words.get(language, "").split():
                word = entry.strip("*$")
                if "_" in word or not word.isalpha() or len(word) < SHORTEST:
                    continue
                words.add(word)
                if entry.endswith("*"):
                    stems.add(word)
    return frozenset(words), frozenset(stems), tuple(AFFIXES.split())


def pieces(token: str) -> list[str]:
    """Take a word apart where all of it is made of known ones; the digits at its end stay with the last piece.

    >>> pieces("husage"), pieces("fatheduc"), pieces("kidlt6"), pieces("tethnicity"), pieces("e16sex"), pieces("package")
    (['hus', 'age'], ['fath', 'educ'], ['kid', 'lt6'], ['t', 'ethnicity'], ['e16', 'sex'], ['package'])
    """
    if YEAR.match(token):
        return [f"year{token[1:]}"]
    if (code := CODED.match(token)) and len(token) > code.end():
        return [code[0], *pieces(token[code.end() :])]
    letters = token.rstrip(DIGITS)
    words, stems, _ = _known()
    if (
        not (3 < len(letters) <= 24 and letters.isascii() and letters.isalpha())
        or letters in words | ORDINARY
    ):
        return [token]
    if any(letters.startswith(stem) for stem in stems if len(stem) > SHORTEST):
        return [token]
    split = _split(letters)
    if split is None:
        return [token]
    return [*split[:-1], split[-1] + token[len(letters) :]]


def _split(letters: str) -> list[str] | None:
    """Return the fewest pieces that a word is made of, one of which means something."""
    words, stems, affixes = _known()
    best: dict[int, tuple[int, int, list[str]]] = {0: (0, 0, [])}
    for end in range(1, len(letters) + 1):
        options = []
        for start, (count, meant, before) in list(best.items()):
            piece = letters[start:end]
            ends = end == len(letters) and start > 0
            means = piece in words or (
                ends and any(len(stem) >= LONG and piece.startswith(stem) for stem in stems)
            )
            first, last = start == 0 and piece in BEFORE, end == len(letters) and piece in AFTER
            edge = first or last
            if means or piece in affixes or edge:
                options.append((count + 1 + edge, meant - means, [*before, piece]))
        if options:
            best[end] = min(options)
    found = best.get(len(letters))
    return found[2] if found and found[1] < 0 else None


@cache
def _roles() -> tuple[list[str], Mapping[str, frozenset[Role]]]:
    """Return the known words in order, and the roles of what each means."""
    roles: dict[str, set[Role]] = defaultdict(set)
    for meaning in MEANINGS:
        for language in ("English", "codes"):
            for entry in meaning.words.get(language, "").split():
                word = entry.strip("*$")
                if word.isalpha() and len(word) >= LIKE and not meaning.weak:
                    roles[word].add(meaning.role)
    return sorted(roles), {word: frozenset(own) for word, own in roles.items()}


@lru_cache(maxsize=10_000)
def resembled(token: str) -> Mapping[Role, float]:
    """Return the roles of the known words that a word may be short for, or have grown from, and the share of each.

    >>> {role.value: share for role, share in resembled("cholest").items()}, dict(resembled("zq"))
    ({'sensitive': 1.0}, {})
    """
    letters = token.rstrip(DIGITS)
    words, roles = _roles()
    if len(letters) < SHORTEST or not letters.isalpha():
        return {}
    first = bisect_left(words, letters)
    last = bisect_left(words, letters + "{")  # the sign after z
    parts = {part for size in range(LIKE, len(letters)) for part in (letters[:size], letters[-size:])}
    like = {*words[first:last], *(part for part in parts if part in roles)} - {letters}
    counts = Counter(role for word in sorted(like) for role in sorted(roles[word]))
    return {role: times / counts.total() for role, times in counts.items()}
