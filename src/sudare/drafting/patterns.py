"""What the texts of a column look like: e-mail addresses, card numbers, post codes, ICD codes, ages in bands, and so on."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

import polars as pl

from sudare.tables.attribute import Role

MOST = 0.9  # of the values must look so
LOOKED_AT = 1_000  # distinct values, spread evenly


def _digits(text: str) -> list[int]:
    return [int(sign) for sign in text if sign.isdigit()]


def is_card_number(text: str) -> bool:
    """Tell whether the last digit of a card number is the one that follows from the others (Luhn).

    >>> is_card_number("4111 1111 1111 1111"), is_card_number("4111 1111 1111 1112")
    (True, False)
    """
    digits = _digits(text)[::-1]
    doubled = (2 * digit - 9 * (digit > 4) for digit in digits[1::2])
    return (sum(digits[::2]) + sum(doubled)) % 10 == 0


def is_iban(text: str) -> bool:
    """Tell whether an account number has the remainder of an IBAN.

    >>> is_iban("DE89 3704 0044 0532 0130 00")
    True
    """
    sign = text.replace(" ", "").upper()
    return int("".join(str(int(letter, 36)) for letter in sign[4:] + sign[:4])) % 97 == 1


def is_my_number(text: str) -> bool:
    """Tell whether the last of twelve digits is the check digit of a Japanese individual number.

    >>> is_my_number("123456789018"), is_my_number("123456789012")
    (True, False)
    """
    *body, check = _digits(text)
    total = sum(digit * (n + 1 if n <= 6 else n - 5) for n, digit in enumerate(reversed(body), 1))
    return check == (0 if total % 11 <= 1 else 11 - total % 11)


def is_nhs_number(text: str) -> bool:
    """Tell whether the last of ten digits is the check digit of a British NHS number.

    >>> is_nhs_number("943 476 5919")
    True
    """
    *body, check = _digits(text)
    return (
        11 - sum(digit * weight for digit, weight in zip(body, range(10, 1, -1), strict=True)) % 11
    ) % 11 == check


def is_dni(text: str) -> bool:
    """Tell whether the letter of a Spanish identity number follows from its digits.

    >>> is_dni("12345678Z"), is_dni("X1234567L")
    (True, True)
    """
    number = text.upper().replace("-", "")
    number = str("XYZ".find(number[0])) + number[1:] if number[0] in "XYZ" else number
    return "TRWAGMYFPDXBNJZSQVHLCKE"[int(number[:-1]) % 23] == number[-1]


def is_nir(text: str) -> bool:
    """Tell whether the key of a French social security number follows from its digits.

    >>> is_nir("1 85 05 78 006 084 91")
    True
    """
    digits = re.sub(r"[\s.]", "", text).upper().replace("2A", "19").replace("2B", "18")
    return 97 - int(digits[:13]) % 97 == int(digits[13:])


@dataclass(frozen=True)
class Pattern:
    """What texts look like, and what that makes of their column."""

    role: Role
    what: str
    regex: str
    holds: Callable[[str], bool] | None = None
    """What else must hold of a text."""
    alone: bool = True
    """Whether it says so by itself; otherwise only beside a name that does not say otherwise."""


MONTHS = "jan|feb|mar|mär|apr|abr|avr|mai|may|jun|jul|juin|juil|ago|aug|août|sep|set|okt|oct|nov|dez|dec|dic|déc|ene|fév"

PATTERNS = (
    Pattern(Role.identifier, "e-mail addresses", r"^[^@\s]+@[^@\s]+\.[A-Za-z]{2,}$"),
    Pattern(Role.identifier, "web addresses", r"^(https?://|www\.)\S+$"),
    Pattern(
        Role.identifier,
        "network addresses",
        r"^(\d{1,3}\.){3}\d{1,3}$|^([0-9A-Fa-f]{1,4}:){7}[0-9A-Fa-f]{1,4}$",
    ),
    Pattern(Role.identifier, "UUIDs", r"^\{?[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}\}?$"),
    Pattern(
        Role.identifier,
        "account numbers (IBAN)",
        r"^[A-Za-z]{2}\d{2}[ ]?([A-Za-z0-9]{4}[ ]?){2,7}[A-Za-z0-9]{0,4}$",
        is_iban,
    ),
    Pattern(
        Role.identifier,
        "French social security numbers",
        r"^[12][ .]?\d{2}[ .]?\d{2}[ .]?\d[0-9ABab][ .]?\d{3}[ .]?\d{3}[ .]?\d{2}$",
        is_nir,
    ),
    Pattern(
        Role.identifier, "card numbers", r"^\d{4}([ -]?)\d{4}\1\d{4}\1\d{1,7}$|^\d{13,19}$", is_card_number
    ),
    Pattern(Role.identifier, "individual numbers (My Number)", r"^\d{4}[ -]?\d{4}[ -]?\d{4}$", is_my_number),
    Pattern(Role.identifier, "NHS numbers", r"^\d{3}[ -]?\d{3}[ -]?\d{4}$", is_nhs_number),
    Pattern(Role.identifier, "Spanish identity numbers", r"^([XYZxyz]-?\d{7}|\d{8})-?[A-Za-z]$", is_dni),
    Pattern(Role.identifier, "social security numbers", r"^\d{3}-\d{2}-\d{4}$"),
    Pattern(
        Role.identifier,
        "phone numbers",
        r"^(\+|00)\d{1,3}[ \-./]?(\(0\))?[\d \-./()]{6,16}$|^0\d{1,4}[\-/ ]\d{1,4}[\-/ ]?\d{3,4}([\-/ ]\d{2,4})?$|^\(0?\d{2,5}\)[ ]?\d{3,4}[\- ]?\d{3,4}$|^\d{3}[-.]\d{3}[-.]\d{4}$",
    ),
    Pattern(Role.identifier, "coordinates", r"^(POINT ?\()?-?\d{1,3}\.\d{3,}[,; ]\s*-?\d{1,3}\.\d{3,}\)?$"),
    Pattern(
        Role.identifier, "coordinates", r"^(SRID=\d+; ?)?(MULTI)?(POINT|LINESTRING|POLYGON) ?[ZM]{0,2} ?\("
    ),
    Pattern(
        Role.identifier,
        "names of persons",
        r"\b(Mr|Mrs|Miss|Ms|Dr|Rev|Herr|Frau|Mme|Mlle|Sr|Sra)\.? |(さん|様|氏)$",
    ),
    Pattern(
        Role.identifier,
        "names of persons, a first and a last one",
        r"^[A-Z][\w'’.-]+( [A-Z][\w'’.-]*){1,3}$|^[A-Z][\w'’-]+, [A-Z][\w'’.-]*$",
        alone=False,
    ),
    Pattern(Role.quasi, "days with times", r"^\d{4}[-/]\d{1,2}[-/]\d{1,2}[T ]\d{1,2}:\d{2}(:\d{2})?\S*$"),
    Pattern(
        Role.quasi,
        "dates",
        rf"(?i)^(\w{{2,9}}[,.] ?)?\d{{1,4}}(st|nd|rd|th)?[ ./-]{{1,2}}(de )?({MONTHS})[^\W\d]*\b|^({MONTHS})[^\W\d]*[ ./-]{{1,2}}\d{{1,4}}\b",
    ),
    Pattern(
        Role.quasi,
        "days of a year",
        r"^(0?[1-9]|1[0-2])[/.-](0?[1-9]|[12]\d|3[01])$|^(0?[1-9]|[12]\d|3[01])[/.-](0?[1-9]|1[0-2])$",
        alone=False,
    ),
    Pattern(Role.quasi, "times", r"^\d{1,3}:[0-5]\d(:[0-5]\d(\.\d+)?)?( ?[AaPp]\.?[Mm]\.?)?$"),
    Pattern(Role.quasi, "Japanese post codes", r"^〒?\d{3}-\d{4}$"),
    Pattern(Role.quasi, "British post codes", r"^[A-Z]{1,2}\d[A-Z\d]? ?\d[A-Z]{2}$"),
    Pattern(Role.quasi, "Canadian post codes", r"^[A-Z]\d[A-Z] ?\d[A-Z]\d$"),
    Pattern(Role.quasi, "Dutch post codes", r"^\d{4} ?[A-Z]{2}$"),
    Pattern(Role.quasi, "post codes", r"^\d{5}-\d{4}$"),
    Pattern(Role.sensitive, "ICD codes", r"^[A-TV-Z]\d{2}(\.?[0-9A-Z]{1,4})?$", None, alone=False),
    Pattern(
        Role.sensitive,
        "amounts of money",
        r"^[-(]?\s*([$€£¥￥]|EUR|USD|JPY|GBP)\s?[\d.,]+[kKmM]?\)?$|^-?[\d.,]+\s?([$€£¥]|円|万円|EUR|USD|JPY)$",
    ),
)


def sample(values: pl.Series) -> list[str]:
    """Return texts of some distinct values, spread evenly."""
    step = max(1, len(values) // LOOKED_AT)
    return [text.strip() for text in values.gather_every(step).cast(pl.String).to_list()]


def pattern_of(values: pl.Series) -> Pattern | None:
    """Return what the distinct texts of a column look like, if nearly all of them look so.

    >>> pattern_of(pl.Series(["ann@example.org", "bo@example.org"])).what
    'e-mail addresses'
    """
    if values.dtype != pl.String and not values.dtype.is_integer():
        return None
    texts = sample(values)
    for pattern in PATTERNS:
        seen = sum(
            bool(re.search(pattern.regex, text)) and (pattern.holds is None or pattern.holds(text))
            for text in texts
        )
        if texts and seen >= MOST * len(texts):
            return pattern
    return None


WORDS_OF_FREE_TEXT = 4  # on average
SIGNS_OF_FREE_TEXT = 40  # on average, where there are few words, as in Japanese


def is_free_text(values: pl.Series, rows: int) -> bool:
    """Tell whether texts are written freely: long, and nearly every one another.

    >>> is_free_text(pl.Series(["came in late with a cough", "asked for a second opinion", "left without a word said"]), 4)
    True
    """
    if values.dtype != pl.String or len(values) < rows / 3:
        return False
    texts = sample(values)
    words = sum(len(text.split()) for text in texts)
    signs = sum(len(text) for text in texts)
    return words > WORDS_OF_FREE_TEXT * len(texts) or signs > SIGNS_OF_FREE_TEXT * len(texts)
