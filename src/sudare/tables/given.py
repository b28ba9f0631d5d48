"""What functions ask of their arguments, before any work: another kind of thing is refused by its name."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from sudare.errors import ParameterError
from sudare.tables.runs import PublishedRows


def kind_given(value: object, kind: type | tuple[type, ...], name: str, owner: str, must_be: str) -> None:
    """Refuse an argument that is another kind of thing; `must_be` says in words what it must be.

    >>> kind_given(2, str, "memory", "read", "a size such as '2GB'")
    Traceback (most recent call last):
    sudare.errors.ParameterError: The 'memory' parameter of read must be a size such as '2GB'. Got int instead.
    """
    if not isinstance(value, kind):
        raise ParameterError(
            f"The '{name}' parameter of {owner} must be {must_be}. Got {type(value).__name__} instead."
        )


def flag_given(value: object, name: str, owner: str) -> None:
    """Refuse what is neither true nor false."""
    kind_given(value, bool, name, owner, "True or False")


def path_given(path: object, name: str, owner: str) -> None:
    """Refuse what is no path."""
    kind_given(path, (str, Path), name, owner, "a path")


def published_given(output: object, verb: str, *also: type) -> None:
    """Refuse what cannot be a published table; a verb may take other things `also`.

    >>> published_given(5, "verify")
    Traceback (most recent call last):
    sudare.errors.ParameterError: verify needs what was published: a polars frame, a file, or the folder of a release. Got int instead.
    """
    if not isinstance(output, (pl.DataFrame, PublishedRows, str, Path, *also)):
        raise ParameterError(
            f"{verb} needs what was published: a polars frame, a file, or the folder of a release. Got "
            f"{type(output).__name__} instead."
        )
