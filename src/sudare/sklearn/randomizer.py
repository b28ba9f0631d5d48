"""A transformer that randomizes: it makes laws when it is fitted, and draws every row by them, each time anew."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from sudare.engines.memory import Memory
from sudare.engines.read import read
from sudare.errors import ParameterError
from sudare.noise.keystream import Keystream
from sudare.plans.plan import Plan
from sudare.privacy.differential_privacy import DifferentialPrivacy
from sudare.privacy.pk_anonymity import PkAnonymity
from sudare.randomization.draw import draw
from sudare.randomization.learn import learn_plan
from sudare.randomization.plan import RandomizationPlan
from sudare.sklearn.features import Features, Given, excerpt, names_out, schema_of
from sudare.tables.schema import Schema
from sudare.verbs.units import refuse_units


class Randomizer(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Change every quasi and sensitive value of every row by a known law, and drop the other columns.

    Laws rest on what the schema declares: a domain, or bounds. Without a schema all columns are numbers between the same public `bounds`;
    what lies beyond them is taken for the nearer one. `how` and `split` are those of `sd.randomize`.

    Rows keep their order, so whoever knows it knows whose row is whose: what is promised is what the law leaves open of one record's values, the
    epsilon of differential privacy, and not k. Each time that a row is transformed it is drawn anew, and that costs its epsilon once more: transform
    once, and keep what comes out. `unsafe_seed` makes it the same each time, and protects nobody who knows the seed.

    >>> import polars as pl, sudare as sd
    >>> schema = sd.Schema.from_roles(sensitive=["ill"], domains={"ill": ["yes", "no"]}, missing="refuse")
    >>> answers = pl.DataFrame({"ill": ["yes", "no"] * 50})
    >>> randomizer = Randomizer(sd.DifferentialPrivacy(1.0, per="record"), schema=schema).fit(answers)
    >>> randomizer.transform(answers).shape, round(randomizer.plan_.epsilon, 6)
    ((100, 1), 1.0)
    """

    def __init__(
        self,
        requirement: DifferentialPrivacy | PkAnonymity,
        *,
        schema: Schema | None = None,
        bounds: tuple[float, float] | None = None,
        how: Mapping[str, Any] | None = None,
        split: str = "equal",
        unsafe_seed: int | None = None,
        plan: Plan | None = None,
    ) -> None:
        self.requirement = requirement
        self.schema = schema
        self.bounds = bounds
        self.how = how
        self.split = split
        self.unsafe_seed = unsafe_seed
        self.plan = plan

    def fit(self, X: Features, y: Any = None) -> Self:
        """Make the laws; of the rows it takes how many there are, and what `how` says that a law is made from."""
        given = Given(self, X, first=True)
        if self.schema is None and self.bounds is None:
            raise ParameterError(
                "Randomizer needs a schema that declares domains or bounds, or bounds=(low, high) that hold for all columns: they must be public, "
                "and are not taken from the rows."
            )
        declared = schema_of(self.schema, given.names, type="number", bounds=self.bounds, outside="clip")
        self.schema_ = excerpt(declared, given.names)
        table = read(given.columns(given.names), self.schema_)
        refuse_units(table, "the transformer Randomizer")
        if self.plan is None:
            self.plan_ = learn_plan(table, self.requirement, self._source(), how=self.how, split=self.split)  # type: ignore[arg-type]
        elif isinstance(self.plan, RandomizationPlan):
            self.plan_ = self.plan.for_table(table)
        else:
            raise ParameterError(
                f"Randomizer needs a plan of laws. Got one of the kind '{self.plan.kind}' instead."
            )
        return self

    def transform(self, X: Features) -> Features:
        """Draw new values for some rows, in the order in which they come."""
        check_is_fitted(self, "plan_")
        given = Given(self, X, first=False)
        names = self.plan_.attributes
        table = read(given.columns(names), excerpt(self.schema_, names))
        plan = self.plan_.for_table(table)
        assert isinstance(table.rows, Memory)
        rows = {name: table.rows.column(name).codes for name in names}
        drawn = plan.decode(draw(plan, plan.places(table), rows, self._source()))
        return given.replaced(names, {name: drawn[name] for name in names})

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Return the names of the columns that are published."""
        check_is_fitted(self, "plan_")
        return names_out(self, self.plan_.attributes, input_features)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = tags.input_tags.string = True
        tags.transformer_tags.preserves_dtype = []
        tags.non_deterministic = self.unsafe_seed is None
        return tags

    def _source(self) -> Keystream:
        return Keystream() if self.unsafe_seed is None else Keystream.unsafe(self.unsafe_seed)
