"""The verb `randomize`: every record is changed at random by a known law, and released with that law."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict

import polars as pl
from numpy.typing import ArrayLike

from sudare.attacks.pk_game import pk_game
from sudare.noise.keystream import Keystream
from sudare.privacy.differential_privacy import DifferentialPrivacy
from sudare.privacy.pk_anonymity import PkAnonymity
from sudare.randomization.budget import Split
from sudare.randomization.laws import After, How
from sudare.randomization.plan import Histogram, RandomizationPlan, learn_plan
from sudare.release.certificate import Certificate, InputHash
from sudare.release.randomization_report import write_randomization_report
from sudare.release.release import Release
from sudare.release.verify import verify
from sudare.tables.table import Table


def randomize(
    table: Table,
    requirement: PkAnonymity | DifferentialPrivacy,
    *,
    how: Mapping[str, How] | None = None,
    split: Split = "equal",
    after: After = "clip",
    priors: Mapping[str, ArrayLike] | None = None,
    matrices: Mapping[str, ArrayLike] | None = None,
    histogram: Histogram = "private estimate",
    joint: Mapping[str, Sequence[str]] | None = None,
    unsafe_seed: int | None = None,
) -> Release:
    """Randomize every quasi and sensitive attribute of every record, so that the requirement holds; drop the others.

    Categories are kept or replaced ("retain"), numbers and dates get Laplace noise within their declared bounds
    ("noise"). `how` chooses otherwise by attribute: "bins" and "bits" for numbers, "optimal" for the PRAM that
    distorts a histogram least: a public one in `priors`, or one made as `histogram` says. `matrices` gives transition
    matrices of your own. `split` says how attributes share the budget: "equal" (by their weights), "least error" (which
    may give up some attributes for others), or "tie" and "paper tie" (one parameter for retention and noise). `after`
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
    source = Keystream() if unsafe_seed is None else Keystream.unsafe(unsafe_seed)
    plan = learn_plan(
        table, requirement, source, how=how, split=split, after=after, priors=priors, matrices=matrices,
        histogram=histogram, joint=joint,
    )  # fmt: skip
    return _release(table, plan, requirement, source)


def _release(
    table: Table, plan: RandomizationPlan, requirement: PkAnonymity | DifferentialPrivacy, source: Keystream
) -> Release:
    """Draw the output, verify it from what is published, and certify it."""
    original = plan.codes(table)
    codes, law = plan.sample(original, source), plan.to_json()
    data = _shuffled(plan.decode(codes), source)
    verification = verify(data, requirement, table.schema, plan=law)
    verification.refuse_if_broken()
    commitment, salt = InputHash.commit(table.source.name, table.digest())
    certificate = Certificate(
        requirements=[str(requirement)],
        measured=verification.measured,
        method="randomize",
        utility=_utility(plan),
        attacks={
            "output": {"pk_game": asdict(pk_game(original, codes, law["attributes"], limit=1 / plan.k))}
        },
        records={"read": len(table), "published": data.height, "suppressed": 0},
        randomness=f"{source.description}; rows shuffled with it too",
        caveats=plan.caveats,
        input=commitment,
    )
    report = write_randomization_report(table, data, plan, certificate)
    return Release(data, plan, certificate, [requirement], table.schema, report, salt)


def _utility(plan: RandomizationPlan) -> dict[str, object]:
    """Say how often the values of each attribute are expected to change, and how far numbers are to move."""
    return {"changes": {law.name: law.expected_change() for law in plan.laws}}


def _shuffled(data: pl.DataFrame, source: Keystream) -> pl.DataFrame:
    """Put the rows into an order that tells nothing about the original one."""
    return data[pl.Series(source.words(data.height)).arg_sort()]
