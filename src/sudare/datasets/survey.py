"""A synthetic health survey: nobody in it exists, and yet it looks like the tables that people must publish.

The columns hang together as they would in life: people marry with the years, income grows with education,
and a diagnosis depends on age, sex, weight and smoking.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sudare.errors import ParameterError
from sudare.tables.typed import typed

SURVEY_DATE = date(2025, 10, 1)
"""The day on which `age` is true. All visits fall in the year before it."""

MAX_PEOPLE = 10**9
Ages = NDArray[np.int64]
Flags = NDArray[np.bool_]
Floats = NDArray[np.float64]
Indices = NDArray[np.intp]

_YOUNGEST, _OLDEST = 18, 95

_GIVEN_FEMALE = (
    *("Aiko", "Alma", "Amara", "Anna", "Beatriz", "Chiara", "Clara", "Dalia", "Elena", "Emma"),
    *("Fatima", "Freya", "Hana", "Ines", "Iris", "Jana", "Julia", "Keiko", "Leila", "Linh"),
    *("Lucia", "Maria", "Mei", "Mira", "Nadia", "Nora", "Olga", "Priya", "Rosa", "Ruth"),
    *("Sara", "Sofia", "Tamar", "Tove", "Vera", "Wanda", "Yara", "Yuki", "Zofia", "Zoe"),
)
_GIVEN_MALE = (
    *("Adam", "Ahmed", "Akira", "Anton", "Arjun", "Ben", "Bruno", "Carlos", "Chen", "Daniel"),
    *("David", "Diego", "Elias", "Emil", "Felix", "Hiroshi", "Hugo", "Ivan", "Jakob", "Jamal"),
    *("Jonas", "Jun", "Karim", "Kenji", "Leon", "Liam", "Luca", "Marco", "Mateo", "Minh"),
    *("Noah", "Omar", "Oscar", "Pavel", "Rafael", "Ravi", "Samuel", "Theo", "Tomas", "Yusuf"),
)
_FAMILY = (
    *("Abe", "Almeida", "Andersen", "Bauer", "Becker", "Bianchi", "Carter", "Castro", "Cohen", "Costa"),
    *("Diaz", "Dubois", "Eriksen", "Evans", "Fischer", "Fujita", "Garcia", "Gupta", "Haddad", "Hansen"),
    *("Hayashi", "Horvat", "Ito", "Ivanov", "Jansen", "Kaya", "Khan", "Kim", "Klein", "Kowalski"),
    *("Larsen", "Lopez", "Mori", "Moreau", "Nguyen", "Novak", "Okafor", "Okada", "Patel", "Popescu"),
    *("Rossi", "Saito", "Santos", "Sato", "Silva", "Singh", "Tanaka", "Wagner", "Weber", "Zhang"),
)

# Region, the first two digits of its postcodes, how many postcodes it has, its share of the people.
_REGIONS = (
    ("Capital", "10", 60, 0.34),
    ("Estuary", "04", 40, 0.20),
    ("Lakeland", "23", 32, 0.14),
    ("Northmoor", "01", 24, 0.10),
    ("Southshore", "81", 24, 0.09),
    ("Westvale", "37", 16, 0.07),
    ("Plains", "68", 10, 0.04),
    ("Highlands", "52", 6, 0.02),
)

_EDUCATION = (
    *("No schooling", "Primary", "Lower secondary", "Upper secondary"),
    *("Vocational", "Bachelor", "Master", "Doctorate"),
)
_EDUCATION_STEPS = (-2.2, -1.4, -0.8, 0.1, 0.6, 1.3, 2.2)
_SCHOOL_ENDS = ((22, "Vocational"), (24, "Bachelor"), (27, "Master"))

_MARITAL = ("Single", "Married", "Separated", "Divorced", "Widowed")

# How likely an occupation is at each level of education, and what it pays against the middle one.
_OCCUPATIONS = {
    "Farming": ((6, 5, 4, 2, 2, 1, 0.5, 0.2), 0.75),
    "Construction": ((5, 6, 7, 5, 6, 1, 0.5, 0.1), 0.95),
    "Manufacturing": ((6, 7, 8, 7, 7, 2, 1, 0.2), 0.95),
    "Transport": ((4, 5, 6, 6, 4, 1, 0.5, 0.1), 0.90),
    "Sales": ((3, 4, 7, 9, 6, 5, 2, 0.3), 0.85),
    "Clerical": ((0.5, 1, 4, 9, 8, 8, 4, 1), 0.95),
    "Health care": ((1, 2, 3, 5, 9, 7, 7, 10), 1.10),
    "Teaching": ((0.1, 0.1, 0.5, 2, 3, 9, 12, 14), 1.00),
    "Engineering": ((0.1, 0.2, 0.5, 2, 5, 10, 12, 10), 1.35),
    "Management": ((0.2, 0.3, 1, 3, 3, 7, 10, 8), 1.60),
    "Homemaker": ((6, 5, 4, 3, 2, 1.5, 1, 0.5), 0.10),
    "Unemployed": ((6, 5, 4, 3, 2, 1.5, 1, 0.5), 0.25),
    "Student": ((1, 1, 4, 9, 6, 5, 2, 0.5), 0.20),
    "Retired": ((4, 4, 4, 4, 4, 4, 4, 4), 0.60),
}

_SMOKER = ("never", "former", "current")

# The logarithm of how common a diagnosis is in a man of 50 who never smoked, and what is added to it for each
# ten years of age above 50, for a woman, for a former smoker, for a current smoker, and for obesity.
_DIAGNOSES = {
    "No finding": (3.3, -0.30, 0.0, -0.1, -0.3, -0.5),
    "Hypertension": (2.4, 0.28, -0.1, 0.1, 0.2, 0.7),
    "Type 2 diabetes": (1.4, 0.25, -0.2, 0.1, 0.2, 1.1),
    "Arthritis": (1.1, 0.40, 0.5, 0.0, 0.1, 0.4),
    "Depression": (1.3, -0.12, 0.5, 0.1, 0.4, 0.2),
    "Anxiety": (1.0, -0.20, 0.5, 0.0, 0.3, 0.0),
    "Asthma": (0.8, -0.15, 0.2, 0.1, 0.3, 0.2),
    "Migraine": (0.3, -0.20, 1.0, 0.0, 0.0, 0.0),
    "Coronary heart disease": (0.5, 0.50, -0.6, 0.3, 0.7, 0.5),
    "COPD": (-1.0, 0.45, -0.1, 1.5, 2.4, 0.0),
    "Lung cancer": (-2.4, 0.45, -0.1, 1.5, 2.6, 0.0),
    "Breast cancer": (-3.4, 0.25, 4.0, 0.1, 0.2, 0.2),
    "HIV": (-0.6, -0.15, -1.2, 0.0, 0.2, 0.0),
}


@typed
def health_survey(people: int = 5000, seed: int = 1) -> pl.DataFrame:
    """Return a synthetic health survey of so many people; the same seed gives the very same table.

    >>> health_survey(people=3).columns[:4]
    ['patient_id', 'name', 'birth_date', 'age']
    """
    _check("people", people, least=1, most=MAX_PEOPLE)
    _check("seed", seed, least=0, most=2**128)
    rng = np.random.default_rng(seed)
    age = _ages(rng, people)
    female = rng.random(people) < 0.5 + 0.002 * np.maximum(age - 50, 0)  # Women live longer.
    region, postcode = _homes(rng, people)
    education = _educations(rng, age, capital=region == 0)
    occupation = _occupations(rng, age, education)
    height, weight = _bodies(rng, age, female)
    smoker = _smokers(rng, age, female, education)
    obese = weight / (height / 100) ** 2 > 30
    return pl.DataFrame(
        {
            "patient_id": _patient_ids(rng, people),
            "name": _names(rng, female),
            "birth_date": _birth_dates(rng, age),
            "age": age,
            "sex": _labels(("Male", "Female"), female.astype(np.intp)),
            "postcode": postcode,
            "region": _labels([name for name, *_ in _REGIONS], region),
            "education": _labels(_EDUCATION, education),
            "marital_status": _labels(_MARITAL, _marriages(rng, age, female)),
            "occupation": _labels(list(_OCCUPATIONS), occupation),
            "visit_date": _visit_dates(rng, people),
            "height_cm": height,
            "weight_kg": _with_gaps(rng, pl.Series(weight), share=0.04),
            "smoker": _with_gaps(rng, _labels(_SMOKER, smoker), share=0.03),
            "annual_income": _incomes(rng, age, education, occupation, capital=region == 0),
            "diagnosis": _labels(list(_DIAGNOSES), _diagnoses(rng, age, female, smoker, obese)),
        }
    )


def _check(parameter: str, value: int, least: int, most: int) -> None:
    if value < least:
        raise ParameterError(
            f"The '{parameter}' parameter of health_survey must be a whole number of at least {least}."
            f" Got {value} instead."
        )
    if value > most:
        raise ParameterError(f"The '{parameter}' parameter of health_survey must be at most {most:,}.")


def _pick(rng: np.random.Generator, weights: Floats) -> Indices:
    """Draw a column for each row of weights, in proportion to them, and return its number."""
    edges = weights.cumsum(axis=1)
    drawn = rng.random(len(weights)) * edges[:, -1]
    picked: Indices = (drawn[:, None] >= edges[:, :-1]).sum(axis=1)
    return picked


def _labels(words: Sequence[str], numbers: Indices) -> pl.Series:
    return pl.Series(words, dtype=pl.String).gather(numbers)


def _with_gaps(rng: np.random.Generator, values: pl.Series, share: float) -> pl.Series:
    missing = pl.Series(rng.random(len(values)) < share)
    return values.set(missing, None)


def _rises(age: Ages, middle: float, width: float) -> Floats:
    """Return a share that goes from 0 to 1 with age, and is a half at the middle."""
    return np.asarray(1 / (1 + np.exp((middle - age) / width)))


def _patient_ids(rng: np.random.Generator, people: int) -> pl.Series:
    numbers = pl.Series(rng.permutation(people) + 1).cast(pl.String)
    return "P-" + numbers.str.zfill(max(6, len(str(people))))


def _names(rng: np.random.Generator, female: Flags) -> pl.Series:
    given = rng.integers(len(_GIVEN_MALE), size=len(female)) + len(_GIVEN_MALE) * female
    family = rng.integers(len(_FAMILY), size=len(female))
    return _labels(_GIVEN_MALE + _GIVEN_FEMALE, given) + " " + _labels(_FAMILY, family)


def _ages(rng: np.random.Generator, people: int) -> Ages:
    """Draw ages: even up to the fifties, then fewer and fewer."""
    ages = np.arange(_YOUNGEST, _OLDEST + 1)
    share = 1 - _rises(ages, middle=72, width=8)
    return rng.choice(ages, size=people, p=share / share.sum())


def _birth_dates(rng: np.random.Generator, age: Ages) -> pl.Series:
    birthday_today = (np.datetime64(SURVEY_DATE, "M") - 12 * age).astype("datetime64[D]")
    # Up to 364 days earlier, the person is still of that age.
    return pl.Series(birthday_today - rng.integers(365, size=len(age)))


def _visit_dates(rng: np.random.Generator, people: int) -> pl.Series:
    """Draw working days of the year before the survey date."""
    first, end = np.datetime64(SURVEY_DATE) - 365, np.datetime64(SURVEY_DATE)
    days = rng.integers(np.busday_count(first, end), size=people)
    return pl.Series(np.busday_offset(first, days, roll="forward"))


def _homes(rng: np.random.Generator, people: int) -> tuple[Indices, pl.Series]:
    """Draw everybody's region, and a postcode in it: a region has a few large ones and many small ones."""
    codes: list[str] = []
    regions: list[int] = []
    shares: list[Floats] = []
    for region, (_, prefix, postcodes, share) in enumerate(_REGIONS):
        size = 1 / np.arange(1, postcodes + 1) ** 0.8
        codes += [f"{prefix}{(17 * i + 5) % 1000:03}" for i in range(postcodes)]
        regions += [region] * postcodes
        shares.append(share * size / size.sum())
    home = rng.choice(len(codes), size=people, p=np.concatenate(shares))
    return np.array(regions, dtype=np.intp)[home], _labels(codes, home)


