"""Learning the plan of a randomized table: from the schema, the number of records and, where asked for, histograms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from numpy.typing import ArrayLike

from sudare.errors import InputError, ParameterError, RequirementError
from sudare.noise.keystream import Keystream
from sudare.privacy.differential_privacy import DifferentialPrivacy
from sudare.privacy.pk_anonymity import PkAnonymity
from sudare.privacy.requirement import one_of, refused
from sudare.randomization.areas import Area
from sudare.randomization.budget import SPLITS, Split, SplitAttribute, split_spread
from sudare.randomization.channel import Channel, MatrixChannel
from sudare.randomization.choices import Groups, LawChoice, choose, undeclared
from sudare.randomization.laws import Law, channel_for, expected_error, publishable
from sudare.randomization.made_for import of_missing, optimal_channel
from sudare.randomization.methods import (
    LOSSES,
    After,
    Factor,
    Histogram,
    How,
    Loss,
    Matrix,
    Noise,
    Optimal,
    RandomizationMethod,
    methods_of,
)
from sudare.randomization.plan import RandomizationPlan, plan_schema
from sudare.randomization.refusals import refuse_bounded
from sudare.randomization.respondents import Respondents
from sudare.tables.given import kind_given
from sudare.tables.schema import rows_together
from sudare.tables.table import Table
from sudare.tables.undeclared import refuse_undeclared

ROUNDING = 1 - 1e-12  # sums of parts must not exceed the whole by their rounding


def learn_plan(
    table: Table | Respondents,
    requirement: PkAnonymity | DifferentialPrivacy,
    source: Keystream,
    *,
    how: Mapping[str, How | RandomizationMethod] | None = None,
    split: Split = "equal",
    after: After = "clip",
    priors: Mapping[str, ArrayLike] | None = None,
    matrices: Mapping[str, ArrayLike] | None = None,
    histogram: Histogram = "private-estimate",
    joint: Groups | None = None,
    loss: Loss = "published",
    estimate_share: float | None = None,
) -> RandomizationPlan:
    """Choose a law for every quasi and sensitive attribute, so that together they meet the requirement.

    Of the table it needs how many records there are and, for an optimal PRAM without a public histogram, the counts of that
    attribute; nothing else.
    """
    by_name = {"how": how, "priors": priors, "matrices": matrices, "joint": joint}
    for parameter, given in by_name.items():
        kind_given(given or {}, Mapping, parameter, "randomize", "a dict by attribute or group")
    one_of(split, "split", "randomize", SPLITS)
    one_of(after, "after", "randomize", ("clip", "reflect"))
    one_of(histogram, "histogram", "randomize", ("private-estimate", "true-histogram"))
    one_of(loss, "loss", "randomize", LOSSES)
    noise, optimal = Noise(after), Optimal(None, histogram, loss, estimate_share=estimate_share)
    methods = methods_of(
        how or {}, noise=noise, optimal=optimal, priors=priors or {}, matrices=matrices or {}
    )
    _refuse_undeclared(table, undeclared(table.schema))
    choices = choose(table.schema, methods, joint or {}, noise)
    fixed = {one.name: _given(one, one.method) for one in choices if isinstance(one.method, Matrix)}
    free = [one for one in choices if one.name not in fixed]
    rows = rows_together(table.schema)
    left = _left(requirement, len(table), rows, list(fixed.values()))
    parts = split_spread(left, [_split_attribute(one) for one in free], split) if free else []
    channels: dict[str, Channel] = {**fixed}
    estimates: dict[str, float] = {}
    for choice, part in zip(free, parts, strict=True):
        if isinstance(choice.method, Optimal):
            channels[choice.name], spent = optimal_channel(
                choice, choice.method, table, part / 2, isinstance(requirement, PkAnonymity), source
            )
            estimates |= {choice.name: spent} if spent else {}
        elif isinstance(choice.domain, Area):
            channels[choice.name] = choice.domain.channel(part)
        else:
            channels[choice.name] = channel_for(choice.method.name, len(choice.domain), part)
    return RandomizationPlan(
        laws=tuple(_law(choice, channels[choice.name]) for choice in choices),
        schema=plan_schema(table.schema, _binned_parts(choices)),
        requirement=requirement,
        records=len(table),
        split=split,
        estimates=estimates,
        true_histograms=tuple(one.name for one in free if _by_true_histogram(one.method)),
        rows=rows,
    )


def _refuse_undeclared(table: Table | Respondents, names: Sequence[str]) -> None:
    if isinstance(table, Table):
        refuse_undeclared(table, names)
    elif names:
        raise InputError(
            f"'{names[0]}' has neither a domain nor bounds. Declare in the schema what its values can be."
        )


def _law(choice: LawChoice, channel: Channel) -> Law:
    after: After = choice.method.after if isinstance(choice.method, Noise | Factor) else "clip"
    return Law(choice.name, choice.method.name, choice.domain, publishable(channel), after)


def _left(
    requirement: PkAnonymity | DifferentialPrivacy, records: int, rows: int, fixed: Sequence[Channel]
) -> float:
    """Return the spread that given matrices leave to the others."""
    by_epsilon = isinstance(requirement, DifferentialPrivacy)
    used = sum(2 * channel.epsilon if by_epsilon else channel.spread for channel in fixed)
    left = _spread(requirement, records, rows) - used
    if left < 0:
        raise ParameterError(
            f"The given matrices alone use more than {requirement} allows: they are {-left:.4g} of the spread over budget."
        )
    return left


def _spread(requirement: PkAnonymity | DifferentialPrivacy, records: int, rows: int) -> float:
    """Return the spread that may be used of one record in all, where so many rows of one person are protected together.

    What they are published as is independent, so that their epsilons add up. And each of them is some published row with a
    probability of 1 / k' at most, so that all are one that somebody points at with rows / k'.
    """
    if isinstance(requirement, PkAnonymity):
        if requirement.k <= 1:
            raise ParameterError("Pk-anonymity with k = 1 promises nothing. Ask for a k above 1.")
        if rows * requirement.k > records >= requirement.k:
            raise RequirementError(
                f"{requirement} is impossible: {rows:,} of the {records:,} rows may be of one person or household (most_rows), so that whoever points "
                f"at any is right with {rows / records:.4g}. Ask for a k up to {records / rows:.4g}, or for fewer rows of each."
            )
        return PkAnonymity(rows * requirement.k).spread(records) * ROUNDING
    if not isinstance(requirement, DifferentialPrivacy):
        raise refused(requirement, "requirement", "randomize", "PkAnonymity or DifferentialPrivacy")
    if requirement.per != "record" or requirement.delta:
        raise ParameterError(
            "randomize changes every record on its own: ask for DifferentialPrivacy(epsilon, per='record'), without delta."
        )
    return 2 * requirement.epsilon / rows * ROUNDING


def _split_attribute(choice: LawChoice) -> SplitAttribute:
    size, how = len(choice.domain), choice.method.name
    return SplitAttribute(
        choice.name,
        choice.weight,
        lambda spread: expected_error(how, size, spread),
        None if how in ("noise", "factor", "area") else size,
    )


def _binned_parts(choices: Sequence[LawChoice]) -> list[str]:
    """List the attributes whose values are put into bins."""
    return [part.name for choice in choices for part in choice.domain.parts if part.binning is not None]


def _given(choice: LawChoice, method: Matrix) -> MatrixChannel:
    """Return the channel of a matrix that the holder gives, if it fits the attribute's values."""
    channel, size = MatrixChannel(method.probabilities), len(choice.domain)
    if channel.inputs != size or channel.outputs != size:
        raise ParameterError(
            f"The matrix of '{choice.name}' must have a row and a column for each of its {size} values. "
            f"Got {channel.outputs} x {channel.inputs} instead.{of_missing(choice)}"
        )
    refuse_bounded(choice.name, channel)
    return channel


def _by_true_histogram(method: RandomizationMethod) -> bool:
    return isinstance(method, Optimal) and method.prior is None and method.histogram == "true-histogram"
