"""Who may put together what: sets of receivers of whom no two were declared apart.

Receivers who are linked by declarations form a group; what a receiver of one group gets is always combined with what
those of another group get. So the largest sets that may be combined are products: one largest set of each group. Sums
are largest where each group's part is, and need no products at all.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from math import prod

from sudare.tables.lookalikes import skeleton

Receiver = str | None

#: So many sets are followed one by one, of a group and in all; beyond that, receivers count as if they were not apart.
MAX_SETS = 100
MAX_MEMBERS = 200


@dataclass(frozen=True)
class Group:
    """Receivers who are linked by declarations, and the largest sets of them who may combine what they get."""

    members: frozenset[Receiver]
    sets: list[frozenset[Receiver]]

    @property
    def whole(self) -> Group:
        """The group as if nobody in it was apart."""
        return Group(self.members, [self.members])


@dataclass(frozen=True)
class ReceiverSets:
    """The sets of receivers that are followed; not `exact` where some count as combined though they are apart."""

    sets: list[frozenset[Receiver]]
    exact: bool


def groups_around(
    new: Receiver, receivers: Collection[Receiver], declared: Iterable[Collection[str]]
) -> list[Group]:
    """Return the groups of all receivers who may combine what they get with what the new one gets.

    >>> [group.sets for group in groups_around("c", ["a", "b", "c", "d"], [["a", "b"], ["c", "d"]])]
    [[frozenset({'c'})], [frozenset({'a'}), frozenset({'b'})]]
    """
    everybody = {*receivers, new}
    apart: dict[Receiver, set[Receiver]] = {receiver: set() for receiver in everybody}
    for names in declared:
        for one, other in combinations(sorted(everybody.intersection(names), key=str), 2):
            if skeleton(str(one)) != skeleton(str(other)):
                apart[one].add(other)
                apart[other].add(one)
    near = sorted(everybody - apart[new] - {new}, key=str)
    linked = {one: apart[one].intersection(near) for one in near}
    alone = Group(frozenset({new}), [frozenset({new})])
    return [alone, *(_group(members, linked) for members in _components(linked))]


def _components(linked: Mapping[Receiver, set[Receiver]]) -> list[list[Receiver]]:
    components, seen = [], set[Receiver]()
    for start in linked:
        if start in seen:
            continue
        members, waiting = [], [start]
        seen.add(start)
        while waiting:
            one = waiting.pop()
            members.append(one)
            waiting += linked[one] - seen
            seen |= linked[one]
        components.append(sorted(members, key=str))
    return components


def _group(members: Sequence[Receiver], linked: Mapping[Receiver, set[Receiver]]) -> Group:
    whole = Group(frozenset(members), [frozenset(members)])
    if len(members) == 1 or len(members) > MAX_MEMBERS:
        return whole
    place = {member: i for i, member in enumerate(members)}
    apart = [sum(1 << place[other] for other in linked[member]) for member in members]
    sets = _largest(apart)
    if sets is None:
        return whole
    named = [frozenset(member for member in members if one >> place[member] & 1) for one in sorted(sets)]
    return Group(whole.members, named)


def _largest(apart: Sequence[int]) -> set[int] | None:
    """Return the largest sets without two who are apart, as bits; None if there are too many.

    Members come in one by one. A largest set of those before stays one if the new member is apart from somebody in it,
    and takes the new member in otherwise; and every largest set with the new member is one of those before, less
    those who are apart from it. So the sets never get fewer, and one may stop as soon as there are too many.
    """
    sets = {0}
    for new, others in enumerate(apart):
        extended = set()
        for one in sets:
            if not one & others:
                extended.add(one | 1 << new)
                continue
            extended.add(one)
            rest = one & ~others | 1 << new
            if all(rest >> i & 1 or rest & apart[i] for i in range(new)):
                extended.add(rest)
        sets = extended
        if len(sets) > MAX_SETS:
            return None
    return sets


def sets_of(groups: Sequence[Group], releases: Mapping[Receiver, int]) -> ReceiverSets:
    """Return the largest sets of all groups together, at most MAX_SETS; `releases` counts what each receiver got.

    Where there are more, groups count as if nobody in them was apart, first those where that combines the fewest
    pairs of releases that are never seen together.
    """
    kept = list(groups)
    exact = all(len(group.sets) > 1 or len(group.members) == 1 for group in groups)
    for group in sorted(groups, key=lambda group: _lost(group, releases)):
        if prod(len(one.sets) for one in kept) <= MAX_SETS:
            break
        kept[kept.index(group)] = group.whole
        exact = False
    return ReceiverSets(
        [frozenset().union(*chosen) for chosen in product(*(group.sets for group in kept))], exact
    )


def _lost(group: Group, releases: Mapping[Receiver, int]) -> int:
    """Count the pairs of releases that would count as combined though they are apart."""
    together = {frozenset(pair) for one in group.sets for pair in combinations(one, 2)}
    return sum(
        releases.get(one, 0) * releases.get(other, 0)
        for one, other in combinations(group.members, 2)
        if frozenset({one, other}) not in together
    )
