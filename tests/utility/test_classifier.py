from __future__ import annotations

import sys

import numpy as np
import polars as pl
import pytest

import sudare as sd
from sudare.errors import MissingExtraError
from sudare.utility.classifier import _indicators, classifier_scores
from sudare.utility.outcome import Outcome
from tests import by_row
from tests.utility.generalized import table_of


def towns(rows: int = 400) -> sd.Table:
    """Who is ill is decided by the town; half of each region is ill."""
    rng = np.random.default_rng(5)
    town = rng.choice(["Ayr", "Bath", "Deal", "Wick"], rows)
    groups = {"Ayr": "north", "Wick": "north", "Bath": "south", "Deal": "south"}
    schema = sd.Schema.from_roles(
        quasi=["town"], sensitive=["ill"], other=["region"], hierarchies={"town": sd.Hierarchy.groups(groups)}
    )
    frame = pl.DataFrame({"town": town}).with_columns(
        ill=pl.col("town").is_in(["Ayr", "Deal"]).cast(pl.String), region=pl.col("town").replace(groups)
    )
    return sd.read(frame, schema)


def outcome(table: sd.Table, level: int) -> Outcome:
    """All towns climbed to one level; records are counted by their illness and region, too."""
    return Outcome.of(table, [level], counts=table.counts(["town", "ill", "region"]))


def test_indicators_are_known_from_the_published_level_up() -> None:
    table = table_of([(0, "Ayr", "f"), (4, "Bath", "m")])
    _, (_, tree, climbed), _ = by_row.outcome(table, [[0, 0, 0], [0, 1, 0]]).climbs()
    towns = by_row.codes(table, "town")
    indicators = _indicators([(tree, towns, climbed)], np.array([True, True])).toarray()
    # Ayr is known as Ayr and north; Bath only as south (nodes: Ayr, Bath, ...; north, south, ...).
    assert indicators.sum(axis=1).tolist() == [2, 1]
    assert np.flatnonzero(indicators[1]).tolist() == [tree.nodes[0].max() + 1 + tree.nodes[1][towns[1]]]


@pytest.mark.usefixtures("scikit_learn")
def test_what_is_generalized_away_cannot_be_learned() -> None:
    table = towns()
    as_it_was, regions = classifier_scores(outcome(table, 0)), classifier_scores(outcome(table, 1))
    assert as_it_was.original == as_it_was.published == regions.original == 1.0
    assert regions.published < 0.65
    assert classifier_scores(outcome(table, 1), target="region").published == 1.0
    assert regions.tested == 120
    assert str(as_it_was).startswith(
        "'ill' of 120 held-out records: 100.0% right after learning from the original"
    )


@pytest.mark.usefixtures("scikit_learn")
def test_suppressed_records_teach_nothing() -> None:
    table = towns()
    ill = [value == "true" for value in by_row.values(table, "ill")]
    scores = classifier_scores(by_row.outcome(table, [0], ill, "ill"))  # only ill people are published
    assert scores.original == 1.0
    assert scores.published == pytest.approx(1 - scores.guess) or scores.published == scores.guess


@pytest.mark.usefixtures("scikit_learn")
def test_what_cannot_be_is_refused() -> None:
    table = towns()
    with pytest.raises(sd.ParameterError, match="Got 'town', which is quasi, instead"):
        classifier_scores(outcome(table, 0), target="town")
    with pytest.raises(sd.ParameterError, match="'held_out' parameter"):
        classifier_scores(outcome(table, 0), held_out=1.0)
    with pytest.raises(sd.InputError, match="too few published records"):
        classifier_scores(by_row.outcome(table, [0], np.zeros(400, dtype=bool), "ill"))
    plain = sd.read(pl.DataFrame({"age": [1, 2]}), sd.Schema.from_roles(quasi=["age"]))
    with pytest.raises(sd.ParameterError, match="the schema has 0 sensitive ones"):
        classifier_scores(Outcome.of(plain, [0]))


def test_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sklearn", None)
    monkeypatch.delitem(sys.modules, "sklearn.linear_model", raising=False)
    with pytest.raises(MissingExtraError, match=r"pip install 'sudare\[classifier\]'"):
        classifier_scores(outcome(towns(), 0))
