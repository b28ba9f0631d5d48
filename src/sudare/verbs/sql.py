"""The verb `sql`: a plan as one SELECT, by which a warehouse does to its own rows what was learned."""

from __future__ import annotations

import datetime as dt
import re
import secrets
from collections.abc import Mapping
from io import BytesIO
from pathlib import Path

import numpy as np
import polars as pl
import sqlglot
from sqlglot import exp

from sudare.engines.read import read
from sudare.engines.rewriting import Labels, Rewriting
from sudare.errors import InputError, ParameterError
from sudare.plans.one_by_one import RowPlan, row_plan
from sudare.plans.plan import Plan
from sudare.plans.sql import FILLED, FOUND, LABELLED, MATCHED, SOURCE, lookup_of, number_of
from sudare.plans.sql_dialects import DIALECTS, WRITTEN_FOR, Dialect, DialectName
from sudare.plans.sql_lists import ELSEWHERE, LOADED, TEXT, Listed, as_table, compared, read_from
from sudare.privacy.k_anonymity import KAnonymity
from sudare.privacy.l_diversity import LDiversity
from sudare.privacy.requirement import BlockRequirement, one_of
from sudare.tables.atomic import write_file
from sudare.tables.attribute import Attribute, Role, Type
from sudare.tables.given import kind_given, path_given
from sudare.tables.parsing import infer_type
from sudare.tables.schema import Schema, schema_given
from sudare.tables.text import listed, shown, texts_of
from sudare.tables.types import declared_values, lists_values
from sudare.verbs.apply import Unseen
from sudare.verbs.true_labels import refuse_false_labels
from sudare.verification.columns import refuse_columns


def sql(
    plan: Plan,
    schema: Schema,
    *,
    table: str = "people",
    dialect: DialectName = "duckdb",
    unseen: Unseen = "refuse",
    lookup: str | Path | None = None,
) -> str:
    """Write a plan of generalization as a SELECT that publishes the rows of a table, in the dialect of a warehouse.

    What comes out is recounted by the statement itself, and comes out whole or not at all: there are no rows where a requirement of the plan does
    not hold on them, where a value is not what the schema declares, or, with unseen="refuse", where the plan does not cover a row. With "suppress",
    such rows are left out, and so are blocks that the others do not fill. A row is looked up alone, and a value that the plan does not know is not covered, though `apply` may find a place for it
    between others. Rows stand in the order of what is published: of an attribute that the plan is about, what the plan has, in the type that the schema
    says, and else as text. The table must give the same rows each time that it is read, as a view that draws some at random does not. No statement tells the ledger, or makes a certificate: let `verify` do so on what comes out.

    With `lookup`, a Parquet file, the plan's lists go there, and the statement stays small: it reads them from the table of the file's name beside
    `table`, into which the file is loaded. If that has not each row of it once, as it was written, nothing comes out: the statement has a secret,
    new each time, by which it knows them.

    The statement, like such a file, holds the plan, which tells about the table that it was learned from: both stay with you.

    >>> import polars as pl, sudare as sd
    >>> people = pl.DataFrame({"age": [20, 25, 31, 38], "ill": ["a", "b", "a", "b"]})
    >>> schema = sd.Schema.from_roles(quasi=["age"], sensitive=["ill"], types={"age": "integer"},
    ...     hierarchies={"age": sd.Hierarchy.intervals(range(99), width=10)})
    >>> plan = sd.generalize(sd.read(people, schema), sd.KAnonymity(2), method="mondrian").plan
    >>> import duckdb
    >>> duckdb.sql(sd.sql(plan, schema)).fetchall()
    [('[20, 30)', 'a'), ('[20, 30)', 'b'), ('[30, 40)', 'a'), ('[30, 40)', 'b')]
    """
    if not isinstance(plan, Plan):
        raise ParameterError(
            f"sql needs a plan, such as release.plan or Plan.open(...). Got {type(plan).__name__} instead."
        )
    schema_given(schema, "sql")
    kind_given(table, str, "table", "sql", "the name of a table, such as 'people' or 'clinic.people'")
    one_of(dialect, "dialect", "sql", DIALECTS)
    one_of(unseen, "unseen", "sql", ("refuse", "suppress"))
    if lookup is not None:
        path_given(lookup, "lookup", "sql")
    own, of = row_plan(plan), WRITTEN_FOR[dialect]
    _refuse_what_sql_cannot(own, schema)
    _refuse_false_labels(own, schema)
    published = [one for one in schema.attributes if schema[one].treated_as != Role.identifier]
    stored = {one: f"column_{i}" for i, one in enumerate(published)}
    rows = _table(table, dialect)
    found = lookup_of(own, schema, stored, of)
    declared, conditions = _conditions(own, schema, stored, unseen, of)
    lists = [*declared, *found.lists]
    source = ", ".join(f"stored.{of.named(one)} AS {short}" for one, short in stored.items())
    queries = {SOURCE: f"SELECT {source} FROM {rows} AS stored"}
    if lookup is None:
        queries |= {one.name: one.inline(of) for one in lists}
    else:
        secret = secrets.token_hex(16)
        loaded = as_table(lists, secret)
        queries[LOADED], complete = read_from(_table(table, dialect, Path(lookup).stem), loaded, secret, of)
        queries |= {one.name: one.loaded(of) for one in lists}
        conditions += complete
    queries |= found.queries
    if unseen == "suppress":
        queries[FILLED] = _filled(own, schema, stored)
    statement = _statement(queries, conditions, stored, own, of)
    if of.most_bytes and len(statement.encode()) > of.most_bytes:
        raise ParameterError(
            f"The statement has {len(statement.encode()):,} bytes, and {dialect} takes {of.most_bytes:,}. {ELSEWHERE if lookup is None else ''}"
        )
    if lookup is not None:
        held = BytesIO()
        loaded.write_parquet(held)
        write_file(Path(lookup), held.getvalue(), private=True)
    return statement


