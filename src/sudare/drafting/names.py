"""What a column's name says of it."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import NamedTuple

from sudare.drafting.pieces import pieces
from sudare.drafting.words import HOUSEHOLDS, ID, MEANINGS, NAME, PEOPLE, PREPOSITIONS, STAFF, Meaning

COMPOUNDING = frozenset({"English", "German"})  # languages whose words grow together
HEAD_FIRST = frozenset({"French", "Spanish"})  # languages in which a number comes before what it numbers
LONG = 6  # letters of a word that is found within another
REST = 3  # letters of what is left of that
MAX_SIGNS = 200  # of a name that are looked at
DIGITS = "0123456789"
MONEY = "money"
TIMES = frozenset(
    "hour hr day week wk month mth mon quarter year yr annual semester stunde tag woche monat jahr mois annee mes ano".split()
)
"""For how long somebody is paid, in a name that means money."""


@dataclass(frozen=True)
class Hit:
    """A word of a name that means something."""

    meaning: Meaning
    word: str
    language: str
    where: str = "name"
    """Its name, or its label in a statistics file."""

    @property
    def said(self) -> str:
        """Say what was found, and where."""
        tongue = "" if self.language in ("English", "codes") else f" ({self.language})"
        return f"'{self.word}' in its {self.where}{tongue}"

    @property
    def reason(self) -> str:
        """Say what was found, and what it means."""
        return f"{self.said}: {self.meaning.what}"


def plain(text: str) -> str:
    """Write a text without case, accents and widths.

    >>> plain("Größe"), plain("Prénom"), plain("ＩＤ")
    ('grosse', 'prenom', 'id')
    """
    letters = unicodedata.normalize("NFKD", unicodedata.normalize("NFKC", text).casefold())
    kept = "".join(sign for sign in letters if not "\u0300" <= sign <= "\u036f")
    return unicodedata.normalize("NFC", kept)


def tokens_of(name: str) -> list[str]:
    """Take the words of a name apart; digits stay with the word before them.

    >>> tokens_of("dateOfBirth"), tokens_of("ICD10_code"), tokens_of("wt.1")
    (['date', 'of', 'birth'], ['icd10', 'code'], ['wt', '1'])
    """
    words = []
    for part in re.split(r"[\W_]+", unicodedata.normalize("NFKC", name[:MAX_SIGNS])):
        if part.isupper() or not re.search(r"[A-Z]", part[1:]):
            words.append(part)
        else:
            words += re.findall(r"[A-Z]+(?![a-z])[0-9]*|[A-Z]?[^\WA-Z]+[0-9]*|[0-9]+", part)
    return [plain(word) for word in words if word]


class Entries(NamedTuple):
    """A list of words, by how they are looked for."""

    exact: frozenset[str]
    patterns: Mapping[str, tuple[tuple[str, ...], ...]]
    """Those with stars, and those of several parts, by their first sign."""
    last: frozenset[str]
    """Those that must end a name."""
    anywhere: tuple[str, ...]
    """Those of a language that is written without blanks."""


@cache
def _entries(words: str) -> Entries:
    every = [plain(word) for word in words.split()]
    anywhere = [word for word in every if _is_ideographic(word)]
    last = [word.rstrip("$") for word in every if word.endswith("$")]
    patterns = [word for word in every if "*" in word or "_" in word]
    exact = set(every) - {*anywhere, *patterns} - {f"{word}$" for word in last}
    by_sign: dict[str, tuple[tuple[str, ...], ...]] = {}
    for word in patterns:
        by_sign[word[0]] = (*by_sign.get(word[0], ()), tuple(word.split("_")))
    return Entries(frozenset(exact), by_sign, frozenset(last), tuple(anywhere))


def _is_ideographic(word: str) -> bool:
    return any("\u3040" <= sign <= "\u9fff" for sign in word)


def _is(token: str, part: str) -> bool:
    word = token.rstrip(DIGITS)
    if part.startswith("*") and part.endswith("*"):
        return part[1:-1] in word
    if part.startswith("*"):
        return word.endswith(part[1:])
    return word.startswith(part[:-1]) if part.endswith("*") else part in (token, word)


class Found(NamedTuple):
    """A word that is in a name."""

    word: str
    """As the name has it."""
    language: str
    end: int
    """The last of its tokens; of a language without blanks, where it begins."""
    size: int
    """How many tokens, or signs of such a language, it has; 0 for a part of a token."""
    exact: bool


def found(tokens: list[str], lists: Mapping[str, str]) -> Iterator[Found]:
    """Find the words of some lists in a name."""
    whole = "".join(tokens)
    for language, words in lists.items():
        entries = _entries(words)
        for end, token in enumerate(tokens):
            known = {token, token.rstrip(DIGITS)}
            if known & entries.exact or (end == len(tokens) - 1 and known & entries.last):
                yield Found(token, language, end, 1, exact=True)
            elif language in COMPOUNDING and (part := _grown_from(token, entries.exact)):
                yield Found(part, language, end, 0, exact=False)
        for start, token in enumerate(tokens):
            for parts in (*entries.patterns.get(token[:1], ()), *entries.patterns.get("*", ())):
                own = tokens[start : start + len(parts)]
                if len(own) == len(parts) and all(map(_is, own, parts)):
                    size = sum(part != "*" for part in parts)  # what may be anything says nothing
                    exact = not any("*" in part for part in parts)
                    yield Found(" ".join(own), language, start + len(parts) - 1, size, exact=exact)
        for word in entries.anywhere:
            if word in whole:
                yield Found(word, language, whole.rfind(word), len(word), exact=True)
        if len(tokens) > 1 and len(whole) > 3 and whole in entries.exact:
            yield Found(whole, language, len(tokens) - 1, len(tokens), exact=True)


def _grown_from(token: str, words: frozenset[str]) -> str | None:
    """Return the long word that a token begins or ends with, as `yearsmarried` does."""
    word = token.rstrip(DIGITS)
    parts = (part for size in range(LONG, len(word) - REST + 1) for part in (word[-size:], word[:size]))
    return next((part for part in parts if part in words), None)


def hits(name: str) -> list[Hit]:
    """Find the words of a name that mean something, the one that says most first.

    >>> hits("age_at_diagnosis")[0].meaning.what, hits("job_satisfaction")[0].meaning.what
    ('age or birth', 'an opinion or belief')
    """
    tokens = [piece for token in tokens_of(name) for piece in pieces(token)]
    said = _head_first(tokens)
    every = []
    for order, meaning in enumerate(MEANINGS):
        for one in found(tokens, meaning.words):
            rank = -one.end if _is_ideographic(one.word) else said.index(one.end)
            key = (meaning.weak, -one.size, rank, not one.exact, order)
            every.append((key, Hit(meaning, one.word, one.language)))
    english = {(hit.meaning.what, hit.word) for _, hit in every if hit.language == "English"}
    paid = any(hit.meaning.what == MONEY and key[1] for key, hit in every)
    ranked = [((key[0], paid and _says_of_pay(hit), key[1:]), hit) for key, hit in every]
    ordered = (hit for _, hit in sorted(ranked, key=lambda pair: pair[0]))
    return [
        replace(hit, language="English") if (hit.meaning.what, hit.word) in english else hit
        for hit in ordered
    ]


def _says_of_pay(hit: Hit) -> bool:
    """Tell whether a word says for how long, or for what, where a name means money: `earnings_month`, `overtime_pay`."""
    return hit.meaning.what == "work" or hit.word.rstrip(DIGITS) in TIMES


def _head_first(tokens: list[str]) -> list[int]:
    """Order the places of tokens: what the others say more about comes first, the last one before a preposition."""
    cut = next((i for i, token in enumerate(tokens) if i and token in PREPOSITIONS), len(tokens))
    return [*range(cut - 1, -1, -1), *range(cut, len(tokens))]


@dataclass(frozen=True)
class Numbered:
    """What a name says of whom or what it numbers or names."""

    word: str
    person: bool
    household: bool
    sure: bool
    """Whether it can be nothing else but an identifier: `id`, and not `number`, which may count things."""
    staff: str | None = None
    """Who is numbered, if that is somebody who has to do with the people of the table."""


SURE = frozenset(
    "id ids uid pid uuid guid idno idnum identifier identification caseid personid patientid recordid idcode".split()
)
SHORT_NUMBER = re.compile("(.*?)_?(num|no|nr|id|idno|code|key)[0-9]*$")
NUMBER_FIRST = re.compile("(?:id|no|num)_?([a-z]+)$")
SHORT_PEOPLE = frozenset("sub subj pat pt pers per stud stu emp cust client resp ind indiv mem part".split())
SHORT_HOUSEHOLDS = frozenset(
    "hh fam house home household family couple pair twin dyad hog hogar men menage viv vivienda foyer".split()
)
BARE = SURE | frozenset("no nr num number case 番号 nummer numero".split())
"""Words that, alone, number whatever the table is about."""


def numbered(name: str) -> Numbered | None:
    """Tell whether a name is that of a number which tells records or things apart.

    >>> numbered("patient_id").person, numbered("household number").household, numbered("number_of_rooms")
    (True, True, None)
    """
    tokens = tokens_of(name)
    head = _head_first(tokens)[0] if tokens else 0
    if len(tokens) <= 2 and (
        whom := _short("".join(tokens)) or (_whom(tokens) if len(tokens) == 1 else None)
    ):
        return whom
    every = list(_whole_words(tokens, ID))
    last = [
        one
        for one in every
        if one.end == head or _is_ideographic(one.word) or (one.end == 0 and _comes_first(one, tokens))
    ]
    codes = [one for one in every if one.language == "codes"]
    if not last and not codes:
        return None
    word = (last or codes)[0].word
    sure = word.rstrip(DIGITS) in SURE or bool(codes) or _is_ideographic(word)
    if not sure and PREPOSITIONS & set(tokens[1:]):  # the number of rooms is no room's number
        return None
    # A code names persons where it is the whole name: `id` does, and `case_id` does not.
    person = any(one.language != "codes" or len(tokens) == 1 for one in _whole_words(tokens, PEOPLE))
    household = any(True for _ in _whole_words(tokens, HOUSEHOLDS))
    bare = (
        word.rstrip(DIGITS) in BARE
    )  # `no` is the number of whatever the table is about, and `provnum` is not
    alone = len(tokens) == 1 and bare and not household
    staff = next((one.word for one in _whole_words(tokens, STAFF)), None)
    return Numbered(word, (person or alone) and not staff, household, sure, staff)


def _whole_words(tokens: list[str], lists: Mapping[str, str]) -> Iterator[Found]:
    return (one for one in found(tokens, lists) if one.size)


def _comes_first(one: Found, tokens: list[str]) -> bool:
    """Tell whether what a name numbers comes after the number: in some languages, and in `id_hogar`."""
    rest = tokens[1:]
    whom = any(True for lists in (PEOPLE, HOUSEHOLDS) for _ in _whole_words(rest, lists))
    return one.language in HEAD_FIRST or (whom and one.word in SURE)


def _short(token: str) -> Numbered | None:
    """Read a number in one word, such as `subnum` or `famid`."""
    found = SHORT_NUMBER.match(token) or NUMBER_FIRST.match(token)
    if found is None or found[1] not in SHORT_PEOPLE | SHORT_HOUSEHOLDS:
        return None
    person = found[1] in SHORT_PEOPLE
    return Numbered(token, person, not person, sure="id" in token)


def _whom(tokens: list[str]) -> Numbered | None:
    """Read a name that is just the word for a person or a household: it may number them, if there are many."""
    for one in _whole_words(tokens, PEOPLE):
        if one.language != "codes" and not one.word.endswith("s"):  # several are counted
            return Numbered(one.word, person=True, household=False, sure=False)
    for one in _whole_words(tokens, HOUSEHOLDS):
        if one.language != "codes":
            return Numbered(one.word, person=False, household=True, sure=one.word.endswith("id"))
    return None


NUMBERED = re.compile("[a-z]{2,}(id|idno|num|nr|nbr|number|serial)$")
NOT_NUMBERED = re.compile(
    "(paid|void|grid|hybrid|oid|aid|acid|mid|squid|liquid|solid|rapid|valid|cid|bid|said|lid|rid)$"
)


def called_number(name: str) -> str | None:
    """Return the last word of a name, if it ends as those of numbers do: `studyid`.

    >>> called_number("studyid"), called_number("global_num"), called_number("amount_paid"), called_number("num_rooms")
    ('studyid', 'num', None, None)
    """
    tokens = tokens_of(name)
    if not tokens or NOT_NUMBERED.search(tokens[-1]) or PREPOSITIONS & set(tokens[1:]):
        return None
    ends = NUMBERED.match(tokens[-1]) or (len(tokens) > 1 and NUMBERED.match(f"xx{tokens[-1]}"))
    return tokens[-1] if ends else None


def names_people(name: str) -> bool:
    """Tell whether a word of a name is one for the people that a table is about."""
    return any(True for _ in _whole_words(tokens_of(name), PEOPLE))


def names_staff(name: str) -> str | None:
    """Return who is named, if that is somebody who has to do with the people of a table.

    >>> names_staff("manager_name"), names_staff("manager_rating")
    ('manager', None)
    """
    if names_something(name) is None:
        return None
    return next((one.word for one in _whole_words(tokens_of(name), STAFF)), None)


def names_something(name: str) -> str | None:
    """Return the word that says that a column has names, if there is one.

    >>> names_something("clinic_name"), names_something("renamed")
    ('name', None)
    """
    return next((one.word for one in _whole_words(tokens_of(name), NAME)), None)
