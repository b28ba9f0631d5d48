"""What is randomized by one law: which attributes, over which domain, and by which method."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from sudare.errors import InputError, ParameterError
from sudare.plans.law import MAX_AXES, MAX_FACES
from sudare.plans.polytopes import MAX_CHOICES, Face, choices
from sudare.privacy.requirement import one_of
from sudare.randomization.areas import Area as AreaDomain
from sudare.randomization.areas import area_of
from sudare.randomization.bins import binned
from sudare.randomization.domains import Categories, Joint
from sudare.randomization.grids import Grid
from sudare.randomization.laws import LawDomain
from sudare.randomization.methods import HOWS as HOWS  # the command line names them
from sudare.randomization.methods import Area, Bits, How, Noise, RandomizationMethod, Retain
from sudare.tables.attribute import Role
from sudare.tables.schema import Schema
from sudare.tables.types import lists_values

JOINT_HOWS: tuple[How, ...] = ("retain", "matrix", "optimal", "area")
MEMBER_HOWS: tuple[How, ...] = ("retain", "bins")
"""Which say what the values of a member are; its law is the group's."""
MAX_COMBINATIONS = 10**6

Groups = Mapping[str, Sequence[str]]


@dataclass(frozen=True, eq=False)
class LawChoice:
    """An attribute, or several together under a name of their own, and the method by which they are randomized."""

    name: str
    method: RandomizationMethod
    domain: LawDomain
    weight: float


def choose(
    schema: Schema, methods: Mapping[str, RandomizationMethod], joint: Groups, noise: Noise
) -> list[LawChoice]:
    """Choose for every quasi and sensitive attribute, in the order of the schema.

    Where nothing is said of an attribute, it gets what a person would expect: noise between bounds, and else a list of values
    that are kept or not.
    """
    names = published(schema)
    if not names:
        raise InputError("The schema has no quasi or sensitive attribute to randomize.")
    group_of = _checked_groups(schema, names, joint)
    _check_names(schema, names, joint, methods)
    for member in group_of:
        if member in methods and methods[member].name not in MEMBER_HOWS:
            raise _not_its_own(member, group_of[member])
    _check_methods(schema, methods, joint)
    hows = {name: method.name for name, method in methods.items()}
    choices: dict[str, LawChoice] = {}
    for name in names:
        group = group_of.get(name)
        if group is None:
            usual = Retain() if schema[name].bounds is None else noise
            method = methods.get(name, usual)
            precision = method.precision if isinstance(method, Bits) else None
            domain = domain_of(schema, name, method.name, precision)
            choices[name] = LawChoice(name, method, domain, schema[name].weight)
        elif group not in choices:
            weight = sum(schema[member].weight for member in joint[group])
            law = methods.get(group, Retain())
            combined = (
                area(schema, group, joint[group], law.faces)
                if isinstance(law, Area)
                else _joint(schema, group, joint[group], hows)
            )
            choices[group] = LawChoice(group, law, combined, weight)
    return list(choices.values())


def domain_of(schema: Schema, name: str, how: How, precision: float | None = None) -> Categories | Grid:
    """Return what an attribute's values can be, for a kind of law: a function of the schema, and of the precision of bits.

    >>> schema = Schema.from_roles(quasi=["age"], bounds={"age": (0, 120)})
    >>> len(domain_of(schema, "age", "noise")), len(domain_of(schema, "age", "bins"))
    (121, 11)
    """
    if how == "noise":
        return Grid.of(name, schema[name])
    if how == "factor":
        return Grid.of_factors(name, schema[name])
    if how == "bits":
        return Grid.of_bits(name, schema[name], precision)
    missing = schema.missing == "own value"
    if how == "bins":
        return binned(name, schema[name], missing=missing)
    return Categories.of(name, schema[name], missing=missing)


