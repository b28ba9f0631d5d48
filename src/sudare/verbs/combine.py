"""The verb `combine`: several p-views, of the same rows or of states of a table, as one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import get_args

import numpy as np
from numpy.typing import NDArray

from sudare.errors import InputError, ParameterError
from sudare.privacy.certificate import Certificate
from sudare.privacy.differential_privacy import DifferentialPrivacy
from sudare.privacy.requirement import one_of
from sudare.pview.combined import MAX_PARTS, MAX_ROWS, Combined, Of
from sudare.pview.pview import PView
from sudare.pview.spending import Spending
from sudare.release.certify import certify_combined
from sudare.verbs.materialize import size_of
from sudare.verification.claims import promised_by
from sudare.verification.recount_budget import epsilon_spent, refuse_overspent

COUNTED: dict[Of, str] = {
    "same rows": "Combined of {} p-views, which their holder declares to be of the same rows. The promise is what all of them "
    "spent together.",
    "mean": "Combined of {} p-views of tables that may differ, such as states of one table: counts are the mean over the "
    "tables. The promise is what all of them spent together, to somebody with one record in each.",
}
FINE = 10**6  # parts of an epsilon, to which that of rhos is rounded up


def combine(pviews: Sequence[PView], of: Of = "same rows") -> PView:
    """Combine p-views over one domain, made by one method, into one whose answers use all of them.

    Nothing is measured, and nothing spent: the new p-view follows from those that there are, and promises what they promise
    together (epsilons add up, or rhos). Whether they are of the same rows cannot be seen from outside, so it is declared:

    - `of="same rows"`: what is counted are these rows. A p-view weighs the more, the more it spent; the interval is narrower
      as far as the p-views differ as much as their errors say, and stays as wide as theirs where they err alike.
    - `of="mean"`: the tables may differ, such as the states of one table over time. What is counted is the mean over the
      tables, each with the same weight. As a change cannot be told from an error, intervals are as wide as the p-views' own
      on average. (For the latest state, ask the latest p-view.)

    A combined p-view can be combined again, with the same declaration: then all parts are combined anew.

    >>> import polars as pl, sudare as sd
    >>> table = sd.read(pl.DataFrame({"ill": ["yes"] * 300 + ["no"] * 700}), sd.Schema.from_roles(
    ...     sensitive=["ill"], domains={"ill": ["yes", "no"]}))
    >>> several = [sd.materialize(table, sd.DifferentialPrivacy(0.5), "identity") for _ in range(4)]
    >>> both = sd.combine(several)
    >>> print(both.certificate.requirements[0])
    differential privacy with epsilon = 2
    >>> 260 < both.count(ill="yes").value < 340
    True
    """
    one_of(of, "of", "combine", get_args(Of))
    parts = _parts_of(pviews, of)
    certificates, spendings = [one.certificate for one in parts], [one.spending for one in parts]
    _refuse_unlike(parts, certificates, spendings)
    first = parts[0].domain
    spending = Spending(
        spendings[0].unit,
        sum((one.whole for one in spendings), Fraction(0)),
        tuple(share for one in spendings for share in one.shares),
        spendings[0].rows,
    )
    promise = _promised(spending, max(_delta_of(one) for one in certificates))
    model = Combined.mean_of([one.model for one in parts], weights_of(spendings, of), of, first.sizes)
    caveats = [parts[0].certificate.caveats[0], COUNTED[of].format(len(parts))]
    certificate = certify_combined(certificates, promise, caveats, size_of(model, first))
    budget = spending.to_json()
    refuse_overspent(budget, promise)
    facts = {
        "certificate": certificate.model_dump(mode="json"),
        "budget": budget,
        "parts": [{key: one.facts[key] for key in ("certificate", "budget")} for one in parts],
    }
    return PView(first, model, facts)


def weights_of(spendings: Sequence[Spending], of: Of) -> NDArray[np.float64]:
    """Return how much each p-view weighs: by the inverse of its noise's variance, or, for the mean of tables, the same.

    The variance of noise goes with 1 over epsilon squared, or over rho.
    """
    if of == "mean":
        return np.full(len(spendings), 1 / len(spendings))
    exact = [one.whole**2 if one.unit == "epsilon" else one.whole for one in spendings]
    return np.array([float(own / sum(exact)) for own in exact])


def _parts_of(pviews: object, of: Of) -> list[PView]:
    """Return the p-views, those that were combined taken apart again."""
    if not isinstance(pviews, Sequence) or not all(isinstance(one, PView) for one in pviews) or not pviews:
        raise ParameterError("combine needs a list of p-views, such as [first, second].")
    parts: list[PView] = []
    for one in pviews:
        if not isinstance(one.model, Combined):
            parts.append(one)
            continue
        facts = one.facts.get("parts", ())
        if len(facts) != len(one.model.parts):
            raise InputError(
                "A combined p-view does not say what each of its parts promises. Combine it anew."
            )
        if one.model.of != of:
            raise InputError(
                f"A p-view was combined of='{one.model.of}', and is to be combined again of='{of}'. Say the same again, or "
                "combine the p-views that it was made of."
            )
        parts += [PView(one.domain, model, own) for model, own in zip(one.model.parts, facts, strict=True)]
    return parts


def _refuse_unlike(
    parts: Sequence[PView], certificates: Sequence[Certificate], spendings: Sequence[Spending]
) -> None:
    """Refuse p-views that cannot be put together, or of which one is given twice."""
    domain, kind = parts[0].domain.to_json(), parts[0].model.kind
    if any(one.domain.to_json() != domain for one in parts):
        raise InputError(
            "The p-views have different domains: attributes, values, bounds or bins. Combine those that were made by one schema."
        )
    if any(one.attributes != certificates[0].attributes for one in certificates):
        raise InputError(
            "The p-views give an attribute different roles. Combine those that were made by one schema."
        )
    columns = parts[0].model.frame().columns
    if any(one.model.kind != kind or one.model.frame().columns != columns for one in parts):
        raise InputError(
            "The p-views were made by methods that count in different ways. Combine those of one method."
        )
    if len({one.unit for one in spendings}) > 1:
        raise InputError(
            "Some of the p-views have a delta and some have none: their budgets are counted in rho and in epsilon, and do not "
            "add up. Combine those of one kind."
        )
    if len({one.rows for one in spendings}) > 1 or len({one.unit for one in certificates}) > 1:
        raise InputError(
            "The p-views protect different numbers of rows together, or of different units. Combine those that were made by one schema."
        )
    if len({one.input.sha256_salted for one in certificates}) < len(parts):
        raise InputError("A p-view is given twice. It tells nothing more the second time: give it once.")
    rows = sum(one.model.frame().height for one in parts)
    if len(parts) > MAX_PARTS or rows > MAX_ROWS:
        raise InputError(
            f"{len(parts)} p-views with {rows:,} points, blocks or cells are to be combined; {MAX_PARTS} with {MAX_ROWS:,} are "
            "the most. Combine fewer."
        )


def _delta_of(certificate: Certificate) -> float:
    """Return the delta that a p-view promises; what promises anything else is refused."""
    (promise, *more) = promised_by(certificate)
    if more or not isinstance(promise, DifferentialPrivacy) or promise.per != "table":
        raise InputError(
            f"A p-view promises {promise}, and not differential privacy alone. Ask for it again, and verify it."
        )
    return promise.delta


def _promised(spending: Spending, delta: float) -> DifferentialPrivacy:
    """Return what a sum of budgets promises: its epsilon, or that of its rho at a delta."""
    if spending.unit == "epsilon":
        total = spending.whole * spending.rows
        epsilon = float(total)
        # A float is promised as it is written, and that may be a little less than the sum.
        return DifferentialPrivacy(
            epsilon if Fraction(str(epsilon)) >= total else math.nextafter(epsilon, math.inf)
        )
    if not delta > 0:
        raise InputError("The p-views spent rhos and promise no delta: something is wrong. Verify them.")
    whole = {"unit": spending.unit, "rows": spending.rows, "shares": [{"amount": spending.whole}]}
    epsilon = epsilon_spent(whole, delta)
    return DifferentialPrivacy(math.ceil(epsilon * FINE) / FINE, delta)
