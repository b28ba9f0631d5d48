from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import sudare as sd
from sudare.utility.blocks import discernibility
from sudare.utility.distortion import distortion_by_attribute, weighted_mean
from sudare.utility.outcome import Outcome
from tests import by_row


@pytest.fixture
def table() -> sd.Table:
    schema = sd.Schema.from_roles(
        quasi=["zip", "sex"], hierarchies={"zip": sd.Hierarchy.mask(["021", "022"])}, weights={"sex": 3.0}
    )
    return sd.read(pl.DataFrame({"zip": ["021", "022"] * 5, "sex": list("fm") * 5}), schema)


def test_cost_is_the_share_of_the_height_climbed(table: sd.Table) -> None:
    assert distortion_by_attribute(Outcome.of(table, [1, 1])) == {"zip": pytest.approx(1 / 3), "sex": 1.0}


def test_a_suppressed_record_costs_one_in_every_cell(table: sd.Table) -> None:
    kept = np.arange(10) > 0
    assert distortion_by_attribute(by_row.outcome(table, [0, 0], kept)) == {"zip": 0.1, "sex": 0.1}


def test_weights_count(table: sd.Table) -> None:
    assert weighted_mean({"zip": 1.0, "sex": 0.0}, table) == 0.25


def test_discernibility_of_suppressed_records() -> None:
    assert discernibility(np.array([2, 3]), suppressed=2) == 4 + 9 + 2 * 7