def area(schema: Schema, group: str, members: Sequence[str], faces: Sequence[Face]) -> AreaDomain:
    """Return the points of several attributes that lie in an area."""
    if any(len(face) != len(members) + 1 for face in faces):
        raise ParameterError(
            f"The inequalities of '{group}' must have a number for each of its {len(members)} attributes, and one more."
        )
    if len(members) > MAX_AXES or len(faces) > MAX_FACES or choices(len(faces), len(members)) > MAX_CHOICES:
        raise ParameterError(
            f"The area of '{group}' has too many sides, {len(faces)}, in {len(members)} dimensions. Give one around it that has fewer."
        )
    return area_of(group, [Grid.of(member, schema[member]) for member in members], faces)


def labelled_domain(schema: Schema, name: str, how: Mapping[str, How], joint: Groups) -> Categories | Joint:
    """Return the values that a prior or a matrix of an attribute, or of a group, speaks of."""
    if name not in joint:
        return Categories.of(name, schema[name], missing=schema.missing == "own value")
    _checked_groups(schema, published(schema), joint)
    return _joint(schema, name, joint[name], how)


def published(schema: Schema) -> list[str]:
    """List the attributes that are randomized and published, in their order."""
    return schema.names(Role.quasi) + schema.names(Role.sensitive)


def undeclared(schema: Schema) -> list[str]:
    """List what is to be randomized, but of which the schema does not say what values it can have."""
    return [
        name for name in published(schema) if not lists_values(schema[name]) and schema[name].bounds is None
    ]


def _not_its_own(member: str, group: str) -> ParameterError:
    return ParameterError(
        f"'{member}' is randomized together with others, as '{group}': its own 'how' may be 'retain' or 'bins', which "
        f"choose its values. Give a law, a prior or a matrix for '{group}'."
    )


def _joint(schema: Schema, group: str, members: Sequence[str], how: Mapping[str, How]) -> Joint:
    """Return the combinations of several attributes; those with bounds are put into bins first."""
    parts = []
    for member in members:
        part = domain_of(schema, member, how.get(member) or ("bins" if schema[member].bounds else "retain"))
        if isinstance(part, Grid):
            raise _not_its_own(member, group)
        parts.append(part)
    domain = Joint(tuple(parts))
    if (combinations := math.prod(domain.shape)) > MAX_COMBINATIONS:
        sizes = " x ".join(f"{size:,}" for size in domain.shape)
        raise InputError(
            f"'{group}' would have {sizes} = {combinations:,} combinations, more than {MAX_COMBINATIONS:,}. "
            "Join fewer attributes, or put some of them into bins first."
        )
    return domain


def _checked_groups(schema: Schema, names: Sequence[str], joint: Groups) -> dict[str, str]:
    """Return the group of each attribute that is in one."""
    group_of: dict[str, str] = {}
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
            if member in group_of:
                raise ParameterError(
                    f"'{member}' is in two groups, '{group_of[member]}' and '{group}'. An attribute has one law: keep it in one."
                )
            group_of[member] = group
    return group_of


def _check_names(schema: Schema, names: Sequence[str], groups: Iterable[str], given: Iterable[str]) -> None:
    """Refuse names of what is not published."""
    for name in given:
        if name not in names and name not in groups:
            raise ParameterError(
                f"randomize is to change '{name}', which is {schema[name].role} and not published. "
                "Make its role quasi or sensitive, or leave it out."
            )


def _check_methods(schema: Schema, methods: Mapping[str, RandomizationMethod], joint: Groups) -> None:
    """Refuse methods that combinations, or values without an order, cannot be randomized by."""
    for name, method in methods.items():
        if name in joint:
            one_of(method.name, f"how['{name}']", "randomize", JOINT_HOWS)
        elif method.name == "area":
            raise ParameterError(
                f"'{name}' is one attribute, and an area has several: joint={{'where': ['{name}', ...]}}, how={{'where': ...}}."
            )
        elif method.name in ("noise", "factor", "bits") and schema[name].kind in ("text", "truth value"):
            raise ParameterError(f"'{name}' has no numbers or dates to add noise to. Use 'retain'.")
