"""What is randomized by one law: which attributes, over which domain, and by which kind of law."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sudare.errors import InputError, ParameterError
from sudare.privacy.requirement import one_of
from sudare.randomization.bins import binned, tells_its_values
from sudare.randomization.domains import Categories, Domain, Grid, Joint
from sudare.randomization.laws import How
from sudare.tables.schema import Attribute, Role, Schema

HOWS = ("retain", "noise", "bins", "bits", "matrix", "optimal")
JOINT_HOWS = ("retain", "matrix", "optimal")
MEMBER_HOWS = ("retain", "bins")  # which say what the values of a member are; its law is the group's
MOST_COMBINATIONS = 10**6

Groups = Mapping[str, Sequence[str]]


@dataclass(frozen=True, eq=False)
class Choice:
    """An attribute, or several together under a name of their own, and the kind of law that they get."""

    name: str
    how: How
    domain: Domain
    weight: float


def undeclared(schema: Schema, how: Mapping[str, How]) -> list[str]:
    """List what is to be randomized, but of which the schema does not say what values it can have."""
    return [
        name
        for name in published(schema)
        if schema[name].domain is None
        and schema[name].bounds is None
        and not (how.get(name) == "bins" and tells_its_values(schema[name]))
    ]


def choose(
    schema: Schema,
    how: Mapping[str, How],
    priors: Mapping[str, Any],
    matrices: Mapping[str, Any],
    joint: Groups,
) -> list[Choice]:
    """Choose for every quasi and sensitive attribute, in the order of the schema."""
    names = published(schema)
    if not names:
        raise InputError("The schema has no quasi or sensitive attribute to randomize.")
    hows: dict[str, How] = {**how, **dict.fromkeys(matrices, "matrix")}
    group_of = _checked_groups(schema, names, joint)
    _check_names(schema, names, joint, (*hows, *priors))
    for member in group_of:
        if member in priors or hows.get(member, "retain") not in MEMBER_HOWS:
            raise _not_its_own(member, group_of[member])
    _check_hows(schema, hows, matrices, joint)
    _check_priors(hows, priors)
    found: dict[str, Choice] = {}
    for name in names:
        group = group_of.get(name)
        if group is None:
            kind = hows.get(name) or ("optimal" if name in priors else _usual(schema[name]))
            found[name] = Choice(name, kind, _domain(schema, name, kind), schema[name].weight)
        elif group not in found:
            weight = sum(schema[member].weight for member in joint[group])
            kind = hows.get(group) or ("optimal" if group in priors else "retain")
            found[group] = Choice(group, kind, _joint(schema, group, joint[group], hows), weight)
    return list(found.values())


def labelled_domain(schema: Schema, name: str, how: Mapping[str, How], joint: Groups) -> Categories | Joint:
    """Return the values that a prior or a matrix of an attribute, or of a group, speaks of."""
    if name not in joint:
        return _categories(schema, name)
    _checked_groups(schema, published(schema), joint)
    return _joint(schema, name, joint[name], how)


def published(schema: Schema) -> list[str]:
    """List the attributes that are randomized and published, in their order."""
    return schema.names(Role.quasi) + schema.names(Role.sensitive)


def _not_its_own(member: str, group: str) -> ParameterError:
    return ParameterError(
        f"'{member}' is randomized together with others, as '{group}': its own 'how' may be 'retain' or 'bins', which "
        f"choose its values. Give a law, a prior or a matrix for '{group}'."
    )


def _joint(schema: Schema, group: str, members: Sequence[str], how: Mapping[str, How]) -> Joint:
    """Return the combinations of several attributes; those with bounds are put into bins first."""
    parts = []
    for member in members:
        part = _domain(schema, member, how.get(member) or ("bins" if schema[member].bounds else "retain"))
        if isinstance(part, Grid):
            raise _not_its_own(member, group)
        parts.append(part)
    found = Joint(tuple(parts))
    if (combinations := math.prod(found.shape)) > MOST_COMBINATIONS:
        sizes = " x ".join(f"{size:,}" for size in found.shape)
        raise InputError(
            f"'{group}' would have {sizes} = {combinations:,} combinations, more than {MOST_COMBINATIONS:,}. "
            "Join fewer attributes, or put some of them into bins first."
        )
    return found


def _checked_groups(schema: Schema, names: Sequence[str], joint: Groups) -> dict[str, str]:
    """Return the group of each attribute that is in one."""
    found: dict[str, str] = {}
    for group, members in joint.items():
        if group in schema:
            raise ParameterError(
                f"The 'joint' parameter of randomize calls a group '{group}', as an attribute is called. "
                "Give it a name of its own."
            )
        if isinstance(members, str) or len(set(members)) < max(2, len(members)):
            raise ParameterError(
                f"joint['{group}'] must name two or more different attributes. Got {members!r} instead."
            )
        _check_names(schema, names, (), members)
        for member in members:
            if member in found:
                raise ParameterError(
                    f"'{member}' is in two groups, '{found[member]}' and '{group}'. An attribute has one law: keep it in one."
                )
            found[member] = group
    return found


def _check_names(schema: Schema, names: Sequence[str], groups: Iterable[str], given: Iterable[str]) -> None:
    """Refuse names of what is not published."""
    for name in given:
        if name not in names and name not in groups:
            raise ParameterError(
                f"randomize is to change '{name}', which is {schema[name].role} and not published. "
                "Make its role quasi or sensitive, or leave it out."
            )


def _check_hows(schema: Schema, hows: Mapping[str, How], matrices: Mapping[str, Any], joint: Groups) -> None:
    for name, kind in hows.items():
        one_of(kind, f"how['{name}']", "randomize", JOINT_HOWS if name in joint else HOWS)
        if kind in ("noise", "bits") and schema[name].kind in ("text", "truth value"):
            raise ParameterError(f"'{name}' has no numbers or dates to add noise to. Use 'retain'.")
        if kind == "matrix" and name not in matrices:
            raise ParameterError(
                f"how['{name}'] is 'matrix', but no matrix of it is given: matrices={{'{name}': ...}}."
            )


def _check_priors(hows: Mapping[str, How], priors: Mapping[str, Any]) -> None:
    for name in priors:
        if hows.get(name, "optimal") != "optimal":
            raise ParameterError(
                f"A prior of '{name}' is given, but not used: how['{name}'] must be 'optimal'."
            )


def _usual(attribute: Attribute) -> How:
    """Return what a person would expect: noise between bounds, and else a list of values that are kept or not."""
    return "retain" if attribute.bounds is None else "noise"


def _domain(schema: Schema, name: str, how: How) -> Categories | Grid:
    if how in ("noise", "bits"):
        return Grid.of(name, schema[name])
    if how == "bins":
        return binned(name, schema[name], missing=schema.missing == "own value")
    return _categories(schema, name)


def _categories(schema: Schema, name: str) -> Categories:
    return Categories.of(name, schema[name], missing=schema.missing == "own value")
