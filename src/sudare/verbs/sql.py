"""The verb `sql`: a plan as one SELECT, by which a warehouse does to its own rows what was learned."""

from __future__ import annotations

import datetime as dt
from typing import Literal, get_args

import numpy as np
import polars as pl
import sqlglot
from sqlglot import exp

from sudare.engines.read import read
from sudare.engines.rewriting import Labels, Rewriting
from sudare.errors import InputError, ParameterError
from sudare.plans.one_by_one import RowPlan, row_plan
from sudare.plans.plan import Plan
from sudare.plans.sql import MATCHED, SOURCE, Lookup, lookup
from sudare.plans.sql_words import Word, column, compared, every, name, query, word
from sudare.plans.sql_words import table as named
from sudare.privacy.k_anonymity import KAnonymity
from sudare.privacy.l_diversity import LDiversity
from sudare.privacy.requirement import BlockRequirement, one_of
from sudare.tables.attribute import Attribute, Role, Type
from sudare.tables.given import kind_given
from sudare.tables.schema import Schema, schema_given
from sudare.tables.text import listed, shown, texts_of
from sudare.tables.types import declared_values, lists_values
from sudare.verbs.apply import Unseen
from sudare.verbs.true_labels import refuse_false_labels
from sudare.verification.columns import refuse_columns

Dialect = Literal["duckdb", "postgres", "spark", "bigquery", "snowflake"]
DIALECTS: tuple[Dialect, ...] = get_args(Dialect)
LABELLED = "sudare_labelled"


