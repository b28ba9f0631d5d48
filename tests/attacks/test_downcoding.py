from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import sudare as sd
from sudare.attacks.attack import attack
from sudare.attacks.downcoding import Downcoding

CLUSTERS, WIDTH = 120, 4
NAMES = [f"a{i}" for i in range(WIDTH)]
# Clusters are far from each other: it takes many levels until two of them meet.
TREE = sd.Hierarchy.from_rows([f"{c}.{part}", *[f"{c}"] * 9, "*"] for c in range(CLUSTERS) for part in "io")
SCHEMA = sd.Schema.from_roles(quasi=NAMES, hierarchies=dict.fromkeys(NAMES, TREE))
K5 = sd.KAnonymity(5)


def clustered(each: int, seed: int) -> sd.Table:
    """Clusters with heavy tails: one person in ten is in the outer part, in all attributes, and the others in the inner one."""
    rng = np.random.default_rng(seed)
    parts = [(c, "o" if rng.random() < 0.1 else "i") for c in range(CLUSTERS) for _ in range(each)]
    return sd.read(
        pl.DataFrame([[f"{c}.{part}"] * WIDTH for c, part in parts], schema=NAMES, orient="row"), SCHEMA
    )


TABLE, OTHERS = clustered(6, seed=1), clustered(100, seed=2)


def attacked(release: pl.DataFrame, method: str, schema: sd.Schema = SCHEMA, **options: object) -> Downcoding:
    given = {"population": OTHERS, "truth": TABLE, "requirements": K5} | options
    return attack(release, schema, kind="downcoding", method=method, **given)


@pytest.mark.parametrize(
    "method", ["minimal", *(pytest.param(own, marks=pytest.mark.slow) for own in ("mondrian", "blind"))]
)
def test_heavy_tails_are_undone(method: str) -> None:
    """Cohen's setting: every attribute is quasi, hierarchies are trees, nothing climbs without need. Where labels climbed to the
    whole cluster, somebody is in its outer part; most often one person, in all attributes. So most records of such
    blocks, a good part of the table, are recovered whole, by who has the release and knows people like them."""
    release = sd.generalize(TABLE, K5, method).frame()
    coarse = release.filter(~pl.col("a0").str.contains(".", literal=True)).height
    undone = attacked(release, method)
    assert undone.records == coarse >= 200
    assert undone.whole_after > 0.7
    assert undone.right_after >= undone.whole_after
    assert (
        undone.right_before < 0.2
    )  # without it, most often all are taken to be inside, which is never right
    assert "It is right for" in str(undone)
    unknown = attacked(release, "some-method")
    assert unknown.right_after == unknown.right_before == undone.right_before


def test_labels_of_regions_cannot_be_undone_by_knowing_them() -> None:
    """A label does not tell that somebody is in the outer part, and no block with fewer than 2k records could be cut."""
    release = sd.generalize(TABLE, K5, "blind", region_labels=True).frame()
    kept = attacked(release, "blind-regions")
    assert kept.records == len(TABLE)
    assert kept.right_after == kept.right_before
    assert kept.believed_after == kept.believed_before
    far_out = release.join(release, on=NAMES, how="semi").group_by(NAMES).len()
    assert far_out["len"].max() < 2 * K5.k


def test_two_records_of_two_sexes_are_one_of_each() -> None:
    schema = sd.Schema.from_roles(quasi=["town", "sex"])
    table = sd.read(pl.DataFrame({"town": [f"t{i // 2}" for i in range(40)], "sex": ["f", "m"] * 20}), schema)
    release = sd.generalize(table, sd.KAnonymity(2), "mondrian").frame()
    assert release["sex"].unique().to_list() == ["*"]
    options = {"population": table, "requirements": sd.KAnonymity(2)}
    undone = attacked(release, "mondrian", schema, truth=table, **options)
    assert (undone.records, undone.likely, undone.believed_after, undone.right_after) == (40, 40, 1.0, 1.0)
    assert undone.believed_before < 0.7
    outsiders = attacked(release, "mondrian", schema, truth=None, **options)
    assert (outsiders.likely, outsiders.right_after) == (40, None)


def test_where_no_label_climbed_there_is_nothing_to_undo() -> None:
    schema, frame = sd.Schema.from_roles(quasi=["sex"]), pl.DataFrame({"sex": ["f", "m"] * 20})
    undone = attacked(frame, "minimal", schema, population=frame, truth=None)
    assert undone.records == 0
    assert "nothing to undo" in str(undone)


def test_labels_that_are_no_nodes_are_refused() -> None:
    schema = sd.Schema.from_roles(quasi=["age"])
    people = pl.DataFrame({"age": [20, 21, 30, 31]})
    with pytest.raises(sd.InputError, match="'age': some label is no node of a hierarchy"):
        attacked(
            pl.DataFrame({"age": ["[20, 21]"] * 2 + ["*"] * 2}),
            "mondrian",
            schema,
            population=people,
            truth=None,
        )


def test_tables_of_very_many_attributes_are_tried() -> None:
    rng = np.random.default_rng(1)
    names = [f"a{i}" for i in range(80)]
    frame = pl.DataFrame(rng.integers(0, 3, (60, 80)), schema=names)
    release = sd.generalize(
        sd.read(frame, sd.Schema.from_roles(quasi=names)), sd.KAnonymity(2), effort="quick"
    )
    assert release.holder["attacks"]["knowing"]["downcoding"]
