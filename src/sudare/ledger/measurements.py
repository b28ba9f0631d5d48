"""What was measured: noise is drawn once, to however many receivers goes what it made.

A p-view that goes out again, or to another receiver, tells nothing new to whoever has it: it is one measurement, and
costs its budget once. It is the same p-view only if its files are, byte by byte, and if it was made in the same act, which the
salt of its input tells: under the salt of another p-view, or with a changed count, it is a measurement of its own.

A p-view's budget is charged before anything is measured, when nobody knows its files yet. Such an entry is for the
first p-view of its salt that goes out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sudare.ledger.history import Recorded


@dataclass(frozen=True)
class Measurement:
    """The releases of one measurement; all tell the same."""

    releases: tuple[Recorded, ...]

    @property
    def receivers(self) -> frozenset[str | None]:
        """Who got it."""
        return frozenset(release.receiver for release in self.releases)


def measured_at(releases: Sequence[Recorded]) -> dict[int, int]:
    """Return, of every entry that tells nothing new, the number of the one by which its measurement was first recorded."""
    return {
        again.seq: first.seq
        for one in measurements_of(releases)
        for first, *others in [one.releases]
        for again in others
    }


def measurements_of(releases: Sequence[Recorded]) -> list[Measurement]:
    """Put together the releases of each measurement, in the order in which they were first recorded."""
    first: dict[str, str] = {}
    for release in releases:
        if release.body.measurement is not None:
            first.setdefault(release.body.input_salt, release.body.measurement)
    groups: dict[tuple[str, str | int | None], list[Recorded]] = {}
    for release in releases:
        body = release.body
        what: str | int | None = body.measurement
        if what is None:  # charged beforehand, or noise of another kind, which is always its own
            what = release.seq if body.is_written else first.get(body.input_salt)
        groups.setdefault((body.input_salt, what), []).append(release)
    return [Measurement(tuple(group)) for group in groups.values()]
