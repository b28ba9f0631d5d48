"""HIPAA's Safe Harbor: its eighteen identifiers, looked for in every published column, by its name and by its values.

What is found is evidence, and no finding is no proof: a pattern knows neither what a code means nor what the holder knows.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

import polars as pl

from sudare.drafting.names import DIGITS, tokens_of
from sudare.tables.attribute import UNITS, Role
from sudare.tables.exact import texts

Verdict = Literal["found", "to be judged", "nothing found"]

IDENTIFIERS = {
    "A": "Names",
    "B": "Places smaller than a state: street, city, county, ZIP code beyond its first three digits",
    "C": "Dates finer than a year that concern a person; ages over 89",
    "D": "Telephone numbers",
    "E": "Fax numbers",
    "F": "E-mail addresses",
    "G": "Social security numbers",
    "H": "Medical record numbers",
    "I": "Health plan beneficiary numbers",
    "J": "Account numbers",
    "K": "Certificate and licence numbers",
    "L": "Vehicle identifiers, serial numbers and licence plates",
    "M": "Device identifiers and serial numbers",
    "N": "Web addresses (URL)",
    "O": "IP addresses",
    "P": "Biometric identifiers, such as finger and voice prints",
    "Q": "Full-face photographs and comparable images",
    "R": "Any other unique number, characteristic or code",
}
"""By the letters of 45 CFR 164.514(b)(2)(i), in words of our own."""

WORDS = {
    "A": "name firstname lastname surname forename initials nickname alias maiden physician doctor nurse relative "
    "contact spouse employer 氏名 名前 姓名 vorname nachname familienname geburtsname nom prenom nombre apellido apellidos",
    "B": "address street city town village county municipality precinct parish ward district neighbourhood neighborhood "
    "zip zipcode postcode postal plz geocode tract latitude longitude lat lon lng gps location place region "
    "住所 市区町村 郵便番号 ort wohnort geburtsort stadt gemeinde kreis landkreis bezirk strasse adresse anschrift plz postleitzahl "
    "ville commune rue quartier departement codepostal ciudad municipio calle direccion barrio codigopostal",
    "C": "date day dob birthdate birthday birth born admission discharge death died visit onset 生年月日 日付 datum geburtsdatum geburtstag geburt "
    "aufnahme entlassung todesdatum naissance deces fecha nacimiento ingreso defuncion",
    "D": "phone telephone tel mobile cell cellphone 電話 電話番号 telefon telefonnummer handy mobil telefono movil",
    "E": "fax telefax ファックス",
    "F": "email mail courriel correo",
    "G": "ssn socialsecurity",
    "H": "mrn medicalrecord chart patient patientid 患者番号 カルテ番号 patientennummer fallnummer krankenakte dossier",
    "I": "beneficiary member memberid plan insurance policy subscriber 保険証番号 被保険者番号 versichertennummer krankenkasse assurance seguro",
    "J": "account iban card creditcard bank 口座番号 konto kontonummer compte cuenta",
    "K": "certificate license licence passport permit 免許 旅券番号 ausweis fuhrerschein fuehrerschein reisepass passeport pasaporte",
    "L": "vehicle vin plate licenseplate 車両番号 kennzeichen fahrzeug immatriculation matricula",
    "M": "device imei imsi serial mac udid",
    "N": "url website homepage link uri",
    "O": "ip ipaddress",
    "P": "biometric fingerprint iris retina voice voiceprint faceprint gait dna genome genotype",
    "Q": "photo photograph image picture face portrait selfie video",
    "R": "id uuid guid code number no key hash token username login pseudonym nummer kennung numero",
}
"""Whole words of a column's name that speak of an identifier."""
AGE_WORDS = {"age", "ages", "alter", "年齢"}
ZIP_WORDS = {"zip", "zipcode", "postcode", "postal", "plz", "郵便番号"}
BIRTH_WORDS = {"birth", "born", "dob", "birthyear", "生年"}

