"""What `generalize_views` refuses before any work, and what earlier releases leave no room for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import get_args

import numpy as np

from sudare.errors import InputError, ParameterError, RequirementError
from sudare.generalization.views import Method, Score, ViewsProblem, learn_views
from sudare.ledger.combination import named
from sudare.ledger.history import Recorded
from sudare.plans.views import NAME, RESERVED
from sudare.privacy.multi_view import MultiViewDiversity, RemainingValues, refuse_other_requirements
from sudare.privacy.requirement import number, one_of, whole_number
from sudare.tables.attribute import Role
from sudare.tables.given import kind_given
from sudare.tables.table import Table
from sudare.tables.text import listed


def checked_views(table: Table, views: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    """Return the views, if each can be written under its name and has quasi attributes of the table."""
    if not isinstance(views, Mapping) or not views:
        raise ParameterError("generalize_views needs at least one view, such as {'T1': ['age', 'sex']}.")
    for name, attributes in views.items():
        if not isinstance(name, str) or not NAME.fullmatch(name) or name in RESERVED:
            raise ParameterError(
                f"A view is written to files of its name: use letters, digits, - and _. Got '{name}' instead."
            )
        listing = isinstance(attributes, Sequence) and not isinstance(attributes, str)
        if not listing or not attributes or len(set(attributes)) < len(attributes):
            raise ParameterError(f"The view '{name}' must be a list of different attributes.")
        for attribute in attributes:
            table[attribute]  # refused if there is none
            if table.schema[attribute].numbers is not None:
                raise InputError(
                    f"The view '{name}' has '{attribute}', whose numbers would stand beside its ranges; views list values. Take 'numbers' out "
                    "of the schema."
                )
            if (role := table.schema[attribute].treated_as) != Role.quasi:
                raise InputError(
                    f"The view '{name}' has '{attribute}', which is {role}. Views have quasi attributes; the sensitive one "
                    "is added to each. What is passed on as it is could join the views' rows together again."
                )
    return {name: list(attributes) for name, attributes in views.items()}


def refuse_parameters(
    views: Mapping[str, list[str]],
    requirement: object,
    method: str,
    order: Sequence[str] | None,
    weights: Mapping[str, float] | None,
    score: str | None,
    candidates: int | None,
    alpha: float,
) -> None:
    """Refuse parameters that say nothing, or that the method does not have."""
    refuse_other_requirements(requirement)
    one_of(method, "method", "generalize_views", get_args(Method))
    if score is not None:
        one_of(score, "score", "generalize_views", get_args(Score))
    if order is not None and (method != "sequential" or sorted(order) != sorted(views)):
        raise ParameterError(
            "The 'order' parameter of generalize_views must name every view once, for 'sequential'."
        )
    kind_given(weights or {}, Mapping, "weights", "generalize_views", "a dict of numbers by view")
    for name, weight in (weights or {}).items():
        if name not in views:
            raise ParameterError(f"There is no view '{name}' to weigh. There are {listed(list(views))}.")
        number(weight, f"weights['{name}']", "generalize_views", "a number above 0", low=1e-9)
    if candidates is not None:
        whole_number(candidates, "candidates", "generalize_views", least=1)
    number(alpha, "alpha", "generalize_views", "a number from 0 to 1", low=0, high=1)


def refuse_impossible(
    table: Table,
    sensitive: str,
    requirement: MultiViewDiversity,
    strictest: MultiViewDiversity,
    earlier: Sequence[Recorded],
) -> None:
    """Refuse what the table's sensitive values do not allow, alone or with what earlier releases promised."""
    counts, totals = table.counts([sensitive]), np.zeros(table[sensitive].size, dtype=np.int64)
    totals[counts.codes[:, 0]] = counts.weights
    requirement.refuse_if_impossible(totals, sensitive)
    try:
        strictest.refuse_if_impossible(totals, sensitive)
    except RequirementError as error:
        raise RequirementError(f"{_with_what_stands(requirement, strictest, earlier)}. {error}") from None


def _with_what_stands(
    requirement: MultiViewDiversity, strictest: MultiViewDiversity, earlier: Sequence[Recorded]
) -> str:
    return f"{requirement}, together with what {named(earlier)} promised, asks for {strictest}"


def refuse_what_is_gone(
    seen: RemainingValues,
    requirement: MultiViewDiversity,
    strictest: MultiViewDiversity,
    problem: ViewsProblem,
    earlier: Sequence[Recorded],
) -> None:
    """Refuse what earlier releases leave no room for, and say what could still be given."""
    left = strictest.measure(seen)
    if left.holds:
        return
    releases = named(earlier)
    highest = int(left.value) if strictest.kind == "distinct" else np.floor(100 * left.value) / 100
    still = "nothing can be promised any more"
    if strictest != requirement:
        still = (
            f"{_with_what_stands(requirement, strictest, earlier)}: ask for the kind that was promised then"
        )
    elif highest > 1:
        less = replace(strictest, l=highest)
        views = [cut.view for cut in learn_views(problem, less).views]
        blocks = ", ".join(f"'{view.name}' in {len(view.labels[0]):,} blocks" for view in views)
        still = f"the most that can still be promised is {less}: {blocks}"
    raise RequirementError(
        f"{strictest} is impossible: after {releases} somebody is left with {left.value:.4g}, whatever is added. "
        f"With what is in the ledger, {still}."
    )
