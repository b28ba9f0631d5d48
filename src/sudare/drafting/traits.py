"""What can be seen of a column among the others of its table, in words: what its role is judged by.

Every trait is a phrase that can stand in a reason, with how much of it there is (mostly 1). Nothing here decides.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import groupby

import polars as pl

from sudare.drafting.names import Hit, hits, plain, tokens_of
from sudare.drafting.pieces import pieces, resembled
from sudare.drafting.seen import FEW_PARTS, Seen
from sudare.drafting.words import Meaning
from sudare.tables.attribute import Role
from sudare.tables.text import text_of

UNKNOWN = "its name says nothing that is known"
YEARS = "its values are years"
HAPPENED = "when something happened"
REPEATED = "people have several rows"
NUMBERED = re.compile(r"[a-z]{1,3}_?[0-9]{1,3}[a-z]?(_[0-9a-z]{1,2})?$")
"""Names such as q12, v123 and a16, which a codebook explains."""
SOME_TWICE = 0.7  # distinct numbers of persons, of all rows: more where hardly anybody has two
QUESTION = "its name has many words"
ANSWERED = "its values are answers to a question"
READ = 8  # values that are read as words
BATTERY = 4  # columns side by side with the same values
FAMILY = 3  # columns with the same stem
STEPS = 10  # of a scale, at most
KINDS = 12
MEANS = 40  # values of what is the mean of a few steps
REACH = 4  # columns to either side
ANSWERS = frozenset(
    """agree disagree strongly neither neutral satisfied dissatisfied often sometimes never rarely always seldom likely unlikely easy
    difficult important somewhat very much maybe unsure sure know don't favor oppose support against approve disapprove excellent
    good poor fair better worse happy positive negative low medium high moderate mild severe slightly extremely
    applicable nothing little daily weekly monthly occasionally increase decrease increased decreased same change willing
    undecided partly partially entirely none frequently regularly true false neutral avoid prefer believe think feel refused
    refuse answer response opinion stimme zu nie selten manchmal oft immer accord jamais parfois souvent toujours acuerdo
    nunca veces siempre""".split()
)
"""Words of answers to questions."""
Traits = dict[str, float]


def traits_of(columns: Sequence[Seen]) -> dict[str, Traits]:
    """Return the traits of every column of a table."""
    meanings = {one.column.name: _meaning(one) for one in columns}
    known = {name: meaning.role if meaning else None for name, meaning in meanings.items()}
    about = {name: meaning.subject if meaning else None for name, meaning in meanings.items()}
    batteries = _batteries(columns)
    families = _families(columns)
    repeated = any(
        one.numbers and one.numbers.person and one.numbers.sure and not one.is_unique(SOME_TWICE)
        for one in columns
    )
    found: dict[str, Traits] = {}
    for at, one in enumerate(columns):
        name = one.column.name
        own: Traits = {}
        own.update(_of_name(one))
        shape = shape_of(one)
        own[shape] = 1.0
        if one.hit:
            own[f"{shape}, where its name means {one.hit.meaning.what}"] = 1.0
            own[f"{shape}, where its name means something {one.hit.meaning.role.value}"] = 1.0
        own.update(_of_values(one))
        if ANSWERED in own and QUESTION in own:
            own["it is a question with answers"] = 1.0
        if batteries[name]:
            same = "values" if one.distinct > 2 else "two values"
            own[f"it stands among columns with the same {same}"] = 1.0
        if families[name]:
            own["it is one of several columns with the same stem"] = 1.0
        context = {**_of_neighbours(at, columns, known), **_of_table(name, about, known)}
        own.update(context)
        if known[name]:  # what stands around a column says less of it where its own name says much
            own.update({f"{said}, beside a name that is understood": much for said, much in context.items()})
        if repeated:
            own[REPEATED] = 1.0
            if known[name] and one.hit and one.hit.meaning.what == HAPPENED:
                own[f"{REPEATED}, where its name means {HAPPENED}"] = 1.0
        found[name] = own
    return found


def _meaning(one: Seen) -> Meaning | None:
    return one.hit.meaning if one.hit and not one.hit.meaning.weak else None


def _of_name(one: Seen) -> Traits:
    own: Traits = {}
    if one.hit is None:
        own[UNKNOWN] = 1.0
        own.update(_of_likeness(one.column.name))
    else:
        own[f"its name means {one.hit.meaning.what}"] = 1.0
        if not one.hit.meaning.weak:
            own[f"its name means something {one.hit.meaning.role.value}"] = 1.0
        for hit in one.hits:
            if hit.meaning.what != one.hit.meaning.what:
                own[f"its name also means {hit.meaning.what}"] = 1.0
        own.update(_of_the_rest(one, one.hit))
    if NUMBERED.match(plain(one.column.name)):
        own["its name is letters and a number"] = 1.0
    if len(tokens_of(one.column.name)) >= 4:
        own[QUESTION] = 1.0
    return own


def _of_the_rest(one: Seen, hit: Hit) -> Traits:
    """Say whether a word that means something is only a part of one in the name, which then may mean something else."""
    if not hit.word.isascii() or set(hit.word.split()) & set(tokens_of(one.column.name)):
        return {}
    return {f"only a part of a word means something {hit.meaning.role.value}": 1.0}


def _of_likeness(name: str) -> Traits:
    """Say what the words of a name look like, where they are not known."""
    alike = [shares for token in tokens_of(name) for piece in pieces(token) if (shares := resembled(piece))]
    total: Counter[Role] = Counter()
    for shares in alike:
        total.update(shares)
    return {
        f"its name looks like words for something {role.value}": round(share / len(alike), 3)
        for role, share in total.items()
    }


def shape_of(one: Seen) -> str:
    """Say what kind of values a column has."""
    values, distinct = one.column.values, one.distinct
    if distinct <= 2:
        return "it has two values"
    if one.is_text:
        return "it has a few kinds, in words" if distinct <= KINDS else "it has many kinds, in words"
    if not values.dtype.is_numeric():
        return "its values are dates"
    numbers = values.cast(pl.Float64)
    low, high = (float(end) if end is not None else 0.0 for end in (numbers.min(), numbers.max()))  # type: ignore[arg-type]
    if one.has_decimals and distinct <= FEW_PARTS and (low, high) == (0, 1):
        return "it has two values"  # and a share of them where one was missing
    if one.has_decimals:
        return YEARS if _are_years(low, high) else _shape_of_decimals(low, high, distinct)
    if low < 0:
        return "its values are whole numbers of which some are negative"
    if high <= STEPS:
        return "its values are a scale or a small count"
    if _are_years(low, high):
        return YEARS
    return "its values are whole numbers below 130" if high < 130 else "its values are large whole numbers"


def _are_years(low: float, high: float) -> bool:
    """Tell whether numbers are years; with decimals, they are days of them."""
    return low >= 1850 and high <= 2100


def _shape_of_decimals(low: float, high: float, distinct: int) -> str:
    if low >= 1 and high <= 7 and distinct <= MEANS:
        return "its values are means of scales"
    if low < 0:
        return "its values are decimals of which some are negative"
    return (
        "its values are small numbers with decimals"
        if high <= 20
        else "its values are large numbers with decimals"
    )


def _of_values(one: Seen) -> Traits:
    own: Traits = {}
    if not one.is_text or not 2 <= one.distinct <= 200:
        return own
    texts = [text_of(value) for value in one.column.values.head(READ).to_list()]
    words = [set(re.findall(r"[a-z']+", plain(text))) for text in texts]
    if 2 * sum(bool(said & ANSWERS) for said in words) > len(texts):
        own[ANSWERED] = 1.0
    meant = Counter(what for text in texts if (what := meaning_of(text)))
    if meant:
        what, times = meant.most_common(1)[0]
        if 2 * times >= len(texts):
            own[f"its values are words for {what}"] = 1.0
    stem = "".join(tokens_of(one.column.name))
    if one.distinct == 2 and any(stem in "".join(tokens_of(text)) for text in texts):
        own["its values are its name and the contrary"] = 1.0
    return own


@lru_cache(maxsize=10_000)
def meaning_of(text: str) -> str | None:
    """Return what a value is a word for."""
    found = hits(text[:60]) if not text.replace(".", "").isdigit() else []
    strong = [hit for hit in found if not hit.meaning.weak]
    return strong[0].meaning.what if strong else None


def _batteries(columns: Sequence[Seen]) -> dict[str, bool]:
    """Find runs of columns side by side that have the same few values."""
    marks: dict[str, bool] = {}
    for key, run in groupby(columns, key=_few_values):
        names = [one.column.name for one in run]
        for name in names:
            marks[name] = key is not None and len(names) >= BATTERY
    return marks


def _few_values(one: Seen) -> tuple[str, ...] | None:
    if not 2 <= one.distinct <= STEPS + 1:
        return None
    return tuple(sorted(text_of(value) for value in one.column.values.to_list()))


def _families(columns: Sequence[Seen]) -> dict[str, bool]:
    stems: dict[str, list[str]] = defaultdict(list)
    for one in columns:
        stems[_stem(one.column.name)].append(one.column.name)
    return {name: len(names) >= FAMILY for stem, names in stems.items() for name in names}


def _stem(name: str) -> str:
    """Leave the digits of a name away."""
    return re.sub(r"[0-9]+[a-z]?", "#", plain(name))


def _of_neighbours(at: int, columns: Sequence[Seen], known: Mapping[str, Role | None]) -> Traits:
    """Say how many of the columns beside it are known to be sensitive, and how many quasi: near ones count more."""
    sums: dict[Role | None, float] = defaultdict(float)
    for other in range(max(0, at - REACH), min(len(columns), at + REACH + 1)):
        if other != at:
            sums[known[columns[other].column.name]] += 1 / abs(other - at)
    total = sum(sums.values())
    if not total:
        return {}
    return {
        "columns beside it are sensitive": round(sums[Role.sensitive] / total, 3),
        "columns beside it are quasi": round(sums[Role.quasi] / total, 3),
    }


def _of_table(name: str, about: Mapping[str, str | None], known: Mapping[str, Role | None]) -> Traits:
    """Say what the other columns are about, as far as that tells what the rest is, and which roles they have."""
    subjects = Counter(subject for column, subject in about.items() if subject and column != name)
    roles = Counter(role for column, role in known.items() if role and column != name)
    total = sum(roles.values())
    own = {f"the table is about {subject}": times / (total + 2) for subject, times in subjects.items()}
    own |= {f"many other columns are {role.value}": times / (total + 2) for role, times in roles.items()}
    if len(about) > 1:
        own["many other columns are not understood"] = 1 - total / (len(about) - 1)
    return own
