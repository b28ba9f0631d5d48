"""What verbs ask of their arguments, before any work."""

from __future__ import annotations

from sudare.errors import ParameterError
from sudare.tables.table import Table


def table_given(table: object, verb: str) -> None:
    """Refuse what is no table.

    >>> table_given([1, 2], "generalize")
    Traceback (most recent call last):
    sudare.errors.ParameterError: generalize needs a table that was read: sd.read(...). Got list instead.
    """
    if not isinstance(table, Table):
        raise ParameterError(
            f"{verb} needs a table that was read: sd.read(...). Got {type(table).__name__} instead."
        )
