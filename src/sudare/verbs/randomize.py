"""The verb `randomize`: every record is changed at random by a known law, and released with that law."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import partial
from typing import Any

import polars as pl
from numpy.typing import ArrayLike

from sudare.attacks.pk_game import MAX_PERSONS, PkGame, pk_game
from sudare.errors import InputError
from sudare.noise.keystream import Keystream
from sudare.plans.law import LawForm
from sudare.privacy.certificate import Certificate
from sudare.privacy.differential_privacy import DifferentialPrivacy
from sudare.privacy.pk_anonymity import PkAnonymity, k_of
from sudare.randomization.budget import Split
from sudare.randomization.choices import published
from sudare.randomization.draw import draw, input_codes
from sudare.randomization.learn import learn_plan
from sudare.randomization.methods import After, Histogram, How, Loss, RandomizationMethod
from sudare.randomization.plan import RandomizationPlan
from sudare.release.certify import Declared, HandedOver
from sudare.release.release import Kept, Release
from sudare.reports.randomization import write_randomization_report
from sudare.tables.attribute import Role
from sudare.tables.runs import PublishedRows
from sudare.tables.schema import rows_together
from sudare.tables.table import Table, table_given
from sudare.verbs.most_rows import rows_at_most
from sudare.verbs.units import refuse_alike_units
from sudare.verification.columns import refuse_columns


def randomize(
    table: Table,
    requirement: PkAnonymity | DifferentialPrivacy,
    *,
    how: Mapping[str, How | RandomizationMethod] | None = None,
    split: Split = "equal",
    after: After = "clip",
    priors: Mapping[str, ArrayLike] | None = None,
    matrices: Mapping[str, ArrayLike] | None = None,
    histogram: Histogram = "private-estimate",
    joint: Mapping[str, Sequence[str]] | None = None,
    loss: Loss = "published",
    estimate_share: float | None = None,
    unsafe_seed: int | None = None,
) -> Release:
    """Randomize every quasi and sensitive attribute of every record, so that the requirement holds; drop the others.

    Categories are kept or replaced ("retain"), numbers and dates get Laplace noise within their declared bounds
    ("noise"). `how` chooses otherwise by attribute: "bins" and "bits" for numbers, "optimal" for the matrix that is best
    for a histogram, a public one in `priors` or one made as `histogram` says, and for what `loss` says is to be small: the distortion of the
    "published" histogram, how often a "record" changes, the error after "reconstruction", or changes in the "worst case". An estimate of
    the histogram takes `estimate_share` of the attribute's budget. `matrices` gives transition
    matrices of your own. `split` says how attributes share the budget: "equal" (by their weights), "least-error" (which
    may give up some attributes for others), or "tie" and "paper-tie" (one parameter for retention and noise). `after`
    says what is done with noise that leaves the bounds. Instead of a word, `how` may have a method with options of its
    own, such as `Noise(after="reflect")` or `Optimal(prior=[...])`. The law is published with the data: `reconstruct` needs it.

    Where the schema says which rows are of one person or household, the law hides `most_rows` of them together (of one with more, so many
    are drawn at random): epsilon and k are theirs, whoever points at a row.

    `joint` names groups of attributes that get one law over all their combinations, `joint={"who": ["sex", "race"]}`;
    `how`, `priors` and `matrices` then speak of `who`.

    >>> import polars as pl, sudare as sd
    >>> table = sd.read(pl.DataFrame({"age": [20, 30, 40] * 100, "ill": ["yes", "no", "no"] * 100}), sd.Schema.from_roles(
    ...     quasi=["age"], sensitive=["ill"], bounds={"age": (0, 120)}, domains={"ill": ["yes", "no"]}))
    >>> release = sd.randomize(table, sd.PkAnonymity(5))
    >>> release.certificate.measured["pk"] >= 5
    True
    """
    table_given(table, "randomize")
    refuse_columns(table.names(Role.quasi) + table.names(Role.sensitive), table.schema)
    source = _source(unsafe_seed)
    some = _protected(table, source)
    plan = learn_plan(
        some, requirement, source, how=how, split=split, after=after, priors=priors, matrices=matrices,
        histogram=histogram, joint=joint, loss=loss, estimate_share=estimate_share,
    )  # fmt: skip
    return _release(table, some, plan, source)


def randomize_by_plan(table: Table, plan: RandomizationPlan, *, unsafe_seed: int | None = None) -> Release:
    """Randomize a table by a plan that was learned before, from this table or from another one of the same schema.

    What that means for the people of both tables is said at `RandomizationPlan.for_table`, and in the certificate's
    caveats. A plan whose requirement this table has too few records for is refused.

    >>> import polars as pl, sudare as sd
    >>> schema = sd.Schema.from_roles(sensitive=["ill"], domains={"ill": ["yes", "no"]})
    >>> first, second = (sd.read(pl.DataFrame({"ill": ["yes", "no"] * n}), schema) for n in (100, 150))
    >>> plan = sd.randomize(first, sd.PkAnonymity(5)).plan
    >>> round(randomize_by_plan(second, plan).certificate.measured["pk"], 2)
    7.01
    """
    source = _source(unsafe_seed)
    some = _protected(table, source)
    return _release(table, some, plan.for_table(some), source)


def apply_law(
    plan: RandomizationPlan, table: Table, source: Keystream
) -> tuple[pl.DataFrame, dict[str, Any]]:
    """Draw a table by a plan that was learned before; return the rows in the order of their values, and the law."""
    some = _protected(table, source)
    plan = plan.for_table(some)
    return _drawn(some, plan, source).frame(), plan.to_json()


def _protected(table: Table, source: Keystream) -> Table:
    """Return the rows that are drawn anew: of a person or household no more than are protected together."""
    unit = table.schema.unit
    if unit is None:
        return table
    if table.schema[unit].linked:
        raise InputError(
            f"{table.source.name}: rows that say which of them are of one {table.schema[unit].role} are not randomized, since their values together tell more "
            f"of it than noise on each hides. Take linked = true off '{unit}', or use generalize."
        )
    most = rows_together(table.schema)
    refuse_alike_units(table)
    names = [name for name in table.columns if name in published(table.schema)]
    return rows_at_most(table, names, most, source)


def _release(table: Table, some: Table, plan: RandomizationPlan, source: Keystream) -> Release:
    """Draw anew what is protected of a table, certify the output from what is published, and say what the holder keeps."""
    data, law = _drawn(some, plan, source), plan.to_json()
    handed_over = HandedOver({"data": data}, law)
    randomness = f"{source.description}; rows stand in the order of their published values"
    declared = Declared((plan.requirement,), "randomize", table.schema, randomness, tuple(plan.caveats))
    kept = Kept(
        plan,
        table,
        record=partial(_record, table, some, plan),
        report=partial(_report, table, some, plan),
    )
    return Release(handed_over, declared, kept).refuse_if_broken()


def _report(table: Table, some: Table, plan: RandomizationPlan, release: Release) -> str:
    data = release.handed_over.frames["data"]
    left_out = [name for name in table.columns if name not in plan.attributes]
    return write_randomization_report(some, left_out, data, plan, release.certificate, release.holder)


def _drawn(table: Table, plan: RandomizationPlan, source: Keystream) -> PublishedRows:
    """Return new values for every record, in the order of these values."""
    places = plan.places(table)
    return table.rows.changed(plan.attributes, lambda rows: plan.decode(draw(plan, places, rows, source)))


def _source(unsafe_seed: int | None) -> Keystream:
    return Keystream() if unsafe_seed is None else Keystream.unsafe(unsafe_seed)


def _record(table: Table, some: Table, plan: RandomizationPlan, _certificate: Certificate) -> dict[str, Any]:
    """Measure what needs the original: let somebody who knows it look for people in what the plan draws."""
    game = _game(some, plan)
    return {
        "sampling_fraction": table.schema.sampling_fraction,
        "records": {
            "read": len(table),
            "published": plan.records,
            "suppressed": len(table) - plan.records,
        },
        "utility": {"changes": {law.name: law.expected_change() for law in plan.laws}},
        "attacks": {"output": {"pk_game": asdict(game)}},
    }


def _game(table: Table, plan: RandomizationPlan) -> PkGame:
    """Play the Pk game on a sample of the table's rows. It judges the law: who was published as what is not remembered."""
    persons, places = table.rows.sample(plan.attributes, MAX_PERSONS, seed=0), plan.places(table)
    original = input_codes(plan, places, dict(zip(plan.attributes, persons.T, strict=True)))
    forms = {law.name: LawForm.of(law.name, law.to_json()) for law in plan.laws}
    return pk_game(original, forms, limit=1 / k_of(plan.spread, len(persons)))