PATTERNS: dict[str, tuple[str, Verdict, str]] = {
    "D": (
        r"^\s*(?:tel\.?:?\s*)?(?:\+\d{1,3}[\s.-]?)?(?:\(\d{2,4}\)[\s.-]?|\d{2,4}[\s.-])\d{3,4}[\s.-]?\d{3,4}\s*$|^\s*\+\d{9,14}\s*$",
        "found",
        "written like a telephone or fax number",
    ),
    "F": (r"[\w.+-]+@[\w-]+\.\w{2,}", "found", "written like an e-mail address"),
    "G": (r"\b\d{3}-\d{2}-\d{4}\b", "found", "written like a social security number"),
    "J": (
        r"\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){3,7}\b|\b(?:\d{4}[ -]){3}\d{4}\b",
        "found",
        "written like an IBAN or a card number",
    ),
    "L": (
        r"^[A-HJ-NPR-Z0-9]{9}[A-HJ-NPR-Z0-9]{2}\d{6}$",
        "to be judged",
        "written like a vehicle identification number",
    ),
    "M": (
        r"\b(?:[0-9A-Fa-f]{2}[:-]){5}[0-9A-Fa-f]{2}\b",
        "found",
        "written like the address of a device (MAC)",
    ),
    "N": (r"(?i)\bhttps?://|\bwww\.\w", "found", "written like a web address"),
    "O": (
        r"\b(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)\.){3}(?:25[0-5]|2[0-4]\d|1?\d?\d)\b"
        r"|\b(?:[0-9a-fA-F]{1,4}:){7}[0-9a-fA-F]{1,4}\b|\b[0-9a-fA-F]{1,4}(?::[0-9a-fA-F]{1,4})*::",
        "found",
        "written like an IP address",
    ),
    "Q": (
        r"(?i)\.(?:jpe?g|png|gif|bmp|tiff?|heic|dcm)$|^data:image/",
        "found",
        "the name of an image, or an image",
    ),
}
"""By identifier: what a value looks like, what that tells, and in words."""
DATE = (
    r"\b\d{4}[-/](?:0?[1-9]|1[0-2])(?:$|[^\w-])|\b\d{4}[-/.](?:0?[1-9]|1[0-2])[-/.](?:0?[1-9]|[12]\d|3[01])\b"
    r"|\b\d{4}-Q[1-4]\b|\b\d{1,2}[-/.]\d{1,2}[-/.](?:\d{2}|\d{4})\b|\b\d{4}年\d{1,2}月"
    r"|(?i)\b(?:\d{1,2}\.? )?(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.? (?:\d{1,2},? )?\d{4}\b"
)
PLAIN_NUMBER = r"^-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?$"
FINE_ZIP = r"^\d{5}(?:-\d{4})?$|^\d{4}[*xX#]$|^\d{3}-\d{4}$"
COARSE_ZIP = r"^\d{3}(?:[*xX#]{2})?$"
TWO_NAMES = r"^\p{Lu}[\p{Ll}'’-]+(?: \p{Lu}\.?)? (?:(?:van|von|de|da|al|bin) )*\p{Lu}[\p{L}'’-]+$"
LABEL = re.compile(
    r"^(?:\[(?P<low>-?\d+(?:\.\d+)?), ?(?P<high>-?\d+(?:\.\d+)?)(?P<end>[\])])|(?P<one>\d+(?:\.\d+)?)|(?P<top>\d+)\+|(?:≥|>=) ?(?P<least>\d+)|(?P<from>\d+) or older)$"
)
OLDEST = 89
CODE_SHARE = 0.95
"""The share of records with a value of their own from which on a column is as good as a number for everybody."""


class Column(NamedTuple):
    """A published column: its different values, and how many records have each."""

    name: str
    role: Role
    values: pl.Series
    counts: pl.Series
    """Empty where values are a declared domain, and no record has them."""


