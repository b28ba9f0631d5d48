"""What the rest of the package says, such as reasons and refusals, in the page's language: by a catalogue of its messages.

The keys of `messages.toml` are the messages as the code writes them, with {0}, {1}, ... where values stand; what stands there is
translated, too, if it is known. A message that is not in the catalogue is shown as it is.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from functools import cache, lru_cache
from importlib import resources
from typing import NamedTuple

MAX_LENGTH = 20_000  # of a text that is looked up
MAX_DEPTH = 4
JOINTS = {"\n": "\n", " + ": " + ", "; ": "。", ", but ": "。ただし、", " and ": "、"}
"""What joins messages, and by what it is replaced."""


class Message(NamedTuple):
    """A message: the pieces between its values, and its words in each other language."""

    pieces: list[str]
    words: dict[str, str]

    @property
    def is_bare(self) -> bool:
        """Whether it has no words of its own."""
        return not re.search(r"[A-Za-z]", "".join(self.pieces))

    def is_quoted(self, place: int) -> bool:
        """Tell whether a value stands in quotes: it is a name or a value of the table, and stays as it is."""
        return self.pieces[place].endswith("'") and self.pieces[place + 1].startswith("'")

    def values(self, text: str) -> list[str] | None:
        """Return the values in a text that is this message, else None; in time that grows with the text alone."""
        first, last = self.pieces[0], self.pieces[-1]
        if len(self.pieces) == 1:
            return [] if text == first else None
        if len(text) < len(first) + len(last) or not (text.startswith(first) and text.endswith(last)):
            return None
        at, end, found = len(first), len(text) - len(last), []
        for piece in self.pieces[1:-1]:
            next_ = text.find(piece, at, end)
            if next_ < 0:
                return None
            found.append(text[at:next_])
            at = next_ + len(piece)
        return [*found, text[at:end]]


@cache
def messages() -> dict[str, dict[str, str]]:
    """Return all messages that are known, with their words in each other language."""
    read = tomllib.loads(resources.files(__package__).joinpath("messages.toml").read_text("utf-8"))
    return {key: {language: texts[key] for language, texts in read.items()} for key in read["ja"]}


@cache
def _known() -> list[Message]:
    """Return messages by how much they say themselves, the most first."""
    found = [Message(re.split(r"\{\d\}", key), words) for key, words in messages().items()]
    return sorted(found, key=lambda one: -len("".join(one.pieces)))


def translated(text: str, language: str) -> str:
    """Say a message in a language, as far as it is known.

    >>> translated("5-anonymity", "ja")
    '5-匿名性'
    >>> translated("what nobody knows", "ja")
    'what nobody knows'
    """
    if language == "en" or not text or len(text) > MAX_LENGTH:
        return text
    return _found(text, language, 0) or text


@lru_cache(4096)
def _found(text: str, language: str, depth: int) -> str | None:
    for joint, by in JOINTS.items():
        if depth < MAX_DEPTH and len(apart := _apart(text, joint)) > 1:
            parts = list(_parts(apart, language, depth))
            if None not in parts:
                return by.join(part for part in parts if part is not None)
    for one in _known():
        values = one.values(text)
        if values is not None and (said := _filled(one, values, language, depth)) is not None:
            return said
    return None


def _apart(text: str, joint: str) -> list[str]:
    """Take a text apart where messages were joined, and not within one: `family and household` is one."""
    if joint not in text:
        return [text]
    for whole in _whole(joint):
        text = text.replace(whole, whole.replace(joint, "\0"))
    return [part.replace("\0", joint) for part in text.split(joint)]


@cache
def _whole(joint: str) -> list[str]:
    """Return the messages without values in which a joint is no joint."""
    return [key for key in messages() if joint in key and "{" not in key]


def _parts(parts: list[str], language: str, depth: int) -> Iterator[str | None]:
    for part in parts:
        found = _found(part, language, depth + 1) if part.strip() else part
        yield found
        if found is None:
            return


def _filled(one: Message, values: list[str], language: str, depth: int) -> str | None:
    """Put values into a message; nothing, if it has no words of its own, and theirs are not known."""
    if depth >= MAX_DEPTH and values:
        return None
    found = [
        value if one.is_quoted(place) else _found(value, language, depth + 1)
        for place, value in enumerate(values)
    ]
    if one.is_bare and None in found:
        return None
    return one.words[language].format(*(said or value for said, value in zip(found, values, strict=True)))
