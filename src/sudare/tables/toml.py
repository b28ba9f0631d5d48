"""Writing TOML, which the standard library only reads."""

from __future__ import annotations

import datetime as dt
import json
import re
from collections.abc import Mapping
from typing import Any


def toml(value: Any) -> str:
    """Write a value as TOML.

    >>> toml({"kind": "mask", "rows": ["a", 1, 1.0, True]})
    '{ kind = "mask", rows = ["a", 1, 1.0, true] }'
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dt.date):
        return value.isoformat()
    if isinstance(value, float):
        return repr(value)  # 120.0 is not 120: bounds of whole numbers make an attribute one
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{toml_key(str(k))} = {toml(v)}" for k, v in value.items()) + " }"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(toml(item) for item in value) + "]"
    if isinstance(value, int):
        return str(value)
    # TOML's basic strings are JSON's, but for DEL.
    return json.dumps(str(value), ensure_ascii=False).replace("\x7f", "\\u007f")


def toml_comment(text: str) -> str:
    """Write a comment: one line, whatever signs are in the text.

    >>> toml_comment("first\\nsecond")
    '# first\\\\nsecond'
    """
    signs = (sign if sign.isprintable() else sign.encode("unicode_escape").decode() for sign in text)
    return f"# {''.join(signs)}"


def toml_key(name: str) -> str:
    """Write a key as TOML, quoted only where it must be."""
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else toml(name)
