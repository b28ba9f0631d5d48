"""The relational engine: rows stay in a database, which counts and rewrites them; what leaves it are codes and counts.

The source has the rows as they are. Of a column that somebody counts, the distinct values are looked at here, by the code
that the memory engine uses, and a map with the code of each goes back into the database. The tuples are the distinct rows of the
columns that are always coded, with how often each occurs: most questions are answered from them, and the source, however large,
is gone through once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sudare.engines.coded import Coded, LeftOut
from sudare.engines.database import Database, in_pieces, numbered, total_weight
from sudare.engines.engine import Change
from sudare.engines.numbered_texts import NumberedTexts
from sudare.engines.parted import Parted, counts_from
from sudare.engines.rewriting import AnyRewriting, Rewriting
from sudare.engines.rewritten import rewritten
from sudare.engines.stored import StoredRows
from sudare.tables.column import Codes, Column
from sudare.tables.content import Content, Summing
from sudare.tables.counts import Counts
from sudare.tables.dictionary import Dictionary
from sudare.tables.runs import Runs

Ints = NDArray[np.int64]
MAX_TUPLES = 10**7
BYTES_PER_TUPLE = 1000  # what learning takes at its peak for each, roughly
Coder = Callable[[str, pl.Series], Column]
"""Codes the distinct values that a column has in the source; missing ones are among them."""


class Base(NamedTuple):
    """A relation that rows are taken from."""

    relation: str
    keys: Mapping[str, str]
    """For each column, what tells its values apart."""
    weight: str
    """How many rows of the source each stands for."""


class Relational:
    """Rows that a database holds."""

    def __init__(
        self,
        database: Database,
        relation: str,
        keys: Mapping[str, str],
        code: Coder,
        always: Sequence[str],
        *,
        coded: Mapping[str, Coded] | None = None,
        left_out: Sequence[LeftOut] = (),
        distinct: str | None = None,
    ) -> None:
        """`keys` says what tells the values of each column apart; `always` names the columns that are counted first.

        `distinct` is the relation of their distinct rows, where it is known already.
        """
        if distinct is not None:
            self._distinct = distinct
        self._database, self._relation, self._keys, self._code = database, relation, dict(keys), code
        self._always, self._coded, self._left_out = tuple(always), dict(coded or {}), tuple(left_out)

    @property
    def names(self) -> tuple[str, ...]:
        """The columns, in the source's order."""
        return tuple(self._keys)

    @cached_property
    def _rows(self) -> int:
        return total_weight(self._database, self._tuples)

    def __len__(self) -> int:
        return self._rows

    def dictionary(self, name: str) -> Dictionary:
        """Return the values of a column; they are looked up when somebody first asks."""
        return self._column(name).dictionary

    def unseen_values(self, name: str) -> int:
        """Return how many different values a column has in the source, if nobody has looked at them yet; else 0."""
        if name in self._coded:
            return 0
        base = self._base([name])
        return int(
            self._database.frame(f"SELECT count(DISTINCT {base.keys[name]}) FROM {base.relation}").item()
        )

    def _column(self, name: str) -> Coded:
        if name not in self._coded:
            base = self._base([name])
            query = f"SELECT DISTINCT {base.keys[name]} AS key FROM {base.relation}"
            raw = self._database.frame(query)["key"]
            column = self._code(name, raw)
            self._coded[name] = Coded.of(
                self._database, raw, column.dictionary, column.codes.astype(np.int64)
            )
            if self._left_out:
                self._coded[name] = self._with_missing_as_left(name)
        return self._coded[name]

    # -- Counting -------------------------------------------------------------------------------------

    def counts(self, names: Sequence[str]) -> Counts:
        """Count the distinct tuples of some columns, by the codes of their dictionaries."""
        frame = self._database.frame(f"{self._grouped(names)} ORDER BY {numbered(names)}")
        return counts_from(frame, names, self._sizes(names))

    def pieces(self, names: Sequence[str], together: Sequence[str]) -> Iterator[Counts]:
        """Count tuples in pieces, where they are too many to be held at once."""
        columns = [f"c{names.index(name)}" for name in together]
        for query in in_pieces(self._database, self._grouped(names), columns):
            frame = self._database.frame(f"SELECT * FROM ({query}) ORDER BY {numbered(names)}")
            yield counts_from(frame, names, self._sizes(names))

    def _sizes(self, names: Sequence[str]) -> list[int]:
        return [self.dictionary(name).size for name in names]

    @property
    def max_tuples(self) -> int:
        """How many tuples are held at once, by the memory that there is; no more than one file of a plan may have."""
        return min(self._database.memory // BYTES_PER_TUPLE, MAX_TUPLES)

    @property
    def region_tuples(self) -> int:
        """How many tuples are learned from at once, where they are learned from by regions."""
        return min(self._database.work_memory // BYTES_PER_TUPLE, self.max_tuples)

    @property
    def works_here(self) -> str:
        """Why regions are learned here that the database could learn elsewhere, if there is a reason."""
        return self._database.works_here

    def tuple_count(self, names: Sequence[str]) -> int:
        """Return how many tuples of some columns there are."""
        return int(self._database.frame(f"SELECT count(*) FROM ({self._grouped(names)})").item())

    def parted(self, names: Sequence[str]) -> Parted:
        """Return the tuples of some columns, to be put into parts."""
        return Parted(self._database, self._grouped(names), names, self._sizes(names))

    def _grouped(self, names: Sequence[str]) -> str:
        """The tuples of some columns, c0, c1, ..., with their weight."""
        if set(names) <= set(self._always):
            own = ", ".join(f"c{self._always.index(name)} AS n{i}" for i, name in enumerate(names))
            rows = f"SELECT {own}, weight FROM {self._tuples}"
        else:
            rows = self._rows_of(names, "n")
        columns = ", ".join(f"n{i} AS c{i}" for i in range(len(names)))
        return f"SELECT {columns}, CAST(sum(weight) AS BIGINT) AS weight FROM ({rows}) GROUP BY {numbered(names, 'n')}"

    @cached_property
    def _tuples(self) -> str:
        """The distinct rows of the columns that are always coded, by their codes, without those that are left out."""
        columns = numbered(self._always)
        return self._database.store(
            f"SELECT {columns}, sum(weight) AS weight FROM ({self._rows_of(self._always, 'c')}) GROUP BY {columns}"
        )

    @cached_property
    def _distinct(self) -> str:
        """The distinct rows of the columns that are always coded, as the source has them: it is gone through for them."""
        # Named first, and grouped then: the source may have columns of any names.
        own = ", ".join(f"{self._keys[name]} AS k{i}" for i, name in enumerate(self._always))
        columns = numbered(self._always, "k")
        return self._database.store(
            f"SELECT {columns}, count(*) AS weight FROM (SELECT {own} FROM {self._relation}) GROUP BY {columns}"
        )

    def _base(self, names: Iterable[str]) -> Base:
        """Return the smallest relation that has some columns."""
        if set(names) <= set(self._always):
            return Base(self._distinct, {name: f"k{i}" for i, name in enumerate(self._always)}, "weight")
        return Base(self._relation, self._keys, "1")

    def _rows_of(self, names: Sequence[str], letter: str) -> str:
        """Rows by the codes of some columns, without those that are left out; each with its weight."""
        needed = list(dict.fromkeys([*names, *(name for one in self._left_out for name in one.columns)]))
        base = self._base(needed)
        own = ", ".join(f"{base.keys[name]} AS v{i}" for i, name in enumerate(needed))
        rows = f"SELECT {own}, {base.weight} AS weight FROM {base.relation}"
        columns, joins, conditions = [], [], []
        for i, name in enumerate(names):
            coded = self._column(name)
            joins.append(f"LEFT JOIN {coded.map} AS m{i} ON base.v{needed.index(name)} = m{i}.key")
            columns.append(f"coalesce(m{i}.code, {len(coded.dictionary.values)}) AS {letter}{i}")
        for i, left_out in enumerate(self._left_out):
            same = []
            for j, (name, coded) in enumerate(left_out.columns.items()):
                joins.append(
                    f"LEFT JOIN {coded.map} AS x{i}_{j} ON base.v{needed.index(name)} = x{i}_{j}.key"
                )
                same.append(f"coalesce(x{i}_{j}.code, {len(coded.dictionary.values)}) = x{i}.c{j}")
            joins.append(f"LEFT JOIN {left_out.tuples} AS x{i} ON {' AND '.join(same)}")
            conditions.append(f"x{i}.c0 IS NULL")
        where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
        return f"SELECT {', '.join(columns)}, base.weight AS weight FROM ({rows}) AS base {' '.join(joins)}{where}"

    def content(self, columns: Mapping[str, str]) -> Content:
        """Sum up what some columns hold, whatever the order of rows."""
        summing = Summing({name: self.dictionary(own) for name, own in columns.items()})
        names = list(dict.fromkeys(columns.values()))
        for frame in self._database.batches(self._grouped(names)):
            codes = [frame[f"c{names.index(own)}"].to_numpy() for own in columns.values()]
            summing.add(codes, frame["weight"].to_numpy())
        return summing.content()

    def sample(self, names: Sequence[str], rows: int, seed: int) -> NDArray[np.int32]:
        """Return the codes of some columns in so many different rows, drawn at random, in the order of the codes."""
        counts = self.counts(names)
        if rows >= len(self):
            return np.repeat(counts.codes, counts.weights, axis=0)
        drawn = np.random.default_rng(seed).multivariate_hypergeometric(
            counts.weights, rows, method="marginals"
        )
        return np.repeat(counts.codes, drawn, axis=0)

    def rows_with(self, name: str, codes: Sequence[int]) -> Ints:
        """Return the first rows that hold any of these codes of a column, as far as rows have numbers."""
        own = self._column(name)
        values = own.raw.filter(pl.Series(np.isin(own.codes, list(codes))))
        return np.array(self._database.rows_with(self._relation, self._keys[name], values), dtype=np.int64)

    # -- Leaving out ----------------------------------------------------------------------------------

    def without(self, names: Sequence[str], tuples: NDArray[np.int32]) -> Relational:
        """Leave out all rows with one of these tuples of some columns; dictionaries stay as they are."""
        listed = pl.DataFrame({f"c{i}": tuples[:, i].astype(np.int32) for i in range(len(names))})
        left_out = LeftOut({name: self._column(name) for name in names}, self._database.upload(listed))
        left = self._with(self._coded, [*self._left_out, left_out])
        # Those that nobody asked for yet stay where they are: identifiers may be as many as rows.
        return self._with({name: left._with_missing_as_left(name) for name in self._coded}, left._left_out)

    def _with(self, coded: Mapping[str, Coded], left_out: Sequence[LeftOut]) -> Relational:
        return Relational(
            self._database,
            self._relation,
            self._keys,
            self._code,
            self._always,
            coded=coded,
            left_out=left_out,
            distinct=self._distinct,
        )

    def _with_missing_as_left(self, name: str) -> Coded:
        """Say of a column whether any row that is left lacks a value."""
        own = self._coded[name]
        if not own.dictionary.missing:
            return own
        missing = len(own.dictionary.values) in self._left(name)
        return replace(own, dictionary=replace(own.dictionary, missing=missing))

    def _left(self, name: str) -> list[int]:
        return self._database.frame(f"SELECT c0 FROM ({self._grouped([name])})")["c0"].to_list()

    def retyped(self, types: Mapping[str, Callable[[pl.Series], pl.Series]]) -> Relational:
        """Return the same rows, with the distinct values that some columns still have in other types."""
        coded = dict(self._coded)
        for name, as_type in types.items():
            own = self._column(name)
            left = Column(own.dictionary, np.array(sorted(self._left(name)), dtype=np.int64))
            kept = left.take(left.codes, name)
            new = kept.with_values(as_type(kept.values))
            code_of = np.full(len(own.dictionary.values) + 1, len(new.values), dtype=np.int64)
            code_of[left.codes] = new.codes
            coded[name] = Coded.of(self._database, own.raw, new.dictionary, code_of[own.codes])
        return self._with(coded, self._left_out)

    # -- Rewriting ------------------------------------------------------------------------------------

    def changed(self, names: Sequence[str], change: Change) -> StoredRows:
        """Return what a law makes of every row, in the order of what is published; some rows are changed at a time."""
        # Rows are changed here, once each, and kept before anybody reads them. A database that changed them could do so twice:
        # a task that is tried again draws anew, and two draws from one value tell more about it than was promised.
        texts = NumberedTexts()
        changed = self._database.keep(texts.numbered(change(rows)) for rows in self._laid_out(names))
        columns = self._database.types(changed)
        rows = Relational(
            self._database,
            changed,
            self._database.keys(changed),
            lambda name, raw: Column.encode(texts.meant(name, raw.cast(columns[name]))),
            list(columns),
        )
        return rows.rewrite(Rewriting((), np.empty((1, 0), dtype=np.int32), dict.fromkeys(columns)))

    def _laid_out(self, names: Sequence[str]) -> Iterator[dict[str, Codes]]:
        """Yield the codes of all rows, some at a time."""
        for frame in self._database.batches(self._grouped(names)):
            runs = Runs(frame.select(pl.exclude("weight")), frame["weight"])
            for part in runs.slices():
                yield {name: part[f"c{i}"].to_numpy() for i, name in enumerate(names)}

    def rewrite(self, rewriting: AnyRewriting) -> StoredRows:
        """Return what is published instead of the rows, in the order of what is published."""
        return rewritten(self._database, self._grouped, self._every, rewriting)

    def _every(self, name: str) -> pl.Series:
        dictionary = self.dictionary(name)
        return dictionary.decode(np.arange(dictionary.size))

    def frame(self) -> pl.DataFrame:
        """Return all rows as they were read, in the order of their values."""
        counts = self.counts(self.names)
        every = np.repeat(np.arange(len(counts)), counts.weights)
        return pl.DataFrame([self.dictionary(name).decode(counts.column(name)[every]) for name in self.names])
