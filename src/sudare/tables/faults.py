"""What is wrong with data that does not have its declared form, in Sudare's words instead of pydantic's."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from pydantic import ValidationError

from sudare.tables.text import shown

WORDS = (
    (re.compile(r"^Value error, "), ""),
    (re.compile(r"^(?:Input|List|String|Dictionary|Tuple|Set|Data) should "), "must "),
    (re.compile(r" after validation\b"), ""),
    (re.compile(r"^Field required$"), "is missing"),
    (re.compile(r"^Extra inputs are not permitted$"), "is not known here"),
)


class Fault(NamedTuple):
    """One fault: at which place of the data, why it is one, and what was given there."""

    place: tuple[str, ...]
    reason: str
    given: Any

    def __str__(self) -> str:
        return f"{shown('.'.join(self.place))} {self.reason}" if self.place else self.reason


def first_fault(error: ValidationError) -> Fault:
    """Return the first fault that pydantic reports.

    >>> from pydantic import TypeAdapter
    >>> try:
    ...     TypeAdapter(dict[str, int]).validate_python({"rows": "many"}, strict=True)
    ... except ValidationError as error:
    ...     print(first_fault(error))
    'rows' must be a valid integer
    """
    problem = error.errors(include_url=False)[0]
    reason = problem["msg"]
    for pattern, word in WORDS:
        reason = pattern.sub(word, reason)
    return Fault(tuple(str(part) for part in problem["loc"]), reason, problem["input"])
