"""What `generalize_views` refuses before any work."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

import sudare as sd

TABLE = sd.read(
    pl.DataFrame({"age": [20, 30, 40, 50], "town": ["a", "b", "a", "b"], "ill": ["w", "x", "y", "z"]}),
    sd.Schema.from_roles(quasi=["age", "town"], sensitive=["ill"]),
)
TWO = sd.MultiViewDiversity(2)


@pytest.mark.parametrize(
    ("views", "message"),
    [
        ({}, "needs at least one view"),
        (["age", "town"], "needs at least one view"),
        ("age", "needs at least one view"),
        ({1: ["age"]}, "A view is written to files of its name.*Got '1' instead"),
        ({"../up": ["age"]}, "A view is written to files of its name"),
        ({"a": "age"}, "The view 'a' must be a list of different attributes"),
        ({"a": 5}, "The view 'a' must be a list of different attributes"),
        ({"a": []}, "The view 'a' must be a list of different attributes"),
        ({"a": ["age", "age"]}, "The view 'a' must be a list of different attributes"),
        ({"a": ["height"]}, "there is no column 'height'"),
        ({"a": ["ill"]}, "The view 'a' has 'ill', which is sensitive"),
    ],
)
def test_views(views: Any, message: str) -> None:
    with pytest.raises((sd.ParameterError, sd.InputError), match=message):
        sd.generalize_views(TABLE, views, TWO)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "best"}, "must be one of 'simultaneous', 'all-attributes', 'sequential'"),
        ({"score": "best"}, "must be one of 'narrow', 'mondrian', 'paper'"),
        ({"order": ["a"]}, "must name every view once, for 'sequential'"),
        ({"weights": {"b": 1}}, "There is no view 'b' to weigh"),
        ({"candidates": 0}, "must be a whole number of 1 or more"),
        ({"alpha": 2}, "must be a number from 0 to 1"),
    ],
)
def test_parameters(options: Any, message: str) -> None:
    with pytest.raises(sd.ParameterError, match=message):
        sd.generalize_views(TABLE, {"a": ["age"]}, TWO, **options)
