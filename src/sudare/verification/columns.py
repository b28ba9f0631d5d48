"""Which columns an output may have: those that the schema publishes, each once, and none that looks like another."""

from __future__ import annotations

from collections.abc import Sequence

from sudare.errors import RequirementError
from sudare.tables.attribute import Role
from sudare.tables.lookalikes import skeleton
from sudare.tables.schema import Schema


def refuse_columns(names: Sequence[str], schema: Schema, where: str = "The output") -> None:
    """Raise a RequirementError that names the first column that must not be there.

    >>> refuse_columns(["age", "Name"], Schema.from_roles(identifier=["name"], quasi=["age"]))
    Traceback (most recent call last):
    ...
    sudare.errors.RequirementError: The output has the column 'Name', which looks like the identifier 'name'. Drop it.
    """
    alike: dict[str, list[str]] = {}
    for name in dict.fromkeys([*schema.attributes, *names]):
        alike.setdefault(skeleton(name), []).append(name)
    seen: set[str] = set()
    for name in names:
        twins = [
            other
            for other in alike[skeleton(name)]
            if other != name and (other in schema or name not in schema)
        ]
        if name in seen:
            raise RequirementError(f"{where} has two columns named {name!r}. Keep one.")
        if name in schema and schema[name].treated_as == Role.identifier:
            raise RequirementError(f"{where} still has the identifier {name!r}. It must be dropped.")
        if twins:
            advice = "Rename one of the two." if name in schema else "Drop it."
            raise RequirementError(
                f"{where} has the column {name!a}, which looks like {_described(twins[0], schema)}. {advice}"
            )
        if name not in schema:
            raise RequirementError(
                f"{where} has the column {name!r}, which the schema does not mention. Drop it, or say in the schema "
                "whether it is quasi, sensitive or other."
            )
        seen.add(name)


def _described(name: str, schema: Schema) -> str:
    """Name what a column looks like; signs that look Latin are written as their codes."""
    if name not in schema:
        return f"the column {name!a}"
    role = schema[name].treated_as
    return f"the identifier {name!a}" if role == Role.identifier else f"the {role} attribute {name!a}"