def _table(given: str, dialect: DialectName, instead: str | None = None) -> str:
    """Return the name of a table as it was given, or that of another one beside it."""
    try:
        asked = sqlglot.parse_one(given, into=exp.Table, dialect=dialect)
    except sqlglot.errors.SqlglotError:
        asked = None
    if not isinstance(asked, exp.Table) or any(not isinstance(part, exp.Identifier) for part in asked.parts):
        raise ParameterError(
            f"The 'table' parameter of sql must be the name of a table in {dialect}, such as clinic.people; other signs are quoted in it. "
            f"Got {shown(given)} instead."
        )
    parts = {part: asked.args.get(part) for part in ("this", "db", "catalog")}
    if instead is not None:
        if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", instead):
            raise ParameterError(
                f"The 'lookup' parameter of sql must be a file whose name is that of a table: letters, digits and _. Got {shown(instead)} instead."
            )
        parts["this"] = exp.to_identifier(instead)
    return exp.Table(**parts).sql(dialect=dialect)


def _statement(
    queries: Mapping[str, str], conditions: list[str], stored: Mapping[str, str], plan: RowPlan, of: Dialect
) -> str:
    """Put queries and conditions together; of rows that a database takes for equal, their texts decide on the order."""
    several = {SOURCE, LABELLED, LOADED}
    if (
        of.name == "postgres"
    ):  # which knows nothing of lists, and takes joins of many of them for a row or two, and so for loops
        several |= {MATCHED, FOUND}
    parts = ",\n".join(
        f"{name} AS {of.materialized if name in several else ''}(\n{query})"
        for name, query in queries.items()
    )
    names = ", ".join(f"{short} AS {of.named(one)}" for one, short in stored.items())
    order = [number_of(short) if one in plan.trees else short for one, short in stored.items()]
    order += [of.same(short) for one, short in stored.items() if one not in plan.trees]
    return "\n".join(
        [
            f"WITH {parts}",
            f"SELECT {names} FROM {LABELLED}",
            "WHERE " + "\nAND ".join(conditions),
            f"ORDER BY {', '.join(order)}",
        ]
    )


# -- What must hold ------------------------------------------------------------------------------------


