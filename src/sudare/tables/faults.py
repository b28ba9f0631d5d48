"""What is wrong with data that does not have its declared form, in Sudare's words instead of pydantic's."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import wraps
from types import MappingProxyType
from typing import Any, NamedTuple, TypeVar

from pydantic import BaseModel, ValidationError

from sudare.errors import InputError, ParameterError
from sudare.tables.text import shown

Model = TypeVar("Model", bound=BaseModel)

WORDS = (
    (re.compile(r"^Value error, "), ""),
    (re.compile(r"^(?:Input|List|String|Dictionary|Tuple|Set|Data) should "), "must "),
    (re.compile(r" after validation\b"), ""),
    (re.compile(r"^Field required$"), "is missing"),
    (re.compile(r" or object to extract fields from$"), ""),
    (re.compile(r"^Unable to extract tag using discriminator '(.*)'$"), r"must have a '\1'"),
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
    return Fault(tuple(str(part) for part in problem["loc"]), in_our_words(problem["msg"]), problem["input"])


def in_our_words(reason: str) -> str:
    """Say in Sudare's words what pydantic finds wrong."""
    for pattern, word in WORDS:
        reason = pattern.sub(word, reason)
    return reason


BRANCHES = {
    "float": "a number",
    "int": "a whole number",
    "str": "a text",
    "bool": "true or false",
    "date": "a date",
    "datetime": "a date and time",
}
"""What pydantic calls the types of which a value may have one, and what we call them."""


def problems_of(error: ValidationError) -> list[Any]:
    """Return what pydantic finds wrong, once for each value: where it may be of several types, it says of each that it is not.

    >>> from pydantic import TypeAdapter
    >>> try:
    ...     TypeAdapter(dict[str, int | float]).validate_python({"l": "x"}, strict=True)
    ... except ValidationError as error:
    ...     [told(problem, "pipeline.toml", ["l"]) for problem in problems_of(error)]
    ["pipeline.toml: l must be a number. Got 'x' instead."]
    """
    problems = error.errors(include_url=False)
    branches: dict[tuple[Any, ...], list[Any]] = {}
    for problem in problems:
        if _is_branch(problem):
            branches.setdefault(problem["loc"][:-1], []).append(problem)
    said: list[Any] = []
    for problem in problems:
        place = problem["loc"][:-1]
        several = branches.get(place, []) if _is_branch(problem) else []
        if len(several) < 2:
            said.append(problem)
        elif problem is several[0]:
            kinds = [BRANCHES.get(own["loc"][-1]) or own["ctx"]["expected"] for own in several]
            if BRANCHES["float"] in kinds:
                kinds = [kind for kind in kinds if kind != BRANCHES["int"]]
            said.append({**problem, "loc": place, "msg": f"Input should be {' or '.join(kinds)}"})
    return said


def _is_branch(problem: Any) -> bool:
    """Tell whether this is what one type of several says of a value."""
    scalar = problem["type"].startswith(("int_", "float_", "string_", "bool_", "date", "literal_error"))
    last = problem["loc"][-1] if problem["loc"] else ""
    return scalar and (last in BRANCHES or str(last).startswith("literal["))


def told(
    problem: Any, where: str, place: Sequence[str], *, known: str = "", tag: str = "kind", tags: str = ""
) -> str:
    """Say one problem of a file that a person wrote: where it is, at which key, and what to do.

    `known` says which keys there are; `tag` is the key that tells kinds apart, and `tags` says which there are.

    >>> told({"type": "missing", "ctx": {}}, "sudare.toml, line 3", ["age", "role"])
    'sudare.toml, line 3: age.role is missing.'
    >>> problem = {"type": "too_long", "msg": "List should have at most 2 items after validation, not 3", "input": "abc"}
    >>> told(problem, "pipeline.toml, line 9", ["write", "formats"])
    "pipeline.toml, line 9: write.formats must have at most 2 items, not 3. Got 'abc' instead."
    """
    key, kind, context = ".".join(place), problem["type"], problem.get("ctx", {})
    if kind == "missing":
        return f"{where}: {key} is missing."
    if kind == "extra_forbidden":
        return f"{where}: '{key}' is not a known key{known}"
    if kind == "union_tag_not_found":
        return f"{where}: {key}.{tag} is missing.{f' It is one of {tags}.' if tags else ''}"
    if kind == "union_tag_invalid":
        allowed = tags or context["expected_tags"]
        return f"{where}: {key}.{tag} must be one of {allowed}. Got {shown(context['tag'])} instead."
    if kind == "value_error":
        return f"{where}: {key + ' ' if key else ''}{context['error']}."
    return f"{where}: {key} {in_our_words(problem['msg'])}. Got {shown(problem['input'])} instead."


def checked(
    form: type[Model], data: object, what: str, *, named: Mapping[str, str] = MappingProxyType({})
) -> Model:
    """Return data of a form, or raise an InputError that says what is wrong with it.

    `named` says what the parts of a mapping are called, such as {"attributes": "The law of"}.
    """
    try:
        return form.model_validate(data)
    except ValidationError as error:
        fault = first_fault(error)
        if len(fault.place) > 1 and fault.place[0] in named:
            what = f"{named[fault.place[0]]} {shown(fault.place[1])}"
            fault = fault._replace(place=fault.place[2:])
        if not fault.place:
            raise InputError(f"{what} {fault}.") from None
        raise InputError(f"{what}: {fault}. Got {shown(fault.given)} instead.") from None


def no_truth_value(value: Any) -> Any:
    """Refuse what pydantic would take for 1 or 0, where a number is asked for."""
    if isinstance(value, bool):
        raise ValueError(f"must be a number, not {shown(value)}")
    return value


def refusing(model: type[Model]) -> type[Model]:
    """Let a model, and those that are made from it, refuse in Sudare's words what it cannot have.

    >>> @refusing
    ... class Person(BaseModel):
    ...     age: int
    >>> Person(age="old")
    Traceback (most recent call last):
    sudare.errors.ParameterError: Person: 'age' must be a valid integer, unable to parse string as an integer. Got 'old' instead.
    """
    made = model.__init__

    @wraps(
        made
    )  # also of its mark, by which pydantic knows that it need not be called for parts of other models
    def init(self: BaseModel, *given: Any, **data: Any) -> None:
        name = type(self).__name__
        if given:
            raise ParameterError(
                f"{name} takes what it has by name, such as {next(iter(type(self).model_fields))}=..."
            )
        try:
            made(self, **data)
        except ValidationError as error:
            fault = first_fault(error)
            got = f" Got {shown(fault.given)} instead." if fault.place else ""
            raise ParameterError(f"{name}: {str(fault).removesuffix('.')}.{got}") from None

    model.__init__ = init  # type: ignore[assignment, method-assign]
    return model
