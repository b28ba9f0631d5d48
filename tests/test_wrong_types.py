"""Every public callable refuses what is of another type, in our voice. What is new here needs an example in tests/public.py."""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import ArrayLike
from pydantic import BaseModel, ConfigDict, PydanticSchemaGenerationError, TypeAdapter, ValidationError

import sudare as sd
from tests.public import CALLS, callables, called, parameters, table

WRONG = (5, "x", None, object(), [1], {})
NUMBERS = (True, math.nan, math.inf, -1, 10**400, 0, [], ())
PUBLIC = dict(callables())
# A message names the parameter, or says what is needed.
HELPS = (
    r"must|needs?\b|either|takes|[Tt]here (is|are)|is (no|for|missing|named by)\b|cannot be|has the fields|is not supported|has no|are a list|is a text|"
    r"Add|Ask|Declare|Do not|Every|Give|Keep|Leave|[Nn]ame|[Oo]nly|Say|Set|cut off"
)

# What takes anything, and why.
UNCHECKED = {
    ("PView", "model"): "made by materialize; a protocol whose properties would be computed by a check",
    ("PView", "kept"): "the same",
    ("Attribute", "hierarchy"): "a text is short for a kind, or names a file",
    ("Table", "rows"): "made by read; engines know tables, and not the other way round",
    ("methods.Optimal", "prior"): "randomize refuses it, and says how many counts it needs",
    ("methods.Optimal", "within"): "the same",
    ("methods.Optimal", "distance"): "the same",
    ("methods.Matrix", "probabilities"): "the same",
}


def test_every_public_callable_has_an_example() -> None:
    assert sorted(PUBLIC) == sorted(CALLS)


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("name", PUBLIC)
def test_examples_are_valid(name: str) -> None:
    called(name, PUBLIC[name], CALLS[name]())


@pytest.mark.parametrize(
    ("name", "parameter"), [(name, one) for name, what in PUBLIC.items() for one in parameters(what)]
)
def test_another_type_is_refused(name: str, parameter: str, tmp_path: Path, monkeypatch: Any) -> None:
    what = PUBLIC[name]
    for number, wrong in enumerate(WRONG):
        _into_new_folder(tmp_path, number, monkeypatch)
        said = _refusal(name, CALLS[name]() | {parameter: wrong})
        if said is None:
            fine = (name, parameter) in UNCHECKED or _is_of(wrong, _annotation(what, parameter))
            assert fine, f"{name} takes {parameter}={wrong!r}"
        else:
            assert re.search(f"'{parameter}|{HELPS}", said), said


@pytest.mark.parametrize(
    ("name", "parameter"), [(name, one) for name, what in PUBLIC.items() for one in parameters(what)]
)
def test_odd_numbers_are_taken_or_refused(
    name: str, parameter: str, tmp_path: Path, monkeypatch: Any
) -> None:
    for number, odd in enumerate(NUMBERS):
        _into_new_folder(tmp_path, number, monkeypatch)
        said = _refusal(name, CALLS[name]() | {parameter: odd})
        assert said is None or re.search(f"'{parameter}|{HELPS}", said), said


@pytest.mark.parametrize("name", PUBLIC)
def test_numbers_of_numpy_are_numbers(name: str) -> None:
    arguments = CALLS[name]()
    called(name, PUBLIC[name], {key: _of_numpy(value) for key, value in arguments.items()})


@pytest.mark.parametrize("requirement", [sd.KAnonymity(np.int64(2)), sd.TCloseness(np.float32(0.9))], ids=str)
def test_what_was_asked_for_in_numbers_of_numpy_is_written(requirement: Any) -> None:
    released = sd.generalize(table(), requirement, "mondrian").write("out")
    assert sd.verify(released).holds


def _refusal(name: str, arguments: dict[str, Any]) -> str | None:
    """Return what a call is refused with; whatever is no refusal of ours is a failure."""
    try:
        called(name, PUBLIC[name], arguments)
    except sd.SudareError as error:
        return str(error)
    return None


def _of_numpy(value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return value
    return np.int64(value) if isinstance(value, int) else np.float32(value)


def _into_new_folder(tmp_path: Path, number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / str(number)
    folder.mkdir()
    monkeypatch.chdir(folder)


def _annotation(what: Callable[..., Any], parameter: str) -> Any:
    """Return what a parameter is declared to be; object if only type checkers know."""
    annotation = inspect.signature(what).parameters[parameter].annotation
    if not isinstance(annotation, str):
        return annotation
    function = inspect.unwrap(what.__init__ if inspect.isclass(what) else what)  # type: ignore[misc]
    return eval(annotation, function.__globals__)


def _is_of(value: object, annotation: Any) -> bool:
    """Ask pydantic whether a value is of a type; it shares no code with what refuses."""
    if annotation == ArrayLike or annotation == ArrayLike | None:
        return isinstance(value, int | list) or (value is None and annotation != ArrayLike)
    own = inspect.isclass(annotation) and issubclass(annotation, BaseModel)
    config = None if own else ConfigDict(arbitrary_types_allowed=True)
    try:
        TypeAdapter(annotation, config=config).validate_python(value)
    except (ValidationError, PydanticSchemaGenerationError):
        return False
    return True
