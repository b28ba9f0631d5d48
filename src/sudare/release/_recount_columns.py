"""Which columns an output may have: those that the schema publishes, each once, and none that looks like another."""

from __future__ import annotations

from collections.abc import Sequence

from sudare.errors import InputError, RequirementError
from sudare.tables.lookalikes import skeleton
from sudare.tables.schema import Role, Schema


def refuse_columns(names: Sequence[str], schema: Schema, where: str = "The output") -> None:
    """Raise an error that names the first column that must not be there, or is not there.

    >>> refuse_columns(["age", "Name"], Schema.from_roles(identifier=["name"], quasi=["age"]))
    Traceback (most recent call last):
    ...
    sudare.errors.RequirementError: The output has the column 'Name', which looks like the identifier 'name'. Drop it.
    """
    for i, name in enumerate(names):
        if name in names[:i]:
            raise RequirementError(f"{where} has two columns named '{name}'. Keep one.")
        if name in schema and schema[name].role == Role.identifier:
            raise RequirementError(f"{where} still has the identifier '{name}'. It must be dropped.")
        if name not in schema:
            raise RequirementError(f"{where} has the column {name!r}, {_unknown(name, schema)}")
        if twins := [other for other in names[:i] if skeleton(other) == skeleton(name)]:
            raise RequirementError(
                f"{where} has the columns {twins[0]!r} and {name!r}, which look alike. Rename one, or drop it."
            )
        if twins := [other for other in _twins(name, schema) if other != name and other not in names]:
            raise RequirementError(
                f"{where} has the column {name!r}, which looks like {_described(twins[0], schema)} of the schema. "
                "Rename one of the two."
            )
    if absent := [name for name in schema.names(Role.quasi) if name not in names]:
        raise InputError(f"{where} has no column '{absent[0]}', which the schema calls quasi.")


def _unknown(name: str, schema: Schema) -> str:
    if twins := _twins(name, schema):
        return f"which looks like {_described(twins[0], schema)}. Drop it."
    return (
        "which the schema does not mention. Drop it, or say in the schema whether it is quasi, sensitive or other."
    )


def _twins(name: str, schema: Schema) -> list[str]:
    own = skeleton(name)
    return [other for other in schema.attributes if skeleton(other) == own]


def _described(name: str, schema: Schema) -> str:
    return f"the {schema[name].role} {name!r}"
