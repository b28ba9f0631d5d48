"""Examples in docstrings, as code on the site."""

from __future__ import annotations

import re
from typing import Any

import griffe

EXAMPLE = re.compile(r"^( *)>>> .*(?:\n(?!\s*$).*)*", re.M)


class Doctests(griffe.Extension):  # type: ignore[misc]
    """Puts every example, from its first line to the next empty one, between marks of code."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Mark the examples of a docstring."""
        if obj.docstring is not None:
            obj.docstring.value = EXAMPLE.sub(r"\1```pycon\n\g<0>\n\1```", obj.docstring.value)
