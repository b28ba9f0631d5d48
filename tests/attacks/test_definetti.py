from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

import sudare as sd
from benchmarks.common import QUASI, SENSITIVE, adult_table
from sudare.attacks.attack import attack

SCHEMA = sd.Schema.from_roles(quasi=["ward", "smokes"], sensitive=["ill"])


def hospital(groups: int, seed: int = 0) -> pl.DataFrame:
    """Smokers have lung cancer far more often; wards of four people, who smoke more or less."""
    rng = np.random.default_rng(seed)
    rows = []
    for ward in range(groups):
        share = rng.choice([0.1, 0.5, 0.9])
        for _ in range(4):
            smokes = rng.random() < share
            ill = "cancer" if rng.random() < (0.8 if smokes else 0.1) else "flu"
            rows.append((f"w{ward}", "yes" if smokes else "no", ill))
    return pl.DataFrame(rows, schema=["ward", "smokes", "ill"], orient="row")


def blurred(frame: pl.DataFrame) -> pl.DataFrame:
    """Who smokes is not published: within a ward all are alike, and it has both illnesses or is left out."""
    both = frame.group_by("ward").agg(pl.col("ill").n_unique() > 1).filter("ill")["ward"]
    return frame.filter(pl.col("ward").is_in(both.implode())).with_columns(smokes=pl.lit("*"))


def test_the_smoker_is_believed_to_have_cancer() -> None:
    """The paper's argument: by the block alone a ward's smoker has cancer with 1/2; by all wards together almost surely."""
    frame = hospital(300)
    published = blurred(frame)
    known = sd.read(frame.filter(pl.col("ward").is_in(published["ward"].unique().implode())), SCHEMA)
    gain = attack(published, SCHEMA, kind="definetti", known=known).gain
    assert gain.people == published.height
    assert gain.right_after > gain.right_before + 0.1
    assert gain.believed_after > gain.believed_before + 0.08
    assert gain.strongest_after > 0.8


def test_a_pair_of_a_smoker_and_another() -> None:
    """Wards of smokers alone show cancer, of others flu; of the mixed pair with one of each it is clear who has what."""
    rows = [(f"s{i}", "yes", ill) for i in range(8) for ill in ("cancer", "cancer", "flu")]
    rows += [(f"n{i}", "no", ill) for i in range(8) for ill in ("flu", "flu", "cancer")]
    rows += [("pair", "yes", "cancer"), ("pair", "no", "flu")]
    frame = pl.DataFrame(rows, schema=["ward", "smokes", "ill"], orient="row")
    published = frame.with_columns(
        smokes=pl.when(pl.col("ward") == "pair").then(pl.lit("*")).otherwise("smokes")
    )
    gain = attack(published, SCHEMA, kind="definetti", known=frame.select("ward", "smokes")).gain
    assert gain.strongest_before == 0.5  # the random worlds' belief, and l-diversity's
    assert gain.strongest_after > 0.7
    assert gain.risen == 2
    assert gain.right_after is None  # nobody told the truth


def test_where_nothing_goes_together_nothing_is_learned() -> None:
    rng = np.random.default_rng(1)
    frame = hospital(300).with_columns(ill=pl.Series(rng.choice(["cancer", "flu"], 1200)))
    published = blurred(frame)
    known = sd.read(frame.filter(pl.col("ward").is_in(published["ward"].unique().implode())), SCHEMA)
    gain = attack(published, SCHEMA, kind="definetti", known=known).gain
    assert abs(gain.right_after - gain.right_before) < 0.05


@pytest.mark.parametrize("method", ["mondrian", pytest.param("minimal", marks=pytest.mark.slow)])
def test_occupations_of_adults(data_folder: Path, method: str) -> None:
    """The paper's own table and attribute, published by our methods: the model is right more often than the blocks."""
    frame = sd.datasets.load("adult-train").drop_nulls().select(*QUASI, SENSITIVE).head(6000)
    table = adult_table(frame)
    release = sd.generalize(table, [sd.KAnonymity(5), sd.LDiversity(3)], method)
    gain = attack(release.frame(), table.schema, kind="definetti", known=table).gain
    assert gain.people > 5000
    assert gain.right_after > gain.right_before + 0.01


def test_wrong_attributes_are_refused() -> None:
    frame = hospital(3)
    with pytest.raises(sd.ParameterError, match="no sensitive attribute 'ward'"):
        attack(frame, SCHEMA, kind="definetti", known=frame, attribute="ward")
