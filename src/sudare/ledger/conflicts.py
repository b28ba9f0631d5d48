"""What releases show of a table, and which can never go together, whatever their blocks are.

A column counts as a promised attribute if its name looks alike, or if it has the same values equally often (`_is_like`).
Under the attribute's own name it is compared (see `combination`); under any other it is refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, permutations

from sudare.errors import RequirementError
from sudare.ledger.entries import RecordedPromise
from sudare.ledger.history import Recorded
from sudare.tables.lookalikes import skeleton
from sudare.tables.table import Table
from sudare.tables.text import listed

FEW_VALUES = 2  # of a column, such as yes and no: that two have as many of each says little


@dataclass(frozen=True)
class ShownAttributes:
    """What a release shows: which attributes, in which role, and what it promises about them."""

    seq: int
    quasi: frozenset[str]
    others: frozenset[str]
    promises: tuple[RecordedPromise, ...]
    unit: str | None = None
    """Whose rows it protects together, if it does."""

    @classmethod
    def by(cls, release: Recorded) -> ShownAttributes:
        """Return what a release in the ledger shows."""
        views = release.body.views.values()
        return cls(
            release.seq,
            frozenset(name for view in views for name in view.quasi),
            frozenset(name for view in views for name in view.others),
            tuple(release.body.promises),
            release.body.certificate.unit,
        )

    @property
    def attributes(self) -> frozenset[str]:
        """All attributes that it shows, in whatever role."""
        return self.quasi | self.others

    def about(self, attribute: str) -> list[RecordedPromise]:
        """Return what it promises about an attribute."""
        return [one for one in self.promises if one.attribute == attribute]


def refuse_renamed(earlier: Sequence[Recorded], new: ShownAttributes, table: Table) -> None:
    """Refuse a column that one release shows under another name than that by which the other makes a promise about it."""
    for release in earlier:
        then = ShownAttributes.by(release)
        for one in sorted(then.attributes):
            for other in sorted(new.attributes):
                promised = [(then, new, other, p) for p in then.about(one)]
                promised += [(new, then, one, p) for p in new.about(other)]
                if one != other and promised and _is_like(release, one, table, other):
                    promising, showing, name, promise_ = promised[0]
                    raise RequirementError(
                        f"Release {promising.seq} promises {promise_.text} about {promise_.attribute!a}, and release "
                        f"{showing.seq} would show the same under another name, {name!a}. Give it the same name in both, or leave "
                        "it out of one of them."
                    )


def refuse_means(earlier: Sequence[Recorded], new: Recorded, table: Table) -> None:
    """Refuse a mean of blocks where another release shows the same attribute in other blocks: what is in one and not in the other
    follows from both."""
    for release in earlier:
        for then in sorted(_columns(release)):
            for now in sorted(_columns(new)):
                means = then in _means(release) or now in _means(new)
                if means and _is_like(release, then, table, now):
                    raise RequirementError(
                        f"Releases {release.seq} and {new.seq} would both show {now!a}, one of them with the means of its blocks. Blocks that share "
                        'some people and not others tell, by their means, the values of these. Ask for numbers = "ends", or give the '
                        "release to receivers who were declared apart."
                    )


def _columns(release: Recorded) -> set[str]:
    return {name for view in release.body.views.values() for name in (*view.quasi, *view.others)}


def _means(release: Recorded) -> set[str]:
    return {name for view in release.body.views.values() for name in view.means}


def refuse_conflicts(
    releases: Sequence[Recorded], new: ShownAttributes, attribute: str, table: Table
) -> None:
    """Refuse a new release that cannot go together with earlier ones of an attribute, whatever its blocks would be."""
    every = [*map(ShownAttributes.by, releases), new]
    _refuse_units(every, attribute)
    _refuse_roles(every, attribute)
    _refuse_other_states(releases, table)
    _refuse_joinable(every, attribute)
    for release in releases:
        _refuse_joinable_copies(release, new, attribute, table)
    for one in every:
        for promised in one.about(attribute):
            if promised.requirement is None:
                raise RequirementError(
                    f"Release {one.seq} promises {promised.text}, and no rule is known by which that survives a second "
                    f"release of '{attribute}'. Give it to receivers who were declared apart."
                )


def refuse_joined_units(earlier: Sequence[Recorded], new: ShownAttributes, table: Table) -> None:
    """Refuse columns by which rows of persons or households could be joined: somebody's are in several blocks, and in others each time."""
    for release in earlier:
        then = ShownAttributes.by(release)
        if then.unit is None and new.unit is None:
            continue
        for one in sorted(then.attributes):
            for other in sorted(new.attributes):
                as_it_is = one in then.others or other in new.others
                if as_it_is and _is_like(release, one, table, other):
                    raise _unit_twice(then, new, other)