class Found(NamedTuple):
    """What was looked for in a column, and what came of it."""

    letter: str
    verdict: Verdict
    reason: str

    @property
    def identifier(self) -> str:
        """Which of the eighteen it is."""
        return IDENTIFIERS[self.letter]


def look_for_identifiers(column: Column, year: int) -> list[Found]:
    """Say which of the eighteen identifiers a column may have, and why; an empty list if nothing speaks for any.

    `year` is when the table was made: who was born 90 years before it, or earlier, has an age over 89.

    >>> mails = Column("contact", Role.other, pl.Series(["ann@example.org", "call me"]), pl.Series([1, 3]))
    >>> [(one.letter, one.verdict) for one in look_for_identifiers(mails, 2026)]
    [('A', 'to be judged'), ('F', 'found'), ('R', 'to be judged')]
    """
    values = pl.DataFrame({"text": texts(column.values), "count": _counts(column)}).drop_nulls("text")
    found: dict[str, Found] = {}
    for one in (*_by_values(column, values, year), *_by_name(column.name)):
        known = found.get(one.letter)
        if known is None or (known.verdict, one.verdict) == ("to be judged", "found"):
            found[one.letter] = one
        elif known.verdict == one.verdict:
            found[one.letter] = known._replace(reason=f"{known.reason}; {one.reason}")
    return [found[letter] for letter in sorted(found)]


def name_words(name: str) -> set[str]:
    """Return the words of a column's name, and the name itself.

    >>> sorted(name_words("homeAddress_2"))
    ['address', 'home', 'homeaddress_2']
    """
    parts = (part.rstrip(DIGITS) for part in tokens_of(name))
    return {part for part in parts if part} | {name.lower()}


def _counts(column: Column) -> pl.Series:
    return (
        column.counts if len(column.counts) else pl.repeat(0, len(column.values), dtype=pl.Int64, eager=True)
    )


def _by_name(name: str) -> Iterator[Found]:
    own = name_words(name)
    for letter, words in WORDS.items():
        if hit := sorted(own & set(words.split())):
            yield Found(letter, "to be judged", f"'{hit[0]}' in its name")


def _by_values(column: Column, values: pl.DataFrame, year: int) -> Iterator[Found]:
    written = values.filter(~pl.col("text").str.contains(PLAIN_NUMBER))
    yield from _by_pattern(written, values.height)
    yield from _dates(column, written, values.height)
    yield from _ages(column.name, values)
    yield from _birth_years(column.name, values, year)
    yield from _places(column, values)
    if column.values.dtype == pl.String:
        words = "written like a first and a last name"
        yield from _seen(values, "A", TWO_NAMES, "to be judged", words, values.height, least=0.5)
    if column.values.dtype == pl.Binary:
        yield Found("Q", "to be judged", "bytes, which may be an image")
    yield from _codes(column, values)


def _by_pattern(values: pl.DataFrame, of: int) -> Iterator[Found]:
    for letter, (pattern, verdict, words) in PATTERNS.items():
        yield from _seen(values, letter, pattern, verdict, words, of)


def _seen(
    values: pl.DataFrame,
    letter: str,
    pattern: str,
    verdict: Verdict,
    words: str,
    of: int,
    least: float = 0.0,
) -> Iterator[Found]:
    """Say how many of so many values match; nothing, if not more than that share of them do."""
    hits = values.filter(pl.col("text").str.contains(pattern)).height
    if hits and hits > least * of:
        yield Found(letter, verdict, f"{_of(hits, of)} {words}")


def _of(some: int, all_: int) -> str:
    if some == all_:
        return "all values are" if all_ > 1 else "its value is"
    return f"{some:,} of {all_:,} values {'is' if some == 1 else 'are'}"


