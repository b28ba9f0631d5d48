"""What earlier releases promise about an attribute, and whether it still holds together with a new one.

A release is compared with all earlier ones of the same source whose receivers may put them together: the same
receiver, the public, and any receivers that were not declared apart. Only rows in blocks are compared; noise is not.

A column counts as a promised attribute if its name looks alike, or if it has the same values equally often (`_is_like`).
Under the attribute's own name it is compared; under any other it is refused.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from sudare.errors import RequirementError
from sudare.ledger.blocks import Ints
from sudare.ledger.chain import Entry
from sudare.ledger.entries import RecordedPromise
from sudare.ledger.history import History, Recorded, promise
from sudare.ledger.receivers import MAX_SETS, sets_of
from sudare.privacy.multi_view import KINDS, MultiViewDiversity, RemainingValues
from sudare.tables.counts import Counts
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

    @classmethod
    def by(cls, release: Recorded) -> ShownAttributes:
        """Return what a release in the ledger shows."""
        views = release.body.views.values()
        return cls(
            release.seq,
            frozenset(name for view in views for name in view.quasi),
            frozenset(name for view in views for name in view.others),
            tuple(release.body.promises),
        )

    @property
    def attributes(self) -> frozenset[str]:
        """All attributes that it shows, in whatever role."""
        return self.quasi | self.others

    def about(self, attribute: str) -> list[RecordedPromise]:
        """Return what it promises about an attribute."""
        return [one for one in self.promises if one.attribute == attribute]


def refuse_broken_promises(history: History, new: Recorded, table: Table) -> None:
    """Raise an error if a new release would break a promise together with earlier ones, or they one of its own."""
    if not new.has_blocks:
        return
    shown, earlier = ShownAttributes.by(new), _other_than(new, history)
    _refuse_renamed(_seen_with(history, earlier, new.receiver), shown, table)
    for attribute, releases in _combined(history, earlier, shown, new.receiver):
        _refuse_beforehand(releases, shown, attribute, table)
        _refuse_broken([*releases, new], attribute, table)


def standing(
    entries: Sequence[Entry],
    table: Table,
    views: Mapping[str, Sequence[str]],
    requirement: MultiViewDiversity,
    sensitive: str,
    receiver: str | None,
    *,
    everybody: bool,
) -> tuple[MultiViewDiversity, list[list[Recorded]]]:
    """Return the strictest promise about a sensitive attribute that new views must keep, and with what.

    The second are the sets of releases that somebody may put together with them; with `everybody`, all are one set.
    What no views could keep is refused.
    """
    history = History.of_table(entries, table)
    asked = promise(requirement, table.schema)
    new = ShownAttributes(
        len(entries) + 1,
        frozenset(name for names in views.values() for name in names),
        frozenset({sensitive}),
        (RecordedPromise.model_validate(asked),),
    )
    earlier = [release for release in history.releases if release.has_blocks]
    _refuse_renamed(earlier if everybody else _seen_with(history, earlier, receiver), new, table)
    together = []
    for attribute, releases in _combined(history, earlier, new, receiver, everybody=everybody):
        _refuse_beforehand(releases, new, attribute, table)
        if attribute == sensitive:
            together.append(releases)
    return _strictest(requirement, together, sensitive), together


def _strictest(
    requirement: MultiViewDiversity, sets: Sequence[Sequence[Recorded]], attribute: str
) -> MultiViewDiversity:
    """Return one requirement that implies all that was promised about an attribute, and the given one.

    A posterior of at most 1/l has an entropy of at least log l, which needs l values: so the strongest kind with the
    largest l implies every other.
    """
    promised = [
        one
        for releases in sets
        for release in releases
        for one in ShownAttributes.by(release).about(attribute)
    ]
    needs = [requirement, *(one.requirement for one in promised if one.requirement is not None)]
    kind = max((need.kind for need in needs), key=KINDS.index)
    return MultiViewDiversity(max(need.l for need in needs), kind, requirement.attribute)


def _other_than(new: Recorded, history: History) -> list[Recorded]:
    """Return the releases with blocks. One of the same columns in the same blocks of the same rows reveals nothing new."""
    same = (new.body.digest, new.body.views)
    return [one for one in history.releases if one.has_blocks and (one.body.digest, one.body.views) != same]


def _combined(
    history: History,
    earlier: Sequence[Recorded],
    new: ShownAttributes,
    receiver: str | None,
    *,
    everybody: bool = False,
) -> Iterator[tuple[str, list[Recorded]]]:
    """Yield what somebody may put together with a new release about each attribute of which something is promised."""
    shown = {release.seq: ShownAttributes.by(release) for release in earlier}
    promised = {one.attribute: one for each in (*shown.values(), new) for one in each.promises}
    for attribute in sorted(new.attributes.intersection(promised)):
        showing = [release for release in earlier if attribute in shown[release.seq].attributes]
        sets = sets_of(history.groups(receiver, showing), Counter(one.receiver for one in showing))
        about = [one for each in (*shown.values(), new) for one in each.about(attribute)]
        if not sets.exact and any(one.measure != "distinct" for one in about):
            raise RequirementError(
                f"Receivers of '{attribute}' were declared apart in more than {MAX_SETS} ways, too many to follow one by one for "
                f"{next(one.text for one in about if one.measure != 'distinct')}. Ask for distinct diversity, or for fewer receivers."
            )
        for together in [{one.receiver for one in showing}] if everybody else sets.sets:
            if releases := [release for release in showing if release.receiver in together]:
                yield attribute, releases


# -- Promised attributes under other names --------------------------------------------------------------


def _seen_with(history: History, releases: Sequence[Recorded], receiver: str | None) -> list[Recorded]:
    """Return the releases that anybody may put together with one for this receiver."""
    together = frozenset[str | None]().union(*(group.members for group in history.groups(receiver, releases)))
    return [release for release in releases if release.receiver in together]


def _refuse_renamed(earlier: Sequence[Recorded], new: ShownAttributes, table: Table) -> None:
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


# -- What can be checked without the new blocks ------------------------------------------------------------


def _refuse_beforehand(
    releases: Sequence[Recorded], new: ShownAttributes, attribute: str, table: Table
) -> None:
    every = [*map(ShownAttributes.by, releases), new]
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


# -- What needs the blocks ------------------------------------------------------------------------------


def _refuse_broken(releases: Sequence[Recorded], attribute: str, table: Table) -> None:
    (seen,) = Told.by([releases], attribute, table).seen()
    for release in releases:
        for promised in ShownAttributes.by(release).about(attribute):
            measure = promised.requirement.measure(seen) if promised.requirement else None
            if measure is not None and not measure.holds:
                raise RequirementError(
                    f"Together with {named(releases[:-1])}, this would break what release "
                    f"{release.seq} promises, {promised.text}: somebody would be left with {measure.value:.4g}. Make it as a view "
                    "against this ledger, which goes only as far as is safe."
                )


@dataclass(frozen=True, eq=False)
class Told:
    """What releases of one table tell: its records by all that they look at, and the blocks of these in every view."""

    counts: Counts
    """The promised attribute is the last column."""
    sets: list[list[Ints]]
    """The blocks of each tuple, by view, for every set of releases that somebody may put together."""

    @classmethod
    def by(
        cls, sets: Sequence[Sequence[Recorded]], attribute: str, table: Table, names: Sequence[str] = ()
    ) -> Told:
        """Count a table by what some releases, and whoever needs `names`, look at."""
        views = [
            [(release, blocks) for release in releases for blocks in release.blocks_with(attribute, table)]
            for releases in sets
        ]
        keys = {key for own in views for release, blocks in own for key in release.keys_of(blocks, table)}
        looked_at = [name for name in table.columns if name in keys.union(names) - {attribute}]
        counts = table.counts([*looked_at, attribute])
        return cls(
            counts, [[release.located(blocks, table, counts) for release, blocks in own] for own in views]
        )

    def seen(self) -> list[RemainingValues]:
        """Return what each set of releases leaves to the records of every tuple."""
        sensitive = self.counts.codes[:, -1].astype(np.int64)
        try:
            return [RemainingValues.of(blocks, sensitive, self.counts.weights) for blocks in self.sets]
        except ZeroDivisionError:  # the product of very many shares is no float
            raise RequirementError(
                f"{max(map(len, self.sets)):,} views of '{self.counts.names[-1]}' are too many to follow. Give some to receivers "
                "who were declared apart."
            ) from None


def named(releases: Sequence[Recorded]) -> str:
    """Name releases by their number in the ledger."""
    numbers = [str(release.seq) for release in releases]
    return f"release {numbers[0]}" if len(numbers) == 1 else f"releases {', '.join(numbers)}"