def _refuse_units(every: Sequence[ShownAttributes], attribute: str) -> None:
    """Refuse promises to persons or households: somebody's rows are in several blocks, and their values may be certain by counting."""
    for one, other in permutations(every, 2):
        if one.unit is not None:
            raise _unit_twice(one, other, attribute)


def _unit_twice(one: ShownAttributes, other: ShownAttributes, attribute: str) -> RequirementError:
    one, other = (one, other) if one.unit is not None else (other, one)
    return RequirementError(
        f"Release {one.seq} protects {one.unit}s with all their rows, and no rule is known by which that survives a second release "
        f"of '{attribute}', here with release {other.seq}. Give it to receivers who were declared apart."
    )


def _refuse_roles(every: Sequence[ShownAttributes], attribute: str) -> None:
    """Refuse an attribute that one release keeps from outsiders, and the other shows as what they know."""
    for one in every:
        for other in every:
            if (promised := one.about(attribute)) and attribute in other.quasi:
                raise RequirementError(
                    f"Release {one.seq} promises {promised[0].text} about '{attribute}', and release {other.seq} would show "
                    f"'{attribute}' as a quasi attribute, by which people are distinguished. Leave it out of one of them, or give it "
                    "the role sensitive in both."
                )


def _refuse_other_states(releases: Sequence[Recorded], table: Table) -> None:
    for release in releases:
        if not release.is_of(table):
            raise RequirementError(
                f"Release {release.seq} in the ledger was made from another state of '{release.source}'. Who is in both "
                "could be recognized through both, and no rule is known that rules it out. Release the same table as "
                "then, or name the source otherwise if nobody is in both."
            )


def _refuse_joinable(every: Sequence[ShownAttributes], attribute: str) -> None:
    """Refuse columns that two releases have and one of them shows as they are: they would join rows together."""
    for one, other in combinations(every, 2):
        for a, b in ((one, other), (other, one)):
            alike = {skeleton(name) for name in b.attributes}
            if common := sorted(name for name in a.others - {attribute} if skeleton(name) in alike):
                raise RequirementError(
                    f"Releases {one.seq} and {other.seq} would both have {listed(common)}, by which their rows could be "
                    "joined. Leave it out, or give it the role quasi in both."
                )


def _refuse_joinable_copies(release: Recorded, new: ShownAttributes, attribute: str, table: Table) -> None:
    """Refuse a column that was published earlier under another name, if one of the two shows it as it is."""
    then = ShownAttributes.by(release)
    for one in sorted(then.attributes - {attribute}):
        for other in sorted(new.attributes - {attribute}):
            as_it_is = one in then.others or other in new.others
            if one != other and as_it_is and _is_like(release, one, table, other):
                raise RequirementError(
                    f"Releases {then.seq} and {new.seq} would both have {one!a}, the second as {other!a}, by which their rows "
                    "could be joined. Leave it out, or give it the role quasi in both."
                )


def _is_like(release: Recorded, then: str, table: Table, now: str) -> bool:
    """Tell whether a column of a table may be one that was published earlier, under another name.

    It may if the names look alike, or if the values are the same, equally often. Few values are easily so by chance, and
    so are those of a design: where the rows can be compared, since the rest of the table is the same, they decide. Where
    they cannot, at least three different values must agree.
    """
    if skeleton(then) == skeleton(now):
        return True
    if release.body.columns.get(then) != table.values_digest(now):
        return False
    if release.is_of(table, {then: now}):
        return True
    return not release.is_of(table) and len(table.counts([now])) > FEW_VALUES
