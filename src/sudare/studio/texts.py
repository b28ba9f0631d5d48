"""All texts of the studio, in all its languages: one catalogue, `texts.toml`, and how they are looked up."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib import resources

LANGUAGES = {"en": "English", "ja": "日本語"}


@cache
def catalogue() -> dict[str, dict[str, str]]:
    """Return every text by its key, in each language."""
    return tomllib.loads(resources.files(__package__).joinpath("texts.toml").read_text("utf-8"))


def said(key: str, language: str, **values: object) -> str:
    """Return a text in a language, with values put in by name.

    >>> said("step.risk", "en")
    'Who stands out'
    """
    text = catalogue()[key][language]
    return text.format(**values) if values else text