def _educations(rng: np.random.Generator, age: Ages, capital: Flags) -> Indices:
    """Draw levels of education: higher in the capital and for those born later, but nobody is a doctor at twenty."""
    learning = rng.normal(size=len(age)) - 0.015 * (age - 45) + 0.4 * capital
    level: Indices = np.searchsorted(_EDUCATION_STEPS, learning)
    for below, highest in _SCHOOL_ENDS:
        level = np.where(age < below, np.minimum(level, _EDUCATION.index(highest)), level)
    return level


def _marriages(rng: np.random.Generator, age: Ages, female: Flags) -> Indices:
    once = _rises(age, middle=30, width=4)
    widowed = _rises(age, middle=82, width=7) * np.where(female, 1.0, 0.5)
    divorced = 0.25 * _rises(age, middle=42, width=6)
    shares = (
        1 - 0.9 * once,
        once * (1 - divorced) * (1 - widowed),
        0.03 * once,
        divorced * (1 - widowed),
        widowed,
    )
    return _pick(rng, np.column_stack(shares))


def _occupations(rng: np.random.Generator, age: Ages, education: Indices) -> Indices:
    names = list(_OCCUPATIONS)
    weights = np.array([weights for weights, _ in _OCCUPATIONS.values()]).T[education]
    student, retired = names.index("Student"), names.index("Retired")
    weights[:, student] *= 8 * (1 - _rises(age, middle=24, width=1.5))
    weights[:, retired] *= 400 * _rises(age, middle=70, width=2)
    return _pick(rng, weights)


