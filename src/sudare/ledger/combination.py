"""What earlier releases promise about an attribute, and whether it still holds together with a new one.

A release is compared with all earlier ones of the same source whose receivers may put them together: the same
receiver, the public, and any receivers that were not declared apart. Only rows in blocks are compared; noise is not.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sudare.errors import RequirementError
from sudare.ledger.blocks import RecordedBlocks
from sudare.ledger.chain import Entry
from sudare.ledger.conflicts import (
    ShownAttributes,
    refuse_conflicts,
    refuse_joined_units,
    refuse_means,
    refuse_renamed,
)
from sudare.ledger.entries import RecordedPromise
from sudare.ledger.history import History, Recorded, promise
from sudare.ledger.packed import Ints
from sudare.ledger.receivers import MAX_SETS, sets_of
from sudare.ledger.several import Spread
from sudare.privacy.multi_view import KINDS, MultiViewDiversity, RemainingValues
from sudare.privacy.values import codes_of
from sudare.tables.counts import Counts
from sudare.tables.table import Table

Views = Mapping[int, Sequence[tuple[Recorded, RecordedBlocks]]]
"""The views of releases, by the release's number."""


def refuse_broken_promises(history: History, new: Recorded, table: Table) -> None:
    """Raise an error if a new release would break a promise together with earlier ones, or they one of its own."""
    if not new.has_blocks:
        return
    shown, earlier = ShownAttributes.by(new), _other_than(new, history)
    seen_with = _seen_with(history, earlier, new.receiver)
    refuse_renamed(seen_with, shown, table)
    refuse_means(seen_with, new, table)
    refuse_joined_units(seen_with, shown, table)
    for attribute, releases in _combined(history, earlier, shown, new.receiver):
        refuse_conflicts(releases, shown, attribute, table)
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
    seen_with = earlier if everybody else _seen_with(history, earlier, receiver)
    refuse_renamed(seen_with, new, table)
    refuse_joined_units(seen_with, new, table)
    together = []
    for attribute, releases in _combined(history, earlier, new, receiver, everybody=everybody):
        refuse_conflicts(releases, new, attribute, table)
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
    needs = [requirement, *(one.implied_by for one in promised if one.implied_by is not None)]
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


def _seen_with(history: History, releases: Sequence[Recorded], receiver: str | None) -> list[Recorded]:
    """Return the releases that anybody may put together with one for this receiver."""
    together = frozenset[str | None]().union(*(group.members for group in history.groups(receiver, releases)))
    return [release for release in releases if release.receiver in together]


def _refuse_broken(releases: Sequence[Recorded], attribute: str, table: Table) -> None:
    told = Told.by([releases], attribute, table)
    (seen,) = told.seen()
    for release in releases:
        for promised in ShownAttributes.by(release).about(attribute):
            left = told.besides(seen, promised.harmless, table)
            if promised.requirement is None or not len(left.weights):
                continue
            measure = promised.requirement.measure(left)
            if not measure.holds:
                raise RequirementError(
                    f"Together with {named(releases[:-1])}, this would break what release "
                    f"{release.seq} promises, {promised.text}: somebody would be left with l = {measure.value:.4g}. Make it as a view "
                    "against this ledger (generalize_views), which goes only as far as is safe."
                )


@dataclass(frozen=True, eq=False)
class Told:
    """What releases of one table tell: its records by all that they look at, and the blocks of these in every view.

    Who is equal to others may be in any of the blocks that have some of them. So a tuple stands once for each way to be in a block of
    every view, and what is left to the worst off of all of them is left to everybody. Somebody who does not know the way is left with
    a mixture of what the ways leave: it has every value that one of them has, no value is likelier in it than in all of them, and
    its entropy is at least the least of theirs.
    """

    counts: Counts
    """The promised attribute is the last column. Of a tuple that stands there several times, the records add up to what every block
    has of it; a way may have none."""
    places: Ints
    """Which of the tuples that were counted each is."""
    sets: list[list[Ints]]
    """The blocks of each tuple, by view, for every set of releases that somebody may put together."""

    @classmethod
    def by(
        cls, sets: Sequence[Sequence[Recorded]], attribute: str, table: Table, names: Sequence[str] = ()
    ) -> Told:
        """Count a table by what some releases, and whoever needs `names`, look at."""
        views = _views(sets, attribute, table)
        keys = {
            key for own in views.values() for release, blocks in own for key in release.keys_of(blocks, table)
        }
        looked_at = [name for name in table.columns if name in keys.union(names) - {attribute}]
        return cls._of(views, sets, attribute, table, table.counts([*looked_at, attribute]))

    @classmethod
    def of(cls, sets: Sequence[Sequence[Recorded]], attribute: str, table: Table, counts: Counts) -> Told:
        """Look up what a table was counted by: all that the releases look at, and the attribute."""
        return cls._of(_views(sets, attribute, table), sets, attribute, table, counts)

    @classmethod
    def _of(
        cls,
        recorded: Views,
        sets: Sequence[Sequence[Recorded]],
        attribute: str,
        table: Table,
        counts: Counts,
    ) -> Told:
        places, weights = np.arange(len(counts)), counts.weights
        blocks: list[Ints] = []
        of_release: dict[int, list[int]] = {}
        for seq, views in recorded.items():
            of_release[seq] = [*range(len(blocks), len(blocks) + len(views))]
            for release, view in views:
                spread = release.spread(view, table, counts, attribute)
                ways, of_spread, weights = Spread(places, places, weights).across(spread)
                blocks = [*(own[ways] for own in blocks), spread.block[of_spread]]
                places = places[ways]
        expanded = Counts(counts.names, counts.codes[places], weights, counts.sizes)
        told = [[blocks[at] for release in releases for at in of_release[release.seq]] for releases in sets]
        return cls(expanded, places, told)

    def seen(self) -> list[RemainingValues]:
        """Return what each set of releases leaves to the records of every tuple."""
        sensitive = self.counts.codes[:, -1].astype(np.int64)
        try:
            return [RemainingValues.of(blocks, sensitive, self.counts.weights) for blocks in self.sets]
        except ZeroDivisionError:  # the product of very many shares is no float
            raise self._too_many() from None

    def besides(self, seen: RemainingValues, harmless: Sequence[str], table: Table) -> RemainingValues:
        """Return what is left of values that are not harmless, to those who are left with any."""
        if not harmless:
            return seen
        column = table[self.counts.names[-1]]
        totals = np.bincount(self.counts.codes[:, -1], self.counts.weights).astype(np.int64)
        try:
            return seen.besides(codes_of(harmless, column.values, len(totals)), totals)
        except ZeroDivisionError:
            raise self._too_many() from None

    def _too_many(self) -> RequirementError:
        return RequirementError(
            f"{max(map(len, self.sets)):,} views of '{self.counts.names[-1]}' are too many to follow. Give some to receivers "
            "who were declared apart."
        )


def _views(sets: Sequence[Sequence[Recorded]], attribute: str, table: Table) -> Views:
    """Return the views of every release that show an attribute, by the release's number."""
    every = {release.seq: release for releases in sets for release in releases}
    return {
        seq: [(release, blocks) for blocks in release.blocks_with(attribute, table)]
        for seq, release in every.items()
    }


def named(releases: Sequence[Recorded]) -> str:
    """Name releases by their number in the ledger."""
    numbers = [str(release.seq) for release in releases]
    return f"release {numbers[0]}" if len(numbers) == 1 else f"releases {', '.join(numbers)}"
