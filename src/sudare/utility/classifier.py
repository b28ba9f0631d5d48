"""Classifier scores: how well a model that learned from the published rows predicts original ones.

Needs scikit-learn, an optional part: pip install 'sudare[classifier]'.
"""

from __future__ import annotations

import importlib
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sudare.errors import InputError, MissingExtraError, ParameterError
from sudare.tables.attribute import Role
from sudare.tables.table import Table
from sudare.utility.outcome import Outcome
from sudare.utility.tree import Tree

ITERATIONS = 200
MAX_VALUES = 100  # of a target: every one is a class, and learning takes longer with each

Features = tuple[Tree, NDArray[Any], NDArray[Any]]
"""An attribute's tree, and the code and level of every row."""


@dataclass(frozen=True)
class ClassifierScores:
    """Shares of held-out original rows whose target was predicted right."""

    target: str
    original: float
    """After learning from original rows."""
    published: float
    """After learning from the same rows as they are published."""
    guess: float
    """By always predicting the most frequent value."""
    tested: int

    def __str__(self) -> str:
        return (
            f"'{self.target}' of {self.tested:,} held-out records: {self.original:.1%} right after learning from the "
            f"original rows, {self.published:.1%} from the published ones, {self.guess:.1%} by always guessing the "
            "most frequent value."
        )


def classifier_scores(
    outcome: Outcome,
    *,
    target: str | None = None,
    held_out: float = 0.3,
    seed: int = 0,
) -> ClassifierScores:
    """Compare models that learned to predict `target` from the published rows and from the original ones.

    The outcome's counts must have `target`, a sensitive or other attribute with at most 100 values (by default the only sensitive one).
    The features are the quasi attributes: one indicator per level and node, for every node that a cell is
    known to lie under. An original value is known on all levels; a published one from its own level upwards,
    and nothing is set below. The model is a logistic regression over these indicators, tested on original rows that neither
    model has seen: the share `held_out` of the rows, drawn with `seed`.

    >>> import polars as pl, sudare as sd
    >>> schema = sd.Schema.from_roles(quasi=["sex"], sensitive=["ill"])
    >>> table = sd.read(pl.DataFrame({"sex": ["f", "m"] * 50, "ill": ["no", "yes"] * 50}), schema)
    >>> scores = classifier_scores(Outcome.of(table, [1], counts=table.counts(['sex', 'ill'])))                          # doctest: +SKIP
    >>> scores.original, scores.published                               # doctest: +SKIP
    (1.0, 0.5)
    """
    model, table, counts = _model(), outcome.table, outcome.counts
    name = _target(table, target)
    refuse_unpredictable(table, name)
    if not 0 < held_out < 1:
        raise ParameterError(
            f"The 'held_out' parameter of classifier_scores must be a share above 0 and below 1. Got {held_out} instead."
        )
    chosen = np.repeat(outcome.kept, counts.weights)
    published = [
        (tree, np.repeat(counts.column(quasi), counts.weights), np.repeat(climbed, counts.weights))
        for quasi, tree, climbed in outcome.climbs()
    ]
    original = [(tree, codes, np.zeros_like(codes)) for tree, codes, _ in published]
    tested = np.zeros(outcome.records, dtype=bool)
    order = np.random.default_rng(seed).permutation(outcome.records)
    tested[order[: round(held_out * outcome.records)]] = True
    learned = {"original": ~tested, "published": ~tested & chosen}
    if not tested.any() or not learned["published"].any():
        raise InputError(
            f"{table.source.name}: there are too few published records to learn from and to test on."
        )
    classes = np.repeat(counts.column(name), counts.weights)
    known, truth = _indicators(original, tested), classes[tested]
    scores = {
        kind: _right(model, _indicators(features, learned[kind]), classes[learned[kind]], known, truth)
        for kind, features in (("original", original), ("published", published))
    }
    most_frequent = np.bincount(classes[learned["original"]]).argmax()
    return ClassifierScores(
        name,
        scores["original"],
        scores["published"],
        float((truth == most_frequent).mean()),
        int(tested.sum()),
    )


def refuse_unpredictable(
    table: Table, target: str, parameter: str = "'target' parameter of classifier_scores"
) -> None:
    """Raise an error if `target` cannot be predicted, or if scikit-learn is missing; `parameter` says who asks.

    >>> import polars as pl, sudare as sd
    >>> table = sd.read(pl.DataFrame({"sex": ["f", "m"]}), sd.Schema.from_roles(quasi=["sex"]))
    >>> refuse_unpredictable(table, "sex")                              # doctest: +SKIP
    Traceback (most recent call last):
    ParameterError: The 'target' parameter ... must be a sensitive or other attribute. Got 'sex', which is quasi, instead.
    """
    role = table.schema[target].treated_as
    if role not in (Role.sensitive, Role.other):
        raise ParameterError(
            f"The {parameter} must be a sensitive or other attribute. Got '{target}', which is {role}, instead."
        )
    if table[target].size > MAX_VALUES:
        raise ParameterError(
            f"The {parameter} must be an attribute with {MAX_VALUES} values or fewer. "
            f"Got '{target}', which has {table[target].size:,}, instead."
        )
    _model()


def _model() -> Any:
    try:
        linear = importlib.import_module("sklearn.linear_model")
    except ImportError:
        raise MissingExtraError("The classifier score", "classifier") from None
    return linear.LogisticRegression(max_iter=ITERATIONS)


def _target(table: Table, target: str | None) -> str:
    if target is None:
        sensitive = table.names(Role.sensitive)
        if len(sensitive) != 1:
            raise ParameterError(
                "The 'target' parameter of classifier_scores must name an attribute to predict, because the schema has "
                f"{len(sensitive)} sensitive ones."
            )
        return sensitive[0]
    return target


def _indicators(features: list[Features], rows: NDArray[np.bool_]) -> Any:
    """Return a sparse matrix with one column per attribute, level (below the root) and node."""
    places, columns, width = [], [], 0
    for tree, codes, levels in features:
        own, climbed = codes[rows], levels[rows]
        for level, nodes in enumerate(tree.nodes[:-1]):
            known = np.flatnonzero(climbed <= level)
            places.append(known)
            columns.append(nodes[own[known]] + width)
            width += int(nodes.max()) + 1
    where = np.concatenate(places), np.concatenate(columns)
    sparse = importlib.import_module("scipy.sparse")
    return sparse.csr_matrix((np.ones(len(where[0])), where), shape=(int(rows.sum()), width))


def _right(model: Any, seen: Any, classes: NDArray[Any], known: Any, truth: NDArray[Any]) -> float:
    """Return the share of right predictions after learning."""
    if (classes == classes[0]).all():
        return float((truth == classes[0]).mean())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that it could be polished further
        model.fit(seen, classes)
    return float((model.predict(known) == truth).mean())
