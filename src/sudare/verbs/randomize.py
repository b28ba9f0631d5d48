"""The verb `randomize`: every record is changed at random by a known law, and released with that law."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import partial
from typing import Any

from numpy.typing import ArrayLike, NDArray

from sudare.attacks.pk_game import pk_game
from sudare.noise.keystream import Keystream
from sudare.privacy.differential_privacy import DifferentialPrivacy
from sudare.privacy.pk_anonymity import PkAnonymity
from sudare.randomization.budget import Split
from sudare.randomization.laws import After, How
from sudare.randomization.plan import Histogram, RandomizationPlan, learn_plan
from sudare.release.certify import Declared, HandedOver, certify
from sudare.release.published import in_order
from sudare.release.release import Kept, Release
from sudare.reports.randomization import write_randomization_report
from sudare.tables.schema import Role
from sudare.tables.table import Table
from sudare.verification.certificate import InputHash
from sudare.verification.columns import refuse_columns


def randomize(
    table: Table,
    requirement: PkAnonymity | DifferentialPrivacy,
    *,
    how: Mapping[str, How] | None = None,
    split: Split = "equal",
    after: After = "clip",
    priors: Mapping[str, ArrayLike] | None = None,
    matrices: Mapping[str, ArrayLike] | None = None,
    histogram: Histogram = "private-estimate",
    joint: Mapping[str, Sequence[str]] | None = None,
    unsafe_seed: int | None = None,
) -> Release:
    """Randomize every quasi and sensitive attribute of every record, so that the requirement holds; drop the others.

    Categories are kept or replaced ("retain"), numbers and dates get Laplace noise within their declared bounds
    ("noise"). `how` chooses otherwise by attribute: "bins" and "bits" for numbers, "optimal" for the PRAM that
    distorts a histogram least: a public one in `priors`, or one made as `histogram` says. `matrices` gives transition
    matrices of your own. `split` says how attributes share the budget: "equal" (by their weights), "least-error" (which
    may give up some attributes for others), or "tie" and "paper-tie" (one parameter for retention and noise). `after`
    says what is done with noise that leaves the bounds. The law is published with the data: `reconstruct` needs it.

    `joint` names groups of attributes that get one law over all their combinations, `joint={"who": ["sex", "race"]}`;
    `how`, `priors` and `matrices` then speak of `who`.

    >>> import polars as pl, sudare as sd
    >>> table = sd.read(pl.DataFrame({"age": [20, 30, 40] * 100, "ill": ["yes", "no", "no"] * 100}), sd.Schema.from_roles(
    ...     quasi=["age"], sensitive=["ill"], bounds={"age": (0, 120)}, domains={"ill": ["yes", "no"]}))
    >>> release = sd.randomize(table, sd.PkAnonymity(5))
    >>> release.certificate.measured["pk"] >= 5
    True
    """
    refuse_columns(table.names(Role.quasi) + table.names(Role.sensitive), table.schema)
    source = Keystream() if unsafe_seed is None else Keystream.unsafe(unsafe_seed)
    plan = learn_plan(
        table, requirement, source, how=how, split=split, after=after, priors=priors, matrices=matrices,
        histogram=histogram, joint=joint,
    )  # fmt: skip
    return _release(table, plan, requirement, source)


def _release(
    table: Table, plan: RandomizationPlan, requirement: PkAnonymity | DifferentialPrivacy, source: Keystream
) -> Release:
    """Draw the output, certify it from what is published, and say what the holder keeps."""
    original = plan.codes(table)
    codes, law = plan.sample(original, source), plan.to_json()
    data = in_order(plan.decode(codes))
    handed_over = HandedOver({"data": data}, law)
    randomness = f"{source.description}; rows stand in the order of their published values"
    declared = Declared([requirement], "randomize", table.schema, randomness, plan.caveats)
    commitment, salt = InputHash.commit(table.name, table.digest())
    certificate = certify(handed_over, declared, commitment)
    kept = Kept(
        plan,
        salt,
        record=partial(_record, plan, original, codes, law),
        report=partial(write_randomization_report, table, data, plan, certificate),
        table=table,
    )
    return Release(handed_over, declared, certificate, kept)


def _record(
    plan: RandomizationPlan,
    original: Mapping[str, NDArray[Any]],
    codes: Mapping[str, NDArray[Any]],
    law: Mapping[str, Any],
) -> dict[str, Any]:
    """Measure what needs the original: let somebody who knows it look for people in what was drawn."""
    game = pk_game(original, codes, law["attributes"], limit=1 / plan.k)
    return {
        "records": {"read": plan.records, "published": plan.records, "suppressed": 0},
        "utility": {"changes": {one.name: one.expected_change() for one in plan.laws}},
        "attacks": {"output": {"pk_game": asdict(game)}},
    }
