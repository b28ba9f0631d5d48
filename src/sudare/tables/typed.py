"""Arguments of another type than a public signature declares are refused at once, by what the signature itself says.

Annotations are read when a function is first called. What they cannot tell (`Any`, a protocol, a name that only type checkers
import) is left to the function.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, wraps
from inspect import isclass, isfunction
from numbers import Integral, Real
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, NamedTuple, TypeVar, Union, get_args, get_origin

import numpy as np
import polars as pl
from numpy.typing import ArrayLike

from sudare.errors import ParameterError
from sudare.tables.text import shown

Typed = TypeVar("Typed", bound=Callable[..., Any])


class Kind(NamedTuple):
    """What an argument must be: as a test, and in words for one and for several."""

    fits: Callable[[Any], bool]
    one: str
    many: str


def typed(what: Typed) -> Typed:
    """Let a function, or all public methods of a class, refuse arguments of another type than declared.

    What a class says of itself in `__post_init__` comes first: it can say more than a type.

    >>> @typed
    ... def repeated(text: str, times: int = 2) -> str:
    ...     return text * times
    >>> repeated("ab", times=3)
    'ababab'
    >>> repeated("ab", "3")
    Traceback (most recent call last):
    sudare.errors.ParameterError: The 'times' parameter of repeated must be a whole number. Got str instead.
    """
    if not isclass(what):
        return _checking(what)  # type: ignore[return-value]
    for name, own in list(vars(what).items()):
        function = own.__func__ if isinstance(own, classmethod | staticmethod) else own
        if (not name.startswith("_") or name == "__init__") and isfunction(function):
            checking = _checking(function, afterwards=name == "__init__" and hasattr(what, "__post_init__"))
            setattr(what, name, checking if function is own else type(own)(checking))
    return what


def _checking(function: Callable[..., Any], afterwards: bool = False) -> Callable[..., Any]:
    code = function.__code__
    names = code.co_varnames[: code.co_argcount]
    owner = function.__qualname__.removesuffix(".__init__").rpartition("<locals>.")[2]
    takes_more = bool(code.co_flags & 0x04)  # *args

    @cache
    def kinds() -> dict[str, Kind]:
        return dict(_kinds(function))

    def check(args: tuple[Any, ...], named: dict[str, Any]) -> None:
        known = kinds()
        for name, value in zip(names, args, strict=False):
            if name in known and not known[name].fits(value):
                raise _refused(value, name, owner, known[name])
        for name, value in named.items():
            if name in known and not known[name].fits(value):
                raise _refused(value, name, owner, known[name])
        if len(args) > len(names) and not takes_more:
            raise ParameterError(
                f"{owner} takes no {shown(args[len(names)])} without a name. Write it as name=value."
            )

    @wraps(function)
    def checking(*args: Any, **named: Any) -> Any:
        # Numbers of numpy are numbers; as Python's own they can also be written down.
        args = tuple([one.item() if isinstance(one, np.generic) else one for one in args])
        for name, one in named.items():
            if isinstance(one, np.generic):
                named[name] = one.item()
        if not afterwards:
            check(args, named)
        result = function(*args, **named)
        if afterwards:
            check(args, named)
        return result

    return checking


def own_words(*names: str) -> Callable[[Typed], Typed]:
    """Leave some parameters to the function itself, which says more of them than their type."""

    def mark(function: Typed) -> Typed:
        function.own_words = names  # type: ignore[attr-defined]
        return function

    return mark


def _refused(value: Any, name: str, owner: str, kind: Kind) -> ParameterError:
    got = type(value).__name__
    if isinstance(value, list | tuple):  # what is in it is wrong
        got = f"{got} of {', '.join(sorted({type(one).__name__ for one in value})) or 'nothing'}"
    return ParameterError(f"The '{name}' parameter of {owner} must be {kind.one}. Got {got} instead.")


# -- What annotations say --------------------------------------------------------------------------


def _kinds(function: Callable[..., Any]) -> Iterator[tuple[str, Kind]]:
    """Return the kind of every parameter of which the annotation tells one."""
    left = ("return", *getattr(function, "own_words", ()))
    for name, annotation in function.__annotations__.items():
        if name in left:
            continue
        if isinstance(annotation, str):
            try:
                annotation = eval(annotation, function.__globals__)
            except NameError:  # imported for type checkers only
                continue
        if (kind := kind_of(annotation)) is not None:
            yield name, kind


def kind_of(annotation: Any, *, look: bool = True) -> Kind | None:
    """Return what an annotation asks for; None if that is anything, or cannot be told. `look` into lists, or only at them.

    >>> kind_of(Sequence[str] | None).one, kind_of(dict[str, float]).one, kind_of(str | Path).one
    ('a list of texts or None', 'a dict', 'a path')
    """
    origin, inner = get_origin(annotation), get_args(annotation)
    if annotation in PLAIN or origin in PLAIN:
        return PLAIN[annotation if annotation in PLAIN else origin]
    if origin in (Union, UnionType):
        return _any_of(list(inner), look)
    if origin is Annotated:
        return kind_of(inner[0], look=look)
    if origin is Literal:
        words = f"one of {', '.join(map(repr, inner))}"
        return Kind(lambda value: isinstance(value, str) and value in inner, words, words)
    kind = origin or annotation
    if not isclass(kind) or kind is object or not _tells(kind):
        return None
    if issubclass(kind, Mapping):
        return Kind(lambda value: isinstance(value, Mapping), "a dict", "dicts")
    if kind in (Iterable, Sequence, list, tuple, set, frozenset):
        alike = len({one for one in inner if one is not ...}) == 1
        return _list_of(kind_of(inner[0], look=False) if alike else None, kind, look and kind is not Iterable)
    article = "an" if kind.__name__[0] in "AEIOU" else "a"
    example = EXAMPLES.get(kind.__name__, "")
    return Kind(
        lambda value: isinstance(value, kind), f"{article} {kind.__name__}{example}", f"{kind.__name__}s"
    )


def _tells(kind: type) -> bool:
    """Tell whether it can be asked for its instances, as most protocols cannot."""
    try:
        return not isinstance(None, kind)
    except TypeError:
        return False


def _any_of(annotations: list[Any], look: bool) -> Kind | None:
    if set(get_args(ArrayLike)) <= set(annotations):
        annotations = [ArrayLike, *(one for one in annotations if one not in get_args(ArrayLike))]
    if {str, Path} <= set(annotations):
        annotations = [PATH, *(one for one in annotations if one not in (str, Path))]
    if {int, float} <= set(annotations):
        annotations.remove(int)
    kinds = [kind_of(one, look=look) for one in annotations]
    known = [kind for kind in kinds if kind is not None]
    if len(known) < len(kinds):
        return None
    return Kind(
        lambda value: any(kind.fits(value) for kind in known),
        " or ".join(kind.one for kind in known),
        " or ".join(kind.many for kind in known),
    )


def _list_of(element: Kind | None, kind: type, look: bool) -> Kind:
    """What is only asked to be iterable may be read once, and be long: its elements are not looked at, nor those of lists in lists."""
    taken = Iterable if kind is Iterable else (Sequence, set, frozenset, np.ndarray, pl.Series)

    def fits(value: Any) -> bool:
        if type(value) not in (list, tuple) and (  # which most are, and abstract classes are slow to ask
            not isinstance(value, taken) or isinstance(value, str | bytes | Mapping)
        ):
            return False
        return element is None or not look or all(map(element.fits, value))

    of = "" if element is None else f" of {element.many}"
    return Kind(fits, f"a list{of}", f"lists{of}")


def _whole(value: Any) -> bool:
    return type(value) is int or (isinstance(value, Integral) and not isinstance(value, bool))


def _number(value: Any) -> bool:
    return type(value) in (int, float) or (isinstance(value, Real) and not isinstance(value, bool))


def _numbers(value: Any) -> bool:
    if isinstance(value, np.ndarray):
        return value.dtype.kind in "biuf"
    try:
        return not isinstance(value, bool) and np.asarray(value).dtype.kind in "biuf"
    except (TypeError, ValueError):  # lists of different lengths
        return False


EXAMPLES = {
    "Schema": ", such as Schema.from_toml('sudare.toml')",
    "Table": ", such as sd.read(...) returns",
    "Hierarchy": ", such as Hierarchy.intervals(...)",
}
"""How to get what is asked for."""
PATH = "path"
"""In the place of `str | Path`."""
PLAIN: dict[Any, Kind | None] = {
    Any: None,
    NoneType: Kind(lambda value: value is None, "None", "None"),
    bool: Kind(lambda value: isinstance(value, bool | np.bool_), "True or False", "truth values"),
    int: Kind(_whole, "a whole number", "whole numbers"),
    float: Kind(_number, "a number", "numbers"),
    str: Kind(lambda value: isinstance(value, str), "a text", "texts"),
    bytes: Kind(lambda value: isinstance(value, bytes), "bytes", "bytes"),
    Path: Kind(lambda value: isinstance(value, str | Path), "a path", "paths"),
    Callable: Kind(callable, "a function", "functions"),
    PATH: Kind(lambda value: isinstance(value, str | Path), "a path", "paths"),
    ArrayLike: Kind(_numbers, "an array of numbers", "arrays of numbers"),
    np.ndarray: Kind(lambda value: isinstance(value, np.ndarray), "a numpy array", "numpy arrays"),
}
