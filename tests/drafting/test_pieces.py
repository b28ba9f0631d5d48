"""Abbreviations are taken apart only where all of them is understood."""

from __future__ import annotations

import pytest

from sudare.drafting.names import hits
from sudare.drafting.pieces import pieces


@pytest.mark.parametrize(
    ("token", "apart"),
    [
        ("husage", ["hus", "age"]),
        ("fatheduc", ["fath", "educ"]),
        ("lhrwage", ["l", "hr", "wage"]),
        ("meducation", ["m", "education"]),
        ("kidlt6", ["kid", "lt6"]),
        ("c161sex", ["c161", "sex"]),
        ("y94", ["year94"]),
        ("logwage2", ["log", "wage2"]),
    ],
)
def test_what_is_made_of_known_words_is_taken_apart(token: str, apart: list[str]) -> None:
    assert pieces(token) == apart


@pytest.mark.parametrize(
    "word",
    "wage stage package message image smoker occupation q17 age zeta x 年齢 current selection policeman".split(),
)
def test_other_words_stay_whole(word: str) -> None:
    assert pieces(word) == [word]


@pytest.mark.parametrize("token", ["husage", "fatheduc", "kidlt6", "e16sex", "lwage", "c12hour"])
def test_the_pieces_are_the_word(token: str) -> None:
    assert "".join(pieces(token)) == token


@pytest.mark.parametrize(
    ("name", "what"),
    [("husage", "age or birth"), ("lwage", "money"), ("mothereduc", "schooling"), ("e16sex", "sex")],
)
def test_the_last_piece_says_what_it_is(name: str, what: str) -> None:
    assert hits(name)[0].meaning.what == what
