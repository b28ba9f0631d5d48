"""What the pages show of what was tried on a sample: plain data."""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import Any

import numpy as np

from sudare.generalization.nodes import Lattice
from sudare.generalization.problem import with_hierarchies
from sudare.plans.generalization import GeneralizationPlan
from sudare.plans.plan import Plan
from sudare.privacy.in_population import of_blocks
from sudare.pview.pview import PView
from sudare.randomization.plan import RandomizationPlan
from sudare.reports.words import shown_value
from sudare.studio.ask import quoted
from sudare.studio.summaries import Names
from sudare.tables.table import Table
from sudare.utility.distortion import distortion
from sudare.verbs.generalization_record import least_distortion
from sudare.verbs.reconstruct import reconstruct

MAX_EXPONENT = 500.0
MAX_COUNTED = 200  # values of a column whose counts are estimated for a preview


def previewed(names: Names) -> dict[str, Any]:
    """Return risk and utility of what was tried on the sample."""
    release, risk = names["release"], names["risk"]
    plan: Plan = release.plan
    assert isinstance(plan, GeneralizationPlan)
    outcome = plan.locate(names["sample"]).at_once("a preview").outcome()
    return {
        "asked": " + ".join(map(str, release.requirements)),
        "risk": risk.marketer,
        "largest": risk.prosecutor.largest,
        "distortion": distortion(outcome),
        "rows": len(names["sample"]),
        "blocks": risk.blocks,
    }


def law_previewed(names: Names) -> dict[str, Any]:
    """Return how likely a record is found, and within how many records a count lies that is estimated from what comes out."""
    release = names["release"]
    plan = release.plan
    assert isinstance(plan, RandomizationPlan)
    few = [name for law in plan.laws for name in law.attributes if len(law.domain) <= MAX_COUNTED]
    estimates = [reconstruct(release, name, method="unbiased") for name in few or plan.attributes[:1]]
    rows = len(names["sample"])
    halves = [float(np.minimum((one.high - one.low) / 2, rows / 2).mean()) for one in estimates]
    found = {"risk": 1 / plan.k, "distortion": float(np.mean(halves)), "rows": rows}
    return found | {"asked": " + ".join(map(str, release.certificate.requirements))}


def noise_previewed(names: Names) -> dict[str, Any]:
    """Return how sure somebody may become that a person is in it, and within how many records a count lies."""
    view: PView = names["release"]
    halves = []
    for axis in view.domain.axes:
        name = quoted(axis.name)
        answers = view.sql(f"SELECT {name}, COUNT(*) FROM view GROUP BY {name}")
        halves.append(float((answers["count_high"] - answers["count_low"]).mean()) / 2)  # type: ignore[arg-type]
    odds = math.exp(min(float(view.certificate.measured["epsilon"]), MAX_EXPONENT))
    found = {"risk": odds / (1 + odds), "distortion": float(np.mean(halves)), "rows": len(names["sample"])}
    return found | {"asked": " + ".join(map(str, view.certificate.requirements))}


def looked_at(names: Names) -> dict[str, Any]:
    """Return what each choice of levels comes to, and for each level a label that many people of the sample have on it."""
    seen: Lattice = names["seen"]
    sample = with_hierarchies(names["sample"])
    return asdict(seen) | {
        "whole": seen.is_whole,
        "labels": {name: _labels(sample, name) for name in seen.names},
    }


def _labels(sample: Table, name: str) -> list[str]:
    tree, counts = sample[name].hierarchy, sample.counts([name])
    assert tree is not None  # with_hierarchies gave every quasi attribute one
    found = []
    for labels, codes in zip(tree.labels, tree.codes, strict=True):
        people = np.bincount(codes[counts.codes[:, 0]], counts.weights)
        found.append(shown_value(labels[int(people.argmax())]))
    return found


def bounded(names: Names) -> dict[str, Any]:
    """Return below which distortion no method can go, for what was tried."""
    release = names["release"]
    bound = least_distortion(names["sample"], of_blocks(release.requirements))
    return {"asked": " + ".join(map(str, release.requirements)), "bound": bound}
