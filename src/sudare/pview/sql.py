"""SQL that a p-view answers: SELECT COUNT(*) with WHERE, GROUP BY, HAVING, ORDER BY and LIMIT."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from typing import Any

import polars as pl
import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from sudare.errors import InputError
from sudare.pview.conditions import Comparison, Condition, Every, Sign, Some
from sudare.pview.domain import Domain
from sudare.pview.pview import PView
from sudare.pview.questions import Order, Question, ask
from sudare.tables.text import listed, shown

DIALECT = "postgres"
TABLE = "view"
COUNT = "count"
SUPPORTED = (
    "A p-view answers SELECT [columns of GROUP BY,] COUNT(*) [AS name] FROM view [WHERE ...] [GROUP BY columns] "
    "[HAVING COUNT(*) ...] [ORDER BY columns or COUNT(*)] [LIMIT n]. A condition compares a column with values: "
    "=, <>, <, <=, >, >=, BETWEEN, IN, IS NULL, and AND, OR and NOT of these."
)
SIGNS: dict[type[exp.Expr], Sign] = {
    exp.EQ: "=", exp.NEQ: "=", exp.LT: "<", exp.LTE: "<=", exp.GT: ">", exp.GTE: ">=",
}  # fmt: skip
TURNED: dict[Sign, Sign] = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "=": "="}
CALLED = {"joins": "A join", "with_": "WITH", "sample": "TABLESAMPLE", "locks": "FOR UPDATE or SHARE"}


def answer(pview: PView, query: str) -> pl.DataFrame:
    """Answer a query: the columns it asks for, and the ends of the 95% interval of every count.

    >>> import sudare as sd
    >>> table = sd.read(sd.datasets.health_survey(2000).select("age", "sex"), sd.Schema.from_roles(
    ...     quasi=["age", "sex"], bounds={"age": (18, 95)}, domains={"sex": ["Female", "Male"]}))
    >>> pview = sd.materialize(table, sd.DifferentialPrivacy(1.0), unsafe_seed=1)
    >>> answer(pview, "SELECT sex, COUNT(*) FROM view WHERE age BETWEEN 20 AND 39 GROUP BY sex").columns
    ['sex', 'count', 'count_low', 'count_high']
    """
    return ask(pview, question_of(query, pview.domain))


def statements_of(text: str) -> list[str]:
    """Take a text apart into its statements, which end with semicolons.

    >>> statements_of("SELECT COUNT(*) FROM view; -- all; really\\nSELECT COUNT(*) FROM view WHERE a = ';';")
    ['SELECT COUNT(*) FROM view', "SELECT COUNT(*) FROM view WHERE a = ';'"]
    """
    try:
        tokens = sqlglot.tokenize(text, dialect=DIALECT)
    except SqlglotError as error:
        raise InputError(f"This is not SQL: {str(error).splitlines()[0].rstrip('.')}. {SUPPORTED}") from None
    statements: list[list[Any]] = [[]]
    for token in tokens:
        if token.token_type.name == "SEMICOLON":
            statements.append([])
        else:
            statements[-1].append(token)
    return [text[own[0].start : own[-1].end + 1] for own in statements if own]


def question_of(query: str, domain: Domain) -> Question:
    """Read a query on a domain."""
    return _Reader(domain).question(query)


class _Reader:
    """Knows the domain that a query speaks of."""

    def __init__(self, domain: Domain) -> None:
        self.domain = domain

    def question(self, query: str) -> Question:
        try:
            select = _parsed(query)
            _only(select, "expressions", "from_", "where", "group", "having", "order", "limit")
            _check_table(select)
            return self._question(select)
        except RecursionError:
            raise InputError("The query is nested too deeply. Ask a simpler one.") from None

    def _question(self, select: exp.Select) -> Question:
        columns = [self._column(node) for node in select.expressions]
        counts = [name for axis, name in columns if axis is None]
        if len(counts) != 1:
            raise _unsupported("A query without COUNT(*)" if not counts else "More than one COUNT(*)")
        by = self._by(select, columns)
        for axis, name in columns:
            if axis is not None and axis not in by:
                raise InputError(f"'{name}' is selected, but is not in GROUP BY. Add GROUP BY {name}.")
        names = [*(name for _, name in columns), "count_low", "count_high"]
        if twice := {name for name in names if names.count(name) > 1}:
            raise InputError(
                f"Two columns of the answer have the name {listed(sorted(twice))}. Rename one with AS."
            )
        where, having = select.args.get("where"), select.args.get("having")
        return Question(
            columns,
            True if where is None else self._condition(where.this, self._attribute),
            by,
            True
            if having is None
            else self._condition(having.this, lambda node: self._count(node, counts[0])),
            [self._order(node, by, columns) for node in _parts(select, "order")],
            _limit(select),
        )

    # -- Columns -----------------------------------------------------------------------------------

    def _column(self, node: exp.Expr) -> tuple[int | None, str]:
        """Return which axis a selected column is, or None for the count, and its name in the answer."""
        name = node.alias if isinstance(node, exp.Alias) else None
        inner = node.unalias()
        if _is_count(inner):
            return None, name or COUNT
        axis = self.domain.place(self._attribute(inner))
        return axis, name or self.domain.names[axis]

    def _by(self, select: exp.Select, columns: list[tuple[int | None, str]]) -> list[int]:
        if (group := select.args.get("group")) is not None:
            _only(group, "expressions")
        axes = []
        for node in _parts(select, "group"):
            axis = _at(node, columns)[0] if _is_number(node) else self.domain.place(self._attribute(node))
            if axis is None:
                raise _unsupported("GROUP BY the count")
            axes.append(axis)
        return list(dict.fromkeys(axes))

    def _order(self, node: exp.Expr, by: list[int], columns: list[tuple[int | None, str]]) -> Order:
        inner = node.this
        if _is_number(inner):
            axis = _at(inner, columns)[0]
        elif _is_count(inner):
            axis = None
        else:
            named = {name: axis for axis, name in columns}
            name = inner.name if isinstance(inner, exp.Column) else ""
            axis = named[name] if name in named else self.domain.place(self._attribute(inner))
        if axis is not None and axis not in by:
            raise _unsupported("ORDER BY what is not in GROUP BY")
        return Order(axis, bool(node.args.get("desc")), bool(node.args.get("nulls_first")))

    def _attribute(self, node: exp.Expr) -> str:
        """Return the attribute that a column names; without quotes, large and small letters are the same."""
        if not isinstance(node, exp.Column) or not isinstance(node.this, exp.Identifier):
            raise _unsupported(f"{_text(node)} where a column is expected")
        _only(node, "this", "table")
        if node.table not in ("", TABLE):
            raise InputError(f"There is no table '{node.table}'. The only one is '{TABLE}'.")
        name = node.name
        alike = [own for own in self.domain.names if own.lower() == name.lower()]
        if name not in self.domain.names and len(alike) == 1 and not node.this.args.get("quoted"):
            return alike[0]
        self.domain.place(name)
        return name

    def _count(self, node: exp.Expr, alias: str) -> str:
        if _is_count(node) or (isinstance(node, exp.Column) and node.name == alias and not node.table):
            return COUNT
        raise _unsupported(f"HAVING {_text(node)}")

    # -- Conditions --------------------------------------------------------------------------------

    def _condition(
        self, node: exp.Expr, name_of: Callable[[exp.Expr], str], negated: bool = False
    ) -> Condition:
        """Read a condition, or its negation: NOT goes down to the comparisons, where a missing value fails both."""
        node = node.unnest()
        if isinstance(node, exp.Not):
            return self._condition(node.this, name_of, not negated)
        if isinstance(node, exp.And | exp.Or):
            parts = tuple(self._condition(part, name_of, negated) for part in node.flatten())
            return Every(parts) if isinstance(node, exp.And) != negated else Some(parts)
        if type(node) in SIGNS:
            return self._comparison(node, name_of, negated)
        if isinstance(node, exp.Between):
            _only(node, "this", "low", "high")
            ends = (_value(node.args["low"]), _value(node.args["high"]))
            return Comparison(name_of(node.this), "between", ends, negated)
        if isinstance(node, exp.In):
            _only(node, "this", "expressions")
            return Comparison(name_of(node.this), "in", tuple(map(_value, node.expressions)), negated)
        if isinstance(node, exp.Is) and isinstance(node.expression, exp.Null):
            return Comparison(name_of(node.this), "null", (), negated != bool(node.args.get("negate")))
        raise _unsupported(f"The condition {_text(node)}")

    def _comparison(self, node: exp.Expr, name_of: Callable[[exp.Expr], str], negated: bool) -> Condition:
        sign, left, right = SIGNS[type(node)], node.this.unnest(), node.expression.unnest()
        if _is_value(left) and not _is_value(right):
            sign, left, right = TURNED[sign], right, left
        if not _is_value(right):
            raise _unsupported(f"A comparison with something else than a value, {_text(node)},")
        return Comparison(name_of(left), sign, (_value(right),), negated != isinstance(node, exp.NEQ))


def _parsed(query: str) -> exp.Select:
    try:
        statements = [node for node in sqlglot.parse(query, dialect=DIALECT) if node is not None]
    except SqlglotError as error:
        reason = str(error).splitlines()[0].rstrip(".") if str(error) else "it cannot be read"
        if "sqlglot" in reason:  # which names its own classes
            reason = (
                'something is missing, or a column is called as a word of SQL, such as alter: write "alter"'
            )
        raise InputError(f"This is not SQL: {reason}. {SUPPORTED}") from None
    if len(statements) != 1:
        raise _unsupported("An empty query" if not statements else "More than one statement")
    if not isinstance(statements[0], exp.Select):
        raise _unsupported(f"{_text(statements[0])}")
    return statements[0]


def _check_table(select: exp.Select) -> None:
    source = select.args.get("from_")
    table = source.this if source is not None else None
    if not isinstance(table, exp.Table):
        raise _unsupported("A query without FROM view" if table is None else "A subquery")
    _only(table, "this")
    if table.name.lower() != TABLE:
        raise InputError(f"There is no table '{table.name}'. The only one is '{TABLE}'.")


def _limit(select: exp.Select) -> int | None:
    limit = select.args.get("limit")
    if limit is None:
        return None
    number = limit.args.get("expression")
    if not isinstance(limit, exp.Limit) or not _is_number(number):
        raise _unsupported(f"{_text(limit)}")
    return int(number.this)


def _at(node: exp.Expr, columns: list[tuple[int | None, str]]) -> tuple[int | None, str]:
    """Return the selected column at a place, counted from 1."""
    place = int(node.name)
    if not 1 <= place <= len(columns):
        raise InputError(f"There is no column {place}: the query selects {len(columns)}.")
    return columns[place - 1]


def _parts(select: exp.Select, clause: str) -> list[exp.Expr]:
    node = select.args.get(clause)
    return [] if node is None else list(node.expressions)


def _is_number(node: Any) -> bool:
    return isinstance(node, exp.Literal) and not node.is_string and node.name.isdigit()


def _is_count(node: exp.Expr) -> bool:
    return (
        isinstance(node, exp.Count) and isinstance(node.this, exp.Star) and not any(node.this.args.values())
    )


def _is_value(node: exp.Expr) -> bool:
    inner = node.this if isinstance(node, exp.Neg | exp.Cast) else node
    return isinstance(inner, exp.Literal | exp.Boolean | exp.Null)


def _value(node: exp.Expr) -> Any:
    node = node.unnest()
    if isinstance(node, exp.Null):
        raise InputError("A comparison with NULL is never true. Write IS NULL or IS NOT NULL.")
    if isinstance(node, exp.Boolean):
        return bool(node.this)
    if isinstance(node, exp.Literal):
        return node.name if node.is_string else _number(node.name)
    if isinstance(node, exp.Neg) and isinstance(node.this, exp.Literal) and not node.this.is_string:
        return -_number(node.this.name)
    if isinstance(node, exp.Cast) and isinstance(node.this, exp.Literal) and node.this.is_string:
        return _moment(node)
    raise _unsupported(f"{_text(node)} where a value is expected")


def _number(text: str) -> int | float:
    try:
        return int(text)
    except ValueError:
        return float(text)


def _moment(node: exp.Cast) -> dt.date:
    """Read DATE '2025-03-31' and TIMESTAMP '2025-03-31 12:00'."""
    text = node.this.name
    try:
        if node.is_type(exp.DataType.Type.DATE):
            return dt.date.fromisoformat(text)
        if node.is_type(exp.DataType.Type.TIMESTAMP):
            return dt.datetime.fromisoformat(text)
    except ValueError:
        raise InputError(f"{shown(text)} is not a date such as '2025-03-31'.") from None
    raise _unsupported(f"{_text(node)} where a value is expected")


def _only(node: exp.Expr, *known: str) -> None:
    """Refuse a part of the query that would otherwise go unheard."""
    for key, value in node.args.items():
        if value and key not in known:
            what = CALLED.get(key, key.strip("_").replace("_", " ").upper())
            raise _unsupported(f"{what} in {_text(node)}" if not isinstance(node, exp.Select) else what)


def _text(node: exp.Expr) -> str:
    return shown(node.sql(dialect=DIALECT), 80).strip("'\"")


def _unsupported(what: str) -> InputError:
    return InputError(f"{what} is not supported. {SUPPORTED}")