def sql(
    plan: Plan,
    schema: Schema,
    *,
    table: str = "people",
    dialect: Dialect = "duckdb",
    unseen: Unseen = "refuse",
) -> str:
    """Write a plan of generalization as a SELECT that publishes the rows of a table, in the dialect of a warehouse.

    What comes out is recounted by the statement itself, and comes out whole or not at all: there are no rows where a requirement of the plan does
    not hold on them, where a value is not what the schema declares, or, with unseen="refuse", where the plan does not cover a row; with "suppress",
    such rows are left out. A row is looked up alone, and a value that the plan does not know is not covered, though `apply` may find a place for it
    between others. Rows stand in the order of what is published. No statement tells the ledger, or makes a certificate: let `verify` do so on what comes out.

    The statement holds the plan, which tells about the table that it was learned from: it stays with you.

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
    own = row_plan(plan)
    _refuse_what_sql_cannot(own, schema)
    _refuse_false_labels(own, schema)
    published = [one for one in schema.attributes if schema[one].treated_as != Role.identifier]
    _refuse_names(published, dialect)
    stored = {one: f"column_{i}" for i, one in enumerate(published)}
    found = lookup(own, schema, stored)
    parts = [
        query(SOURCE, _source(table, dialect, stored)),
        *found.parts,
        query(LABELLED, _labelled(found, stored)),
    ]
    conditions = _conditions(own, schema, stored, unseen)
    statement = (
        exp.select(*(exp.alias_(column(short, LABELLED), one, quoted=True) for one, short in stored.items()))
        .from_(named(LABELLED))
        .where(every(conditions), copy=False)
        .order_by(*(column(short, LABELLED) for short in stored.values()), copy=False)
    )
    statement.set("with_", exp.With(expressions=parts))
    return statement.sql(dialect=dialect, pretty=True, copy=False)


def _source(table: str, dialect: Dialect, stored: dict[str, str]) -> exp.Select:
    """Select the columns that are published, under short names of our own."""
    try:
        asked = sqlglot.parse_one(table, into=exp.Table, dialect=dialect)
    except sqlglot.errors.SqlglotError:
        asked = None
    if not isinstance(asked, exp.Table) or any(not isinstance(part, exp.Identifier) for part in asked.parts):
        raise ParameterError(
            f"The 'table' parameter of sql must be the name of a table in {dialect}, such as clinic.people; other signs are quoted in it. "
            f"Got {shown(table)} instead."
        )
    rows = exp.Table(**{part: asked.args.get(part) for part in ("this", "db", "catalog")})
    rows.set("alias", exp.TableAlias(this=name("stored")))
    return exp.select(
        *(exp.alias_(column(one, "stored"), short, quoted=True) for one, short in stored.items())
    ).from_(rows)


def _labelled(found: Lookup, stored: dict[str, str]) -> exp.Select:
    """Select what is published of every row that is covered."""
    return found.placed.select(
        *(
            exp.alias_(found.labels.get(one, column(short, MATCHED)), short, quoted=True)
            for one, short in stored.items()
        ),
        copy=False,
    )


# -- What must hold ------------------------------------------------------------------------------------


def _conditions(plan: RowPlan, schema: Schema, stored: dict[str, str], unseen: Unseen) -> list[Word]:
    """Return what must hold of what comes out, or nothing does."""
    conditions: list[Word] = [exp.not_(exp.Exists(this=_broken(plan, schema, stored)))]
    wrong = [
        _undeclared(one, schema, column(short, SOURCE), passed=one not in plan.trees)
        for one, short in stored.items()
    ]
    if some := [own for own in wrong if own is not None]:
        conditions.append(
            exp.not_(exp.Exists(this=exp.select("1").from_(named(SOURCE)).where(exp.or_(*some))))
        )
    if unseen == "refuse":
        conditions.append(exp.EQ(this=_rows_of(SOURCE), expression=_rows_of(LABELLED)))
    return conditions


def _rows_of(relation: str) -> Word:
    return exp.select("COUNT(*)").from_(named(relation)).subquery()


def _broken(plan: RowPlan, schema: Schema, stored: dict[str, str]) -> exp.Select:
    """Select the blocks, as they are seen in what comes out, that lack what is required."""
    quasi = [column(stored[one], LABELLED) for one in plan.trees]
    fewer = [
        exp.LT(this=_measured(one, schema, stored), expression=word(_least(one))) for one in plan.requirements
    ]
    return exp.select("1").from_(named(LABELLED)).group_by(*quasi).having(exp.or_(*fewer))


def _least(requirement: BlockRequirement) -> int:
    return requirement.k if isinstance(requirement, KAnonymity) else int(requirement.l)  # type: ignore[attr-defined]


def _measured(requirement: BlockRequirement, schema: Schema, stored: dict[str, str]) -> Word:
    """Count the rows of a block, or its sensitive values; a missing one is a value, too."""
    if isinstance(requirement, KAnonymity):
        return exp.Count(this=exp.Star())
    value = column(stored[_sensitive(requirement, schema)], LABELLED)
    missing = exp.Case().when(exp.Is(this=value.copy(), expression=exp.null()), word(1)).else_(word(0))
    return exp.Add(this=exp.Count(this=exp.Distinct(expressions=[value])), expression=exp.Max(this=missing))


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


def _undeclared(of: str, schema: Schema, value: Word, *, passed: bool) -> Word | None:
    """Return when a value is not what the schema declares; of those that are looked up, only whether it is missing."""
    attribute = schema[of]
    missing = exp.Is(this=value.copy(), expression=exp.null())
    wrong: list[Word] = [missing] if schema.missing == "refuse" else []
    if passed and lists_values(attribute):
        values, seen = compared(of, attribute, texts_of(declared_values(of, attribute)), value)
        wrong.append(exp.and_(exp.not_(missing), exp.not_(exp.In(this=seen, expressions=values))))
    elif passed and attribute.bounds is not None:
        (low, high), seen = compared(of, _typed(attribute), [str(end) for end in attribute.bounds], value)
        wrong.append(exp.and_(exp.not_(missing), exp.not_(exp.Between(this=seen, low=low, high=high))))
    return exp.or_(*wrong) if wrong else None


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


def _refuse_names(published: list[str], dialect: Dialect) -> None:
    """Refuse names that a database cannot quote; names that look alike were refused before."""
    for one in published:
        if (
            "\0" in one
            or (dialect == "bigquery" and set(one) & set("`\\"))
            or (dialect == "spark" and "${" in one)
        ):
            raise InputError(f"{dialect} has no column with the name {shown(one)}.")


def _refuse_false_labels(plan: RowPlan, schema: Schema) -> None:
    """Refuse a plan that publishes a label that is not true of a value by the schema: its file may be anybody's."""
    leaves = {one: list(tree.leaves) for one, tree in plan.trees.items()}
    rows = max(len(own) for own in leaves.values())
    padded = {one: _as_read(own + [own[0]] * (rows - len(own))) for one, own in leaves.items()}
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
        distinct = list(dict.fromkeys(labels))
        place = np.array([distinct.index(label) for label in labels], dtype=np.int64)
        published = {one: Labels(pl.Series(distinct, dtype=pl.String), place)}
        refuse_false_labels(table, Rewriting((one,), codes[:, None], published))


def _as_read(texts: list[str | None]) -> pl.Series:
    """Return leaves as the numbers or dates that they all are, or as texts."""
    series = pl.Series(texts, dtype=pl.String)
    for dtype in (pl.Int64, pl.Float64, pl.Date):
        typed = (
            series.cast(dtype, strict=False)
            if dtype != pl.Date
            else series.str.to_date("%Y-%m-%d", strict=False)
        )
        if typed.null_count() == series.null_count() and series.null_count() < len(series):
            return typed
    return series
