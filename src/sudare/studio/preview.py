"""A sample for previews: rows drawn at random, whichever engine holds them, with the hierarchies of the whole table."""

from __future__ import annotations

import polars as pl

from sudare.tables.attribute import Attribute, Role
from sudare.tables.hierarchy import Hierarchy
from sudare.tables.schema import CsvFormat, Schema
from sudare.tables.table import Table
from sudare.tables.undeclared import type_of

ROWS = 10_000


def sample_of(table: Table, seed: int) -> pl.DataFrame:
    """Draw rows of the columns that are quasi or sensitive.

    >>> import sudare as sd
    >>> table = sd.read(pl.DataFrame({"age": [20, 30], "name": ["A", "B"]}), sd.Schema.from_roles(quasi=["age"], identifier=["name"]))
    >>> sample_of(table, 1)["age"].to_list()
    [20, 30]
    """
    names = [name for name in table.columns if name in table.names(Role.quasi) + table.names(Role.sensitive)]
    codes = table.rows.sample(names, ROWS, seed)
    return pl.DataFrame([table[name].decode(codes[:, place]).alias(name) for place, name in enumerate(names)])


def fixed(table: Table, names: list[str]) -> Schema:
    """Return the schema of a sample: the columns that it has, with hierarchies that do not depend on which rows were drawn."""
    attributes = {}
    for name in names:
        own = table.schema[name]
        hierarchy = table[name].hierarchy
        changes: dict[str, object] = {"format": None}  # what is drawn has its type already
        if isinstance(hierarchy, Hierarchy) and own.treated_as == Role.quasi:
            changes |= {"hierarchy": hierarchy, "role": Role.quasi, "known": True}
        attributes[name] = own.model_copy(update=changes)
    return schema_of_columns(table.schema, attributes)


def declared(sample: Table) -> Schema:
    """Return the schema of a sample with what nobody has declared yet, by its own values: for a preview, which nobody is given."""
    attributes = {}
    for name, own in sample.schema.attributes.items():
        values = sample[name].values
        if own.domain is None and own.bounds is None and len(values):
            several = type_of(values.dtype) != "text" and values.min() != values.max()
            public = {"bounds": (values.min(), values.max())} if several else {"domain": values.to_list()}
            own = Attribute.model_validate({key: getattr(own, key) for key in own.model_fields_set} | public)
        attributes[name] = own
    return schema_of_columns(sample.schema, attributes)


def schema_of_columns(schema: Schema, attributes: dict[str, Attribute]) -> Schema:
    """Return a schema that has some columns only, as they are once they were read."""
    only = {"attributes": attributes, "csv": CsvFormat(), "sheet": None, "publish": None}
    return schema.model_copy(update=only | {"missing": "own value"})
