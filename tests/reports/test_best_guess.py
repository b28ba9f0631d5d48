"""What a best guess wins, against counting by hand."""

from __future__ import annotations

from collections import Counter

import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

import sudare as sd
from sudare.reports.best_guess import HARMLESS, best_guesses

SCHEMA = sd.Schema.from_roles(quasi=["zip"], sensitive=["ill"])
PEOPLE = st.lists(
    st.tuples(st.sampled_from("abc"), st.sampled_from(["flu", "HIV", "gout", None])), min_size=1, max_size=60
)


@settings(max_examples=60, deadline=None)
@given(PEOPLE)
def test_it_is_what_counting_by_hand_gives(people: list[tuple[str, str | None]]) -> None:
    rows = pl.DataFrame(people, schema={"zip": pl.String, "ill": pl.String}, orient="row")
    (guess,) = best_guesses(rows, SCHEMA)
    blocks = [Counter(ill for zip_, ill in people if zip_ == place) for place in {zip_ for zip_, _ in people}]
    assert guess.people == len(people)
    assert guess.base == max(Counter(ill for _, ill in people).values()) / len(people)
    assert guess.right == sum(max(block.values()) for block in blocks) / len(people)
    assert guess.right >= guess.base
    assert guess.nearly_known == sum(b.total() for b in blocks if max(b.values()) > 0.9 * b.total())
    assert guess.by_belief["certain"] == sum(b.total() for b in blocks if len(b) == 1)


def test_what_may_be_known_is_counted_apart() -> None:
    rows = pl.DataFrame({"zip": ["a"] * 10 + ["b"] * 10, "ill": ["none"] * 10 + ["HIV"] * 10})
    (guess,) = best_guesses(rows, SCHEMA, {"ill": ["none"]})
    assert (guess.by_belief[HARMLESS], guess.nearly_known) == (10, 10)


def test_the_original_can_be_guessed_too() -> None:
    table = sd.read(pl.DataFrame({"zip": ["a", "b"], "ill": ["flu", "HIV"]}), SCHEMA)
    (guess,) = best_guesses(table, SCHEMA)
    assert (guess.base, guess.right, guess.by_belief["certain"]) == (0.5, 1.0, 2)