def _incomes(
    rng: np.random.Generator,
    age: Ages,
    education: Indices,
    occupation: Indices,
    capital: Flags,
) -> NDArray[np.int64]:
    pay = np.array([pay for _, pay in _OCCUPATIONS.values()])[occupation]
    years = np.minimum(age, 55) - 45  # Pay grows with experience, until it does not.
    middle = 21_000 * pay * np.exp(0.13 * education + 0.012 * years + 0.12 * capital)
    income = middle * rng.lognormal(sigma=0.45, size=len(age))
    return np.minimum(np.round(income, -2), 200_000).astype(np.int64)


def _bodies(rng: np.random.Generator, age: Ages, female: Flags) -> tuple[Floats, Floats]:
    """Draw heights in cm and weights in kg."""
    height = np.where(female, 164.0, 177.5) + 6.8 * rng.normal(size=len(age)) - 0.06 * np.maximum(age - 40, 0)
    height = np.round(height.clip(140, 210), 1)
    mass_index = (24.2 + 0.05 * np.minimum(age - 18, 45)) * rng.lognormal(sigma=0.16, size=len(age))
    weight = mass_index * (height / 100) ** 2
    return height, np.round(weight.clip(35, 220), 1)


def _smokers(rng: np.random.Generator, age: Ages, female: Flags, education: Indices) -> Indices:
    """Draw who smokes: men and people of less schooling smoke more; with the years, smokers become former smokers."""
    ever = 0.55 - 0.04 * education - 0.08 * female
    quit_by_now = 0.15 + 0.7 * _rises(age, middle=58, width=12)
    return _pick(rng, np.column_stack((1 - ever, ever * quit_by_now, ever * (1 - quit_by_now))))


def _diagnoses(
    rng: np.random.Generator,
    age: Ages,
    female: Flags,
    smoker: Indices,
    obese: Flags,
) -> Indices:
    person = np.column_stack(
        (np.ones(len(age)), (age - 50) / 10, female, smoker == 1, smoker == 2, obese),
    )
    return _pick(rng, np.exp(person @ np.array(list(_DIAGNOSES.values())).T))
