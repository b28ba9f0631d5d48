"""What is randomized by one law: which attributes, over which domain, and by which kind of law."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sudare.errors import InputError, ParameterError
from sudare.privacy.requirement import one_of
from sudare.randomization.domains import Categories, Domain, Grid, Joint, binned, is_ordered
from sudare.randomization.laws import How
from sudare.tables.schema import Role
from sudare.tables.table import Table
from sudare.tables.text import listed

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


def choose(
    table: Table,
    how: Mapping[str, How],
    priors: Mapping[str, Any],
    matrices: Mapping[str, Any],
    joint: Groups,
) -> list[Choice]:
    """Choose for every quasi and sensitive attribute of a table, in the order of the schema."""
    names = _published(table)
    if not names:
        raise InputError(f"{table.source.name}: the schema has no quasi or sensitive attribute to randomize.")
    hows: dict[str, How] = {**how, **dict.fromkeys(matrices, "matrix")}
    group_of = _checked_groups(table, names, joint)
    _check_names(table, names, joint, (*hows, *priors))
    for member in group_of:
        if member in priors or hows.get(member, "retain") not in MEMBER_HOWS:
            raise _not_its_own(member, group_of[member])
    _check_hows(table, hows, matrices, joint)
    _check_priors(hows, priors)
    found: dict[str, Choice] = {}
    for name in names:
        group = group_of.get(name)
        if group is None:
            kind = hows.get(name) or ("optimal" if name in priors else _usual(table, name))
            found[name] = Choice(name, kind, _domain(table, name, kind), table.schema[name].weight)
        elif group not in found:
            weight = sum(table.schema[member].weight for member in joint[group])
            kind = hows.get(group) or ("optimal" if group in priors else "retain")
            found[group] = Choice(group, kind, _joint(table, group, joint[group], hows), weight)
    return list(found.values())


def labelled_domain(table: Table, name: str, how: Mapping[str, How], joint: Groups) -> Categories | Joint:
    """Return the values that a prior or a matrix of an attribute, or of a group, speaks of."""
    if name not in joint:
        return Categories(table[name], declared=True)
    _checked_groups(table, _published(table), joint)
    return _joint(table, name, joint[name], how)


def _published(table: Table) -> list[str]:
    return table.names(Role.quasi) + table.names(Role.sensitive)


def _not_its_own(member: str, group: str) -> ParameterError:
    return ParameterError(
        f"'{member}' is randomized together with others, as '{group}': its own 'how' may be 'retain' or 'bins', which "
        f"choose its values. Give a law, a prior or a matrix for '{group}'."
    )


def _joint(table: Table, group: str, members: Sequence[str], how: Mapping[str, How]) -> Joint:
    """Return the combinations of several attributes; ordered ones that declare no domain are put into bins first."""
    parts = []
    for member in members:
        listed_values = not is_ordered(table[member]) or table.schema[member].domain is not None
        part = _domain(table, member, how.get(member) or ("retain" if listed_values else "bins"))
        if isinstance(part, Grid):
            raise _not_its_own(member, group)
        parts.append(part)
    found = Joint(tuple(parts))
    if len(found) > MOST_COMBINATIONS:
        sizes = " x ".join(f"{size:,}" for size in found.shape)
        raise InputError(
            f"'{group}' would have {sizes} = {len(found):,} combinations, more than {MOST_COMBINATIONS:,}. "
            "Join fewer attributes, or put some of them into bins first."
        )
    return found


def _checked_groups(table: Table, names: Sequence[str], joint: Groups) -> dict[str, str]:
    """Return the group of each attribute that is in one."""
    found: dict[str, str] = {}
    for group, members in joint.items():
        if group in table.columns:
            raise ParameterError(
                f"The 'joint' parameter of randomize calls a group '{group}', as an attribute of the table is called. "
                "Give it a name of its own."
            )
        if isinstance(members, str) or len(set(members)) < max(2, len(members)):
            raise ParameterError(
                f"joint['{group}'] must name two or more different attributes. Got {members!r} instead."
            )
        _check_names(table, names, (), members)
        for member in members:
            if member in found:
                raise ParameterError(
                    f"'{member}' is in two groups, '{found[member]}' and '{group}'. An attribute has one law: keep it in one."
                )
            found[member] = group
    return found


def _check_names(table: Table, names: Sequence[str], groups: Iterable[str], given: Iterable[str]) -> None:
    """Refuse names of what is not published."""
    for name in given:
        if name not in names and name not in groups:
            table[name]  # refused if there is none
            raise ParameterError(
                f"randomize is to change '{name}', which is {table.schema[name].role} and not published. "
                "Make its role quasi or sensitive, or leave it out."
            )


def _check_hows(table: Table, hows: Mapping[str, How], matrices: Mapping[str, Any], joint: Groups) -> None:
    for name, kind in hows.items():
        one_of(kind, f"how['{name}']", "randomize", JOINT_HOWS if name in joint else HOWS)
        if kind in ("noise", "bits") and not is_ordered(table[name]):
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


def _usual(table: Table, name: str) -> How:
    """Return what a person would expect: noise for numbers and dates that are not declared as a list of values.

    No noise can be added to a missing value, but it can be a bin of its own.
    """
    if not is_ordered(table[name]) or table.schema[name].domain is not None:
        return "retain"
    return "bins" if table[name].missing else "noise"


def _domain(table: Table, name: str, how: How) -> Categories | Grid:
    column, attribute = table[name], table.schema[name]
    if how in ("noise", "bits"):
        return Grid.of(column, attribute)
    if how == "bins":
        return binned(column, attribute)
    return Categories(column, declared=attribute.domain is not None)


def caveats_of(choices: Sequence[Choice]) -> list[str]:
    """Say which values were read off the data, and where it is told that some are missing."""
    parts = [
        part for choice in choices if not isinstance(choice.domain, Grid) for part in choice.domain.parts
    ]
    read = [part.column.name for part in parts if not part.declared]
    missing = [part.column.name for part in parts if part.declared and part.column.missing]
    found = []
    if read:
        found.append(
            f"The values of {listed(read)} were read off the data, because the schema declares none: which values occur "
            "is told, and neither epsilon nor k covers it."
        )
    if missing:
        found.append(f"That some values of {listed(missing)} are missing is told, and not covered.")
    return found
