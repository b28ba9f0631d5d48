from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import sudare as sd
from sudare.attacks.attack import attack

CLUSTERS, WIDTH, K = 120, 4, 5
NAMES = [f"a{i}" for i in range(WIDTH)]


def tree() -> sd.Hierarchy:
    """A cluster has an inner part, where most of its people are, and an outer one."""
    return sd.Hierarchy.from_rows(
        [f"{c}.{part}{x}", f"{c}.{part}", f"{c}", "*"]
        for c in range(CLUSTERS)
        for part in "io"
        for x in range(3)
    )


SCHEMA = sd.Schema.from_roles(quasi=NAMES, hierarchies=dict.fromkeys(NAMES, tree()))


def clustered(each: int, seed: int) -> pl.DataFrame:
    """Clusters of heavy tails: one person in ten is far out, in all attributes."""
    rng = np.random.default_rng(seed)
    rows = []
    for c in range(CLUSTERS):
        for _ in range(each):
            part = "o" if rng.random() < 0.1 else "i"
            rows.append([f"{c}.{part}{rng.integers(3)}" for _ in NAMES])
    return pl.DataFrame(rows, schema=NAMES, orient="row")


@pytest.mark.parametrize("method", ["mondrian", "minimal"])
def test_heavy_tails_are_undone(method: str) -> None:
    """Cohen's setting: every attribute is quasi, hierarchies are trees, nothing climbs without need. Where it climbed to the
    whole cluster, somebody is far out; most often one person, and in all attributes."""
    table, others = sd.read(clustered(6, 1), SCHEMA), sd.read(clustered(100, 2), SCHEMA)
    release = sd.generalize(table, sd.KAnonymity(K), method)
    undone = attack(
        release.frame(),
        SCHEMA,
        kind="downcoding",
        population=others,
        truth=table,
        requirements=sd.KAnonymity(K),
        method=method,
    )
    assert undone.records >= 200
    far_out = release.frame().filter(pl.col("a0").str.contains(r"^\d+$")).height
    assert far_out >= 150
    without = attack(
        release.frame(),
        SCHEMA,
        kind="downcoding",
        population=others,
        truth=table,
        requirements=sd.KAnonymity(K),
        method="other",
    )
    assert without.right_after == without.right_before  # who does not know how labels are made gains nothing
    assert undone.right_after > without.right_after + 0.1
    assert "It is right for" in str(undone)


def test_most_of_each_cluster_with_somebody_far_out_is_recovered() -> None:
    """With no more leaves than parts, blocks with somebody far out are undone whole."""
    flat = sd.Hierarchy.from_rows([f"{c}.{part}", f"{c}", "*"] for c in range(CLUSTERS) for part in "io")
    schema = sd.Schema.from_roles(quasi=NAMES, hierarchies=dict.fromkeys(NAMES, flat))

    def parts(frame: pl.DataFrame) -> pl.DataFrame:
        return frame.with_columns(pl.col(NAMES).str.head(-1))

    table, others = sd.read(parts(clustered(6, 1)), schema), sd.read(parts(clustered(100, 2)), schema)
    release = sd.generalize(table, sd.KAnonymity(K), "mondrian")
    coarse = release.frame().filter(~pl.col("a0").str.contains(".", literal=True)).height
    undone = attack(
        release.frame(),
        schema,
        kind="downcoding",
        population=others,
        truth=table,
        requirements=sd.KAnonymity(K),
        method="mondrian",
    )
    assert undone.records == coarse >= 200
    assert undone.right_before == 0.0  # without it, all are taken to be inside, and nobody is right
    assert undone.whole_after > 0.7
    assert undone.right_after >= undone.whole_after
    region = sd.generalize(table, sd.KAnonymity(K), sd.methods.Blind(region_labels=True))
    kept = attack(
        region.frame(), schema, kind="downcoding", population=others, truth=table, requirements=sd.KAnonymity(K),
        method="blind-regions",
    )  # fmt: skip
    assert kept.right_after == kept.right_before
    assert kept.believed_after == kept.believed_before


def test_two_records_of_two_sexes_are_one_of_each() -> None:
    schema = sd.Schema.from_roles(quasi=["town", "sex"])
    table = sd.read(pl.DataFrame({"sex": ["f", "m"] * 20, "town": [f"t{i // 2}" for i in range(40)]}), schema)
    release = sd.generalize(table, sd.KAnonymity(2), "mondrian")
    assert release.frame()["sex"].unique().to_list() == ["*"]
    undone = attack(
        release.frame(),
        schema,
        kind="downcoding",
        population=table,
        truth=table,
        requirements=sd.KAnonymity(2),
        method="mondrian",
    )
    assert (undone.records, undone.likely, undone.believed_after, undone.right_after) == (40, 40, 1.0, 1.0)
    assert undone.believed_before < 0.7


def test_where_no_label_climbed_there_is_nothing_to_undo() -> None:
    schema = sd.Schema.from_roles(quasi=["sex"])
    frame = pl.DataFrame({"sex": ["f", "m"] * 20})
    undone = attack(
        frame, schema, kind="downcoding", population=frame, requirements=sd.KAnonymity(2), method="minimal"
    )
    assert undone.records == 0
    assert "nothing to undo" in str(undone)
