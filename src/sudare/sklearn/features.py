"""What comes in and goes out of a transformer: an array, or a frame of pandas or polars, whose other columns stay as they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import narwhals as nw
import numpy as np
import polars as pl
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_array, validate_data

from sudare.engines.sources import polars_from
from sudare.errors import ParameterError
from sudare.tables.attribute import Attribute, Role
from sudare.tables.schema import Schema

Features = Any
"""A frame of pandas or polars, or an array of two dimensions."""


class Given:
    """The features of some rows, in the order in which they came."""

    def __init__(self, estimator: BaseEstimator, features: Features, *, first: bool) -> None:
        """Take them in; the estimator remembers what columns there are the first time, and refuses others later."""
        if isinstance(features, pl.LazyFrame):
            raise TypeError(
                "Features must be a frame of pandas or polars, or an array. Collect a lazy frame first."
            )
        self.is_frame = hasattr(features, "columns") and not isinstance(features, np.ndarray)
        self.own = (
            features if self.is_frame else check_array(features, dtype=None, ensure_all_finite="allow-nan")
        )
        if self.is_frame:
            frame = _framed(self.own)
            self.names = list(frame.columns)
            self.rows = len(frame)
        validate_data(estimator, self.own, reset=first, skip_check_array=True)
        if not self.is_frame:
            self.names = [f"x{place}" for place in range(self.own.shape[1])]
            self.rows = self.own.shape[0]
        if not self.rows:
            raise ValueError(
                f"Found array with 0 sample(s) (shape=({self.rows}, {len(self.names)})) while a minimum of 1 is required."
            )

    def columns(self, names: Sequence[str]) -> pl.DataFrame:
        """Return some columns, as they are read."""
        if self.is_frame:
            return polars_from(_framed(self.own).select(list(names)).to_native())
        places = [self.names.index(name) for name in names]
        return pl.DataFrame(
            [_series(name, self.own[:, place]) for name, place in zip(names, places, strict=True)]
        )

    def replaced(self, published: Sequence[str], new: Mapping[str, pl.Series]) -> Features:
        """Return the published columns in the form in which they came, some of them with new values."""
        if self.is_frame:
            return self._replaced_in_frame(published, new)
        columns = [
            new[name].to_numpy() if name in new else self.own[:, self.names.index(name)] for name in published
        ]
        return np.column_stack(columns) if columns else np.empty((self.rows, 0), dtype=object)

    def _replaced_in_frame(self, published: Sequence[str], new: Mapping[str, pl.Series]) -> Features:
        if isinstance(self.own, pl.DataFrame):
            return self.own.select(new.get(name, pl.col(name)) for name in published)
        import pandas as pd

        made = {
            name: pd.Series(own.to_list(), index=self.own.index, dtype=_pandas_type(own))
            for name, own in new.items()
        }
        return self.own.loc[:, list(published)].assign(
            **{name: made[name] for name in published if name in made}
        )


def _framed(features: Features) -> nw.DataFrame[Any]:
    """Return a frame as narwhals sees it; refuse one whose columns have no names of their own."""
    names = list(features.columns)
    if not all(isinstance(name, str) for name in names) or len(set(names)) < len(names):
        raise ValueError(
            f"The columns of a frame must have different texts for names. Got {', '.join(map(repr, names[:8]))} instead. Rename them, "
            "such as by frame.columns = [f'x{i}' for i in range(frame.shape[1])]."
        )
    return nw.from_native(features, eager_only=True)


def _series(name: str, values: Any) -> pl.Series:
    if values.dtype != object:
        return pl.Series(name, values)
    try:
        return pl.Series(name, values.tolist(), strict=True)
    except (TypeError, OverflowError, pl.exceptions.PolarsError):
        raise TypeError(
            f"Column '{name}' has values of several types, or of one that no column has. Each argument must be a string, a number or a date."
        ) from None


def _pandas_type(values: pl.Series) -> Any:
    """Return what pandas calls texts; all else it finds by itself."""
    return "str" if values.dtype == pl.String else None


def schema_of(declared: Schema | None, names: Sequence[str], **quasi: Any) -> Schema:
    """Return what is declared of these columns; without a schema, all of them are quasi, with what else is given."""
    if declared is None:
        return Schema(attributes={name: Attribute(role=Role.quasi, **quasi) for name in names})
    if not isinstance(declared, Schema):
        raise ParameterError(
            f"The 'schema' parameter must be a Schema. Got {type(declared).__name__} instead."
        )
    return declared


def excerpt(schema: Schema, names: Sequence[str]) -> Schema:
    """Return what a schema says of some columns."""
    return schema.model_copy(update={"attributes": {name: schema[name] for name in names}})


def names_out(estimator: Any, published: Sequence[str], given: Any) -> Any:
    """Return the names of the published columns; columns of arrays, x0, x1 and so on, may be given others."""
    names: Any = getattr(estimator, "feature_names_in_", None)
    if given is None or names is not None:
        if given is not None and list(given) != list(names):
            raise ValueError("input_features is not equal to feature_names_in_")
        return np.array(list(published), dtype=object)
    if len(given) != estimator.n_features_in_:
        raise ValueError(
            f"input_features should have length equal to number of features ({estimator.n_features_in_}), got {len(given)}"
        )
    return np.asarray(given, dtype=object)[[int(name[1:]) for name in published]]
