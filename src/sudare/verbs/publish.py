"""The verb `publish`: assess, decide, generalize, verify (the system of the suitability paper's Fig. 4)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from sudare.errors import InputError, RequirementError
from sudare.generalization.efforts import Effort
from sudare.generalization.methods import Minimal
from sudare.privacy.k_anonymity import KAnonymity
from sudare.privacy.requirement import BlockRequirement, refused
from sudare.release.release import Release
from sudare.suitability.assess import Assessment, assess
from sudare.suitability.choices import Advice, advise_retry, sentences
from sudare.tables.attribute import Role
from sudare.tables.given import kind_given
from sudare.tables.policy import Policy
from sudare.tables.table import Table, table_given
from sudare.verbs.generalize import generalized

Decide = Callable[[Assessment, list[Advice]], Advice]
MORE_EFFORT: Effort = "thorough"
ANONYMITY_ALONE = "sensitive values were not kept apart, for k-anonymity alone was asked for: how many blocks give theirs away, 'attacks' says"


def publish(
    table: Table, policy: Policy | None = None, *, attribute: str | None = None, decide: Decide | None = None
) -> Release:
    """Assess a table, and publish it under l-diversity if that suits it, or under the compromise that is accepted.

    The policy is the schema's own if none is given. Where the requirement fits the table badly or is impossible,
    the first compromise that the policy accepts and the table offers is taken; without one, `decide` is asked,
    if given, and else nothing is published. Where the release costs far more than the bound says it must, the holder's record
    offers another try; if the policy accepts "retry", it is made. `attribute` names the sensitive attribute if there are several.

    >>> import sudare as sd
    >>> table = sd.read(sd.datasets.health_survey(500).select("age", "sex", "diagnosis"), sd.Schema.from_roles(
    ...     quasi=["age", "sex"], sensitive=["diagnosis"],
    ...     hierarchies={"age": sd.Hierarchy.intervals(range(18, 96), width=10)}))
    >>> release = sd.publish(table, sd.Policy(l=2, k=5))
    >>> release.holder["bound"] <= release.certificate.utility["distortion"]
    True
    """
    table_given(table, "publish")
    policy = policy or table.schema.publish
    if policy is None:
        raise InputError(
            f"{table.source.name}: the schema has no [publish] section, and no policy was given. "
            "Say what to publish under, such as Policy(l=2)."
        )
    kind_given(policy, Policy, "policy", "publish", "a Policy, such as Policy(l=2)")
    if decide is not None and not callable(decide):
        raise refused(decide, "decide", "publish", "a function that chooses, or None")
    assessment = assess(
        table,
        policy.l,
        [policy.k] if policy.k else [],
        diversity=policy.diversity,
        c=policy.c,
        harmless=policy.harmless,
        within=policy.within,
        relative=policy.relative,
        attribute=attribute,
    )
    choice = _decided(assessment, assessment.choices[policy.l], policy.accept, decide)
    learn = partial(
        generalized,
        _without(table, choice.attribute),
        _asked(choice, policy),
        decision=choice.text,
        caveats=[ANONYMITY_ALONE] if choice.action == "k-anonymity" else [],
    )
    release = learn(Minimal(choice.suppress))
    offered = advise_retry(choice, _distortion(release), release.holder["bound"])
    if offered is None:
        return release
    if offered.action not in policy.accept:
        release.holder["retry"] = {"text": offered.offered, "tried": None}
        return release
    return _cheaper(release, learn(Minimal(choice.suppress, MORE_EFFORT, release.plan)), offered)


def _cheaper(first: Release, second: Release, offered: Advice) -> Release:
    """Return the release that distorts less, with what the second try gained in its record."""
    before, after = _distortion(first), _distortion(second)
    gained = (
        f"{after:.4f}, {1 - after / before:.1%} less"
        if after < before
        else "nothing better, and the first was kept"
    )
    kept = second if after < before else first
    kept.holder["retry"] = {
        "text": f"{offered.text} That was done, from where the first try had come to: it found {gained}.",
        "tried": {"effort": MORE_EFFORT, "before": before, "after": after},
    }
    return kept


def _distortion(release: Release) -> float:
    return float(release.holder["utility"]["distortion"])


def _asked(choice: Advice, policy: Policy) -> list[BlockRequirement]:
    """Return what is to hold: what was chosen, and the k of the policy."""
    if isinstance(choice.requirement, KAnonymity):
        return [KAnonymity(max(choice.requirement.k, policy.k or 1))]
    return [*([KAnonymity(policy.k)] if policy.k is not None else []), choice.requirement]


def _decided(
    assessment: Assessment, offered: list[Advice], accept: Sequence[str], decide: Decide | None
) -> Advice:
    if len(offered) == 1 and offered[0].action == "go ahead":
        return offered[0]
    for one in accept:
        for choice in offered:
            if one in choice.accepted_as and set(choice.accepted_as) <= set(accept):
                return choice
    if decide is None:
        how = "What you accept stands in the policy (accept) or on the command line (--accept)."
        said = [*sentences(offered), *([how] if any(choice.accepted_as for choice in offered) else [])]
        raise RequirementError("\n".join([f"{assessment.source}: nothing was published.", *said]))
    choice = decide(assessment, offered)
    if choice.action == "stop":
        raise RequirementError(f"{assessment.source}: nothing was published. {choice.text}")
    return choice


def _without(table: Table, attribute: str | None) -> Table:
    """Return the table with an attribute that is not to be published."""
    if attribute is None:
        return table
    dropped = table.schema[attribute].model_copy(update={"role": Role.identifier})
    attributes = table.schema.attributes | {attribute: dropped}
    return replace(table, schema=table.schema.model_copy(update={"attributes": attributes}))