def _conditions(
    plan: RowPlan, schema: Schema, stored: dict[str, str], unseen: Unseen, of: Dialect
) -> tuple[list[Listed], list[str]]:
    """Return what must hold of what comes out, or nothing does, and the values that it needs."""
    numbers = [number_of(stored[one]) for one in plan.trees]
    if unseen == "suppress":  # blocks that the rows do not fill are left out, as `apply` does
        same = " AND ".join(f"filled.{one} = {LABELLED}.{one}" for one in numbers)
        conditions = [f"EXISTS (SELECT 1 FROM {FILLED} AS filled WHERE {same})"]
    else:  # none may be short
        conditions = [f"NOT EXISTS ({_broken(plan, schema, stored)})"]
    lists: list[Listed] = []
    for one, short in stored.items():
        if schema.missing == "refuse":
            conditions.append(f"NOT EXISTS (SELECT 1 FROM {SOURCE} WHERE {short} IS NULL)")
        if one in plan.trees:
            continue  # what the plan has no value for is not covered
        if lists_values(schema[one]):
            values, kind = compared(one, schema[one], texts_of(declared_values(one, schema[one])))
            here = f"declared_{short}"
            lists.append(Listed(here, {}, values, kind))
            conditions.append(
                f"NOT EXISTS (SELECT 1 FROM {SOURCE} AS s LEFT JOIN {here} ON {of.equal(f's.{short}', f'{here}.{TEXT}', kind)} "
                f"WHERE s.{short} IS NOT NULL AND {here}.{TEXT} IS NULL)"
            )
        elif schema[one].bounds is not None:
            conditions.append(f"NOT EXISTS (SELECT 1 FROM {SOURCE} WHERE {_outside(one, schema, short, of)})")
    if unseen == "refuse":
        conditions.append(f"(SELECT COUNT(*) FROM {SOURCE}) = (SELECT COUNT(*) FROM {LABELLED})")
    return lists, conditions


def _outside(one: str, schema: Schema, short: str, of: Dialect) -> str:
    attribute = _typed(schema[one])
    assert attribute.bounds is not None
    ends = [compared(one, attribute, [str(end)]) for end in attribute.bounds]
    low, high = (of.cast(f"'{own}'", kind) for (own,), kind in ends)
    return f"{short} IS NOT NULL AND NOT ({short} BETWEEN {low} AND {high})"


def _broken(plan: RowPlan, schema: Schema, stored: dict[str, str]) -> str:
    """Select the blocks, as they are seen in what comes out, that lack what is required."""
    fewer = [f"{_measured(one, schema, stored)} < {_least(one)}" for one in plan.requirements]
    return f"{_blocks(plan, stored)} HAVING {' OR '.join(fewer)}"


def _filled(plan: RowPlan, schema: Schema, stored: dict[str, str]) -> str:
    """Select the blocks, as they are seen in what comes out, that have what is required."""
    enough = [f"{_measured(one, schema, stored)} >= {_least(one)}" for one in plan.requirements]
    return f"{_blocks(plan, stored)} HAVING {' AND '.join(enough)}"


def _blocks(plan: RowPlan, stored: dict[str, str]) -> str:
    numbers = ", ".join(number_of(stored[one]) for one in plan.trees)
    return f"SELECT {numbers} FROM {LABELLED} GROUP BY {numbers}"


def _least(requirement: BlockRequirement) -> int:
    return requirement.k if isinstance(requirement, KAnonymity) else int(requirement.l)  # type: ignore[attr-defined]


def _measured(requirement: BlockRequirement, schema: Schema, stored: dict[str, str]) -> str:
    """Count the rows of a block, or its sensitive values; a missing one is a value, too."""
    if isinstance(requirement, KAnonymity):
        return "COUNT(*)"
    value = stored[_sensitive(requirement, schema)]
    return f"COUNT(DISTINCT {value}) + MAX(CASE WHEN {value} IS NULL THEN 1 ELSE 0 END)"


def _sensitive(requirement: BlockRequirement, schema: Schema) -> str:
    names = (
        [requirement.attribute]
        if isinstance(requirement, LDiversity) and requirement.attribute
        else schema.names(Role.sensitive)
    )
    if len(names) != 1 or names[0] not in schema:
        raise InputError(
            f"{requirement} is about one sensitive attribute, and the schema has {listed(names) or 'none'}."
        )
    return names[0]


