"""One protocol for all requirements: each measures its own evidence, and says the same things about itself."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

import sudare as sd
from sudare.privacy.differential_privacy import PrivacyLoss
from sudare.privacy.multi_view import RemainingValues
from sudare.privacy.pk_anonymity import Spread
from sudare.privacy.promises import KINDS, promise_from_json, promise_to_json
from sudare.privacy.requirement import BlockRequirement, Requirement
from tests.privacy.plain import blocks_of

TWO_BLOCKS = blocks_of([(0, 0), (0, 1), (1, 0), (1, 0), (1, 1)])
# The views put 0, 1 | 2, 3 and 0 | 1, 2, 3 together, so the first person is alone in the second view.
TWO_VIEWS = RemainingValues.of(
    [np.array([0, 0, 1, 1]), np.array([0, 1, 1, 1])], np.array([0, 1, 0, 1]), np.ones(4, dtype=np.int64)
)


@dataclass(frozen=True)
class Case:
    """A requirement that some evidence meets, one of the same kind that it does not, and what is measured."""

    holding: Requirement[Any]
    failing: Requirement[Any]
    evidence: object
    name: str
    value: float
    worst: int


CASES = [
    Case(sd.KAnonymity(2), sd.KAnonymity(3), TWO_BLOCKS, "k", 2, 0),
    Case(sd.KMap(4), sd.KMap(5), replace(TWO_BLOCKS, covered=np.array([9, 4])), "k_map", 4, 1),
    # Of everybody in the first block 1 in 5 is in the table, and of the second 2 in 5.
    Case(
        sd.DeltaPresence(0.4),
        sd.DeltaPresence(0.39),
        replace(TWO_BLOCKS, presence=np.array([[0.2, 0.4], [0.2, 0.4]])),
        "presence",
        0.4,
        1,
    ),
    Case(sd.LDiversity(2), sd.LDiversity(3), TWO_BLOCKS, "l_distinct", 2, 0),
    # The table has 3/5 and 2/5: the first block is 1/10 from it, the second 1/15.
    Case(sd.TCloseness(0.1), sd.TCloseness(0.09), TWO_BLOCKS, "t", 0.1, 0),
    # The second value has 1/2 of the first block and 2/5 of the table; the first has 2/3 of the second and 3/5.
    Case(sd.BetaLikeness(0.25), sd.BetaLikeness(0.24), TWO_BLOCKS, "beta", 0.25, 0),
    Case(sd.DeltaDisclosure(0.23), sd.DeltaDisclosure(0.22), TWO_BLOCKS, "disclosure", math.log(1.25), 0),
    Case(sd.MultiViewDiversity(1), sd.MultiViewDiversity(2), TWO_VIEWS, "l_multiview", 1, 0),
    Case(sd.PkAnonymity(2), sd.PkAnonymity(2.1), Spread(math.log(999), records=1000), "pk", 2, 0),
    Case(sd.DifferentialPrivacy(1), sd.DifferentialPrivacy(0.9), PrivacyLoss(1.0), "epsilon", 1, 0),
]


def test_every_kind_has_a_case() -> None:
    assert [type(case.holding) for case in CASES] == list(KINDS)
    assert [type(case.failing) for case in CASES] == list(KINDS)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_measures_what_holds_and_what_fails(case: Case) -> None:
    met, broken = case.holding.measure(case.evidence), case.failing.measure(case.evidence)
    assert met.holds
    assert not broken.holds
    for measure in (met, broken):
        assert (measure.name, measure.worst) == (case.name, case.worst)
        assert measure.value == pytest.approx(case.value)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_says_what_it_is(case: Case) -> None:
    for requirement in (case.holding, case.failing):
        assert isinstance(requirement, Requirement)
        assert requirement.name == case.name
        assert requirement.attribute is None
        assert str(requirement) != repr(requirement)
        assert promise_from_json(promise_to_json(requirement)) == requirement
    assert str(case.holding) != str(case.failing)


def test_who_needs_a_sensitive_attribute_can_name_it() -> None:
    needing = [kind for kind in KINDS if kind.needs_sensitive]
    assert needing == [
        sd.LDiversity,
        sd.TCloseness,
        sd.BetaLikeness,
        sd.DeltaDisclosure,
        sd.MultiViewDiversity,
    ]
    for requirement in (
        sd.LDiversity(2, attribute="illness"),
        sd.TCloseness(0.1, attribute="illness"),
        sd.BetaLikeness(1, attribute="illness"),
        sd.DeltaDisclosure(1, attribute="illness"),
        sd.MultiViewDiversity(2, attribute="illness"),
    ):
        assert requirement.attribute == "illness"
        assert str(requirement).endswith(" of 'illness'")


def test_only_those_of_blocks_can_be_asked_of_one_block() -> None:
    of_blocks = [case.holding for case in CASES if isinstance(case.holding, BlockRequirement)]
    assert [type(requirement) for requirement in of_blocks] == [
        sd.KAnonymity,
        sd.KMap,
        sd.DeltaPresence,
        sd.LDiversity,
        sd.TCloseness,
        sd.BetaLikeness,
        sd.DeltaDisclosure,
    ]


def test_what_lacks_a_measure_is_no_requirement() -> None:
    class Wish:
        name = "k"
        attribute = None
        needs_sensitive = False

    assert not isinstance(Wish(), Requirement)
