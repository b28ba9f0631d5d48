"""Methods as objects: their fields, their short names, and how they are written."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import pytest

import sudare as sd
from sudare import methods
from sudare.pview.methods import METHODS, method_from_json, method_of

ALL = [
    methods.Pairs(),
    methods.DPMondrian(),
    methods.DPMondrian(theta=3, tree_share=Fraction(1, 3), beta=2, gamma=1, projection=True),
    methods.Identity(),
    methods.Independent(),
    methods.Dawa(),
    methods.PrivBayes(),
    methods.Hdmm(),
]


@pytest.mark.parametrize("method", ALL, ids=str)
def test_a_method_is_written_and_read_again(method: Any) -> None:
    assert method_from_json(json.loads(json.dumps(method.to_json()))) == method


def test_a_short_name_is_the_object_with_its_defaults() -> None:
    assert [method_of(name, {}) for name in METHODS] == [method for method in ALL if method != ALL[2]]
    assert method_of("dp-mondrian", {"theta": 3}) == methods.DPMondrian(theta=3)


def test_shares_are_taken_as_they_are_written() -> None:
    assert methods.DPMondrian(gamma=0.1).gamma == Fraction(1, 10)
    assert methods.DPMondrian(gamma=0.1) == methods.DPMondrian(gamma=Fraction(1, 10))


@pytest.mark.parametrize(
    "data",
    [
        None,
        [],
        "pairs",
        {},
        {"name": "histogram"},
        {"name": ["pairs"]},
        {"name": "pairs", "points": 5},
        {"name": "dp-mondrian"},
        *(
            methods.DPMondrian().to_json() | wrong
            for wrong in (
                {"theta": -1},
                {"theta": "1/2/3"},
                {"theta": True},
                {"beta": 101},
                {"gamma": "3/2"},
                {"gamma": "2/3x"},
                {"tree_share": None},
                {"more": 1},
            )
        ),
    ],
)
def test_what_no_method_is_refused(data: Any) -> None:
    with pytest.raises(sd.InputError, match=r"[Tt]he method"):
        method_from_json(data)


def test_parameters_beside_an_object_are_refused() -> None:
    with pytest.raises(sd.ParameterError, match="Give 'theta' to the method itself"):
        method_of(methods.DPMondrian(), {"theta": 1})