def _typed(attribute: Attribute) -> Attribute:
    """Return an attribute with bounds as what its bounds are, where no type is declared."""
    low = None if attribute.bounds is None else attribute.bounds[0]
    written: Type = (
        "number" if isinstance(low, int | float) else "datetime" if isinstance(low, dt.datetime) else "date"
    )
    kind = attribute.type or written
    return attribute.model_copy(update={"type": kind})


# -- What is refused -----------------------------------------------------------------------------------


def _refuse_what_sql_cannot(plan: RowPlan, schema: Schema) -> None:
    """Refuse what a statement could not carry out, or not recount."""
    quasi = schema.names(Role.quasi)
    if set(quasi) != set(plan.trees):
        raise InputError(
            f"The plan is for the quasi attributes {listed(list(plan.trees))}, and the schema has {listed(quasi)}. Give the schema that it was learned with."
        )
    for requirement in plan.requirements:
        plain = (
            isinstance(requirement, LDiversity)
            and requirement.kind == "distinct"
            and not requirement.harmless
        )
        if not plain and not isinstance(requirement, KAnonymity):
            raise ParameterError(
                f"{requirement} cannot be recounted in SQL, only k-anonymity and distinct l-diversity without harmless values. Apply the plan with sd.apply(...)."
            )
        if plain:
            _sensitive(requirement, schema)
    if schema.unit is not None:
        raise ParameterError(
            f"The schema protects all rows of one '{schema.unit}' together, and a statement counts rows. Apply the plan with sd.apply(...)."
        )
    if schema.missing_values is not None:
        raise ParameterError(
            "The schema has missing_values, texts that mean a missing value. Put NULL in their place in the warehouse, and leave them out of the schema."
        )
    published = {one: own for one, own in schema.attributes.items() if own.treated_as != Role.identifier}
    refuse_columns(list(published), schema)
    for one, own in published.items():
        if own.outside == "clip" and one not in plan.trees:
            raise ParameterError(
                f"'{one}' has values that are to be clipped, and a statement publishes it as it is. Clip them in the warehouse, and declare outside = \"refuse\"."
            )


def _refuse_false_labels(plan: RowPlan, schema: Schema) -> None:
    """Refuse a plan that publishes a label that is not true of a value by the schema: its file may be anybody's."""
    leaves = {one: list(tree.leaves) for one, tree in plan.trees.items()}
    rows = max(len(own) for own in leaves.values())
    padded = {one: _as_read(own + [own[0]] * (rows - len(own)), schema[one]) for one, own in leaves.items()}
    attributes = {one: schema[one] for one in leaves}
    table = read(pl.DataFrame(padded), schema.model_copy(update={"attributes": attributes}))
    planned = plan.with_trees(table)
    for one in plan.trees:
        tree = planned[one].hierarchy
        assert tree is not None  # with_trees gave every quasi attribute one
        levels = range(tree.height + 1)
        codes = np.tile(np.arange(table[one].size, dtype=np.int32), len(levels))
        labels = [
            label
            for level in levels
            for label in np.array(tree.labels[level], dtype=object)[tree.codes[level]]
        ]
        places = {label: at for at, label in enumerate(dict.fromkeys(labels))}
        place = np.array([places[label] for label in labels], dtype=np.int64)
        published = {one: Labels(pl.Series(list(places), dtype=pl.String), place)}
        refuse_false_labels(table, Rewriting((one,), codes[:, None], published))


def _as_read(texts: list[str | None], attribute: Attribute) -> pl.Series:
    """Return leaves as the numbers or dates that they all are, or as texts, if they are declared as such, or look like 007."""
    series = pl.Series(texts, dtype=pl.String)
    if (attribute.type or infer_type(series)) == "text":
        return series
    for dtype in (pl.Int64, pl.Float64, pl.Date):
        typed = (
            series.cast(dtype, strict=False)
            if dtype != pl.Date
            else series.str.to_date("%Y-%m-%d", strict=False)
        )
        if typed.null_count() == series.null_count() and series.null_count() < len(series):
            return typed
    return series