def _dates(column: Column, values: pl.DataFrame, of: int) -> Iterator[Found]:
    if isinstance(column.values.dtype, pl.Date | pl.Datetime):
        yield Found("C", "found", "all values are dates, to the day or finer")
    else:
        yield from _seen(
            values, "C", DATE, "found", "a date finer than a year, or a range with such ends", of
        )


def _ages(name: str, values: pl.DataFrame) -> Iterator[Found]:
    """Ages over 89 may stand only in one group, 90 or older."""
    if not name_words(name) & AGE_WORDS:
        return
    old: list[str] = []
    doubtful: list[str] = []
    for text in values["text"]:
        if LABEL.match(text) is None:
            doubtful += [text] * any(float(number) > OLDEST for number in re.findall(r"\d+(?:\.\d+)?", text))
            continue
        low, high = _range_of(text)
        if high <= OLDEST or high == float("inf"):
            continue
        (old if low > OLDEST + 1 or (low > OLDEST and high > low) else doubtful).append(text)
    if old:
        yield Found("C", "found", f"ages over 89 are told apart: {_some(old)}")
    elif doubtful:
        yield Found("C", "to be judged", f"{_some(doubtful)}: does it tell an age over 89 from others?")


def _range_of(text: str) -> tuple[float, float]:
    """Return the least and the largest number that a label stands for; any, if it is none of numbers.

    >>> _range_of("[80, 90)"), _range_of("90+"), _range_of("*")
    ((80.0, 89.0), (90.0, inf), (-inf, inf))
    """
    label = LABEL.match(text)
    if label is None:
        return float("-inf"), float("inf")
    if label["one"] is not None:
        return float(label["one"]), float(label["one"])
    if label["low"] is not None:
        return float(label["low"]), float(label["high"]) - (1 if label["end"] == ")" else 0)
    return float(label["top"] or label["least"] or label["from"]), float("inf")


def _some(values: Sequence[str], most: int = 3) -> str:
    shown = ", ".join(values[:most])
    return shown if len(values) <= most else f"{shown} and {len(values) - most:,} more"


def _birth_years(name: str, values: pl.DataFrame, year: int) -> Iterator[Found]:
    if name_words(name) & BIRTH_WORDS:
        years = values["text"].str.extract(r"^((?:18|19|20)\d{2})", 1).cast(pl.Int64)
        if old := int((years < year - OLDEST).sum()):
            yield Found("C", "found", f"{_of(old, values.height)} of somebody who may be over 89")


def _places(column: Column, values: pl.DataFrame) -> Iterator[Found]:
    named = bool(name_words(column.name) & ZIP_WORDS)
    if not named and column.values.dtype != pl.String:
        return
    digits = values.with_columns(pl.col("text").str.replace(r"\.0$", ""))
    if named:
        fine = digits.filter(pl.col("text").str.contains(FINE_ZIP) | pl.col("text").str.contains(r"^\d{4,}$"))
        if fine.height:
            yield Found(
                "B",
                "found",
                f"{_of(fine.height, values.height)} finer than the first three digits of a ZIP code",
            )
        elif digits.filter(pl.col("text").str.contains(COARSE_ZIP)).height:
            yield Found(
                "B",
                "to be judged",
                "first three digits: do more than 20,000 people live in each such area, by the census?",
            )
    else:
        yield from _seen(
            digits, "B", FINE_ZIP, "to be judged", "written like a ZIP code", values.height, least=0.5
        )


def _codes(column: Column, values: pl.DataFrame) -> Iterator[Found]:
    if column.role in UNITS:
        yield Found("R", "to be judged", f"it ties the rows of a {column.role} together; it was drawn anew")
        return
    records = int(values["count"].sum())
    alone = int((values["count"] == 1).sum())
    if not alone or records == 0:
        return
    own = f"{alone:,} of {records:,} records have a value that no other has"
    as_good = alone >= CODE_SHARE * records and records > 1 and not column.values.dtype.is_float()
    yield Found("R", "found" if as_good else "to be judged", own)
