"""A transformer that generalizes: it learns a plan from the rows for training, and looks all other rows up in it."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import polars as pl
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from sudare.engines.memory import Memory
from sudare.engines.read import read
from sudare.errors import InputError
from sudare.plans.generalization import Located
from sudare.plans.one_by_one import columns_of, located_one_by_one, row_plan
from sudare.plans.plan import Plan
from sudare.privacy.requirement import BlockRequirement, one_of
from sudare.sklearn.features import Features, Given, excerpt, names_out, schema_of
from sudare.tables.attribute import Role
from sudare.tables.counts import places_of
from sudare.tables.paths import ROOT
from sudare.tables.schema import Schema
from sudare.verbs.apply import Unseen
from sudare.verbs.generalize import generalize


class Generalizer(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Publish quasi values as coarsely as the requirements ask for, by blocks that are learned when it is fitted.

    Rows keep their order, and columns that are not quasi their values and types; identifiers are dropped. Without a schema all
    columns are quasi. If the schema has a sensitive attribute that the features lack, `y` is taken for it when it is fitted.

    What holds, holds of the rows that it was fitted on: `measured_` was counted on them. A row that comes later is published as its block was
    then, whatever rows are beside it. With `unseen="suppress"`, a row that the plan does not cover has `*` for every quasi value;
    else it is refused. What is handed to somebody should be a release instead (`sd.apply(generalizer.plan_, ...)`): its rows are put in
    another order, and everything is counted again.

    `plan_` holds the values of the table that it was learned from, with `minimal` every combination of them, and a pickle of this transformer holds the
    plan: both stay with the holder.
    Give a saved `plan`, and fitting only looks whether it suits the columns.

    >>> import pandas as pd, sudare as sd
    >>> people = sd.datasets.health_survey(300).select("age", "sex", "smoker").to_pandas()
    >>> schema = sd.Schema.from_roles(quasi=["age", "sex"], other=["smoker"])
    >>> generalizer = Generalizer(sd.KAnonymity(20), schema=schema).fit(people[:250])
    >>> generalizer.set_params(unseen="suppress").transform(people[250:]).shape
    (50, 3)
    """

    def __init__(
        self,
        requirements: BlockRequirement | tuple[BlockRequirement, ...],
        *,
        schema: Schema | None = None,
        method: Any = "mondrian",
        unseen: Unseen = "refuse",
        plan: Plan | None = None,
    ) -> None:
        self.requirements = requirements
        self.schema = schema
        self.method = method
        self.unseen = unseen
        self.plan = plan

    def fit(self, X: Features, y: Any = None) -> Self:
        """Learn blocks from some rows, and verify that they have what is required."""
        given = Given(self, X, first=True)
        names = given.names
        self.schema_ = schema_of(self.schema, names)
        sensitive = _answer_in(self.schema_, names)
        if self.plan is not None:
            self.plan_ = row_plan(self.plan)
            self.measured_: dict[str, float] = {}
        else:
            frame = given.columns(names)
            if sensitive is not None and y is not None:
                frame = frame.with_columns(pl.Series(sensitive, np.asarray(y).tolist()))
            asked = self.requirements if isinstance(self.requirements, tuple) else (self.requirements,)
            release = generalize(read(frame, self.schema_), list(asked), self.method)
            self.plan_ = row_plan(release.plan)
            self.measured_ = release.verification.measured
        if absent := [name for name in columns_of(self.plan_) if name not in names]:
            raise InputError(
                f"The plan looks rows up by '{absent[0]}', which they do not have when they are transformed. Use method='mondrian'."
            )
        self._published = [name for name in names if self.schema_[name].treated_as != Role.identifier]
        return self

    def transform(self, X: Features) -> Features:
        """Publish some rows as their blocks are, in the order in which they come."""
        check_is_fitted(self, "plan_")
        one_of(self.unseen, "unseen", "Generalizer", ("refuse", "suppress"))
        given = Given(self, X, first=False)
        keys = columns_of(self.plan_)
        table = read(given.columns(keys), excerpt(self.schema_, keys))
        located = located_one_by_one(self.plan_, table)
        if self.unseen == "refuse" and not located.covered.all():
            first = located.table.describe(located.counts, int((~located.covered).argmax()))
            raise InputError(
                f"The plan does not cover {int(located.counts.weights[~located.covered].sum()):,} of {len(table):,} rows; the first has {first}. "
                'Publish nothing of their quasi values with unseen="suppress", or fit on more rows.'
            )
        return given.replaced(self._published, _labels(located))

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Return the names of the columns that are published."""
        check_is_fitted(self, "plan_")
        return names_out(self, self._published, input_features)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = tags.input_tags.string = True
        tags.transformer_tags.preserves_dtype = []
        return tags


def _answer_in(schema: Schema, names: list[str]) -> str | None:
    """Return the one sensitive attribute that is no column."""
    absent = [name for name in schema.names(Role.sensitive) if name not in names]
    return absent[0] if len(absent) == 1 else None


def _labels(located: Located) -> dict[str, pl.Series]:
    """Return what is published of each quasi attribute, row by row."""
    table, rows = located.table, located.table.rows
    assert isinstance(rows, Memory)
    codes = np.stack([rows.column(name).codes for name in located.counts.names], axis=1).astype(np.int32)
    place = places_of(codes, located.counts)
    published = {}
    for at, name in enumerate(table.names(Role.quasi)):
        tree = table[name].hierarchy
        assert tree is not None  # with_trees gave every quasi attribute one
        level = np.where(located.covered, located.levels[np.maximum(located.block_of, 0), at], tree.height)
        node = tree.codes[level, located.counts.codes[:, at]]
        texts = [tree.labels[l][n] for l, n in zip(level.tolist(), node.tolist(), strict=True)]
        texts = [text if own else ROOT for text, own in zip(texts, located.covered.tolist(), strict=True)]
        published[name] = pl.Series(name, texts, dtype=pl.String).gather(place)
    return published
