"""The figures that the pages on methods draw, measured on Adult: SUDARE_DATA=... python -m docs.measured writes measured.json.

Noise that is drawn is drawn with a seed, which is unsafe and for pictures only, so that the same figures come again.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import sudare as sd

FILE = Path(__file__).parent / "measured.json"
QUASI = ["age", "sex", "race", "marital-status", "education", "native-country", "workclass"]
SENSITIVE = "occupation"
AGES = range(17, 91)
WIDTH = 5
K = 10
EPSILON = 1.0
QUESTIONS = 150
SEED = 1


def complete() -> pl.DataFrame:
    """Return the rows of Adult in which nothing is missing: 30,162 of adult.data."""
    return sd.datasets.load("adult").head(32_561).select(*QUASI, SENSITIVE).drop_nulls()


def suitability() -> dict[str, Any]:
    """Measure what distinct l-diversity of the occupation must cost, and what two methods reach."""
    files = {name: sd.datasets.path(f"arx_hierarchies/adult_hierarchy_{name}.csv") for name in QUASI}
    hierarchies = {name: sd.Hierarchy.from_csv(file) for name, file in files.items()}
    schema = sd.Schema.from_roles(quasi=QUASI, sensitive=[SENSITIVE], hierarchies=hierarchies, source="adult")
    table = sd.read(complete(), schema)
    asked = [2, 4, 6, 8, 10]
    assessed = sd.assess(table, l=asked, k=[5])

    def reached(l: int, method: str) -> float:
        release = sd.generalize(table, sd.LDiversity(l), method=method)
        return round(release.certificate.utility["distortion"], 4)

    return {
        "rows": complete().height,
        "l": asked,
        "least": [_down(assessed.best_l[l].value) for l in asked],
        "minimal": [reached(l, "minimal") for l in asked],
        "mondrian": [reached(l, "mondrian") for l in asked],
    }


def pk() -> dict[str, Any]:
    """Randomize ages for Pk-anonymity, and estimate the true histogram back."""
    ages = _ages()
    schema = sd.Schema.from_roles(
        quasi=["age"],
        bounds={"age": (AGES[0], AGES[-1])},
        hierarchies={"age": sd.Hierarchy.intervals(AGES, width=WIDTH)},
        missing="refuse",
        source="adult",
    )
    release = sd.randomize(sd.read(ages, schema), sd.PkAnonymity(K), how={"age": "bins"}, unsafe_seed=SEED)
    estimate = sd.reconstruct(release, ["age"])
    return {
        "rows": ages.height,
        "k": K,
        "epsilon": round(release.certificate.measured["epsilon"], 2),
        "names": [str(value) for value in estimate.attributes[0].values],
        "true": _binned(ages["age"].to_numpy()),
        "published": [int(value) for value in estimate.published],
        "estimated": [round(float(value)) for value in estimate.counts],
        "low": [round(float(value)) for value in estimate.low],
        "high": [round(float(value)) for value in estimate.high],
    }


def pram() -> dict[str, Any]:
    """Return what three laws with the same k make of the histogram of ages, in expectation, and what they keep."""
    ages = _ages()["age"].to_numpy()
    v = np.bincount(ages - AGES[0], minlength=len(AGES)).astype(float)
    matrices = {
        "conventional": sd.pram.conventional_pram(len(v), k=K, records=len(ages)).matrix,
        "optimal": sd.pram.optimal_pram(v, k=K).matrix,
        "reconstruction": sd.pram.optimal(v, k=K, loss="reconstruction").matrix,
    }
    return {
        "rows": len(ages),
        "k": K,
        "first": AGES[0],
        "true": [int(count) for count in v],
        **{
            name: {
                "published": [round(float(count), 1) for count in matrix @ v],
                "off": round(float(np.linalg.norm(matrix @ v - v)), 1),
                "kept": round(float(np.diag(matrix) @ v / v.sum()), 4),
                "least kept": round(float(np.diag(matrix)[v > 0].min()), 4),
            }
            for name, matrix in matrices.items()
        },
    }


def views() -> dict[str, Any]:
    """Count how many occupations are left to whom, by two views as they are, made alone, and made together."""
    people = sd.datasets.load("adult").head(32_561)
    sets = {
        "T1": ["age", "sex", "workclass", "education"],
        "T2": ["age", "sex", "marital-status", "race", "native-country"],
    }
    quasi = list(dict.fromkeys(name for names in sets.values() for name in names))
    people = people.select(*quasi, SENSITIVE).drop_nulls()
    schema = sd.Schema.from_roles(quasi=quasi, sensitive=[SENSITIVE], source="adult")

    def left(frames: dict[str, pl.DataFrame]) -> list[int]:
        found = (
            sd.attack(frames, schema, kind="intersection", known=people).by_attribute[SENSITIVE].candidates
        )
        return [found.get(values, 0) for values in range(1, people[SENSITIVE].n_unique() + 1)]

    raw = {name: people.select(*names, SENSITIVE) for name, names in sets.items()}
    alone = {
        name: sd.generalize(
            sd.read(raw[name], sd.Schema.from_roles(quasi=names, sensitive=[SENSITIVE], source=name)),
            sd.LDiversity(4),
            method="mondrian",
        ).frame()
        for name, names in sets.items()
    }
    together = sd.generalize_views(sd.read(people, schema), sets, sd.MultiViewDiversity(4)).frames()
    return {
        "rows": people.height,
        "l": 4,
        "as they are": left(raw),
        "each made alone": left(alone),
        "made together": left(together),
    }


def pview() -> dict[str, Any]:
    """Ask a p-view for ranges of three attributes, beside the truth."""
    adult = sd.datasets.load("adult").select("age", "education-num", "hours-per-week", "sex", "income")
    bounds = {"age": (17, 90), "education-num": (1, 16), "hours-per-week": (1, 99)}
    schema = sd.Schema.from_roles(
        quasi=["age", "education-num", "hours-per-week", "sex"],
        sensitive=["income"],
        bounds=bounds,
        domains={name: adult[name].unique().sort().to_list() for name in ("sex", "income")},
        missing="refuse",
        source="adult",
    )
    made = sd.materialize(sd.read(adult, schema), sd.DifferentialPrivacy(EPSILON), unsafe_seed=SEED)
    rng, asked = np.random.default_rng(SEED), []
    while len(asked) < QUESTIONS:
        ends = {name: sorted(rng.integers(low, high + 1, 2).tolist()) for name, (low, high) in bounds.items()}
        true = adult.filter(
            *(pl.col(name).is_between(low, high) for name, (low, high) in ends.items())
        ).height
        if true >= 10:
            answer = made.count(**{name: (low, high) for name, (low, high) in ends.items()})
            asked.append([true, round(answer.value), math.floor(answer.low), math.ceil(answer.high)])
    return {"rows": adult.height, "epsilon": EPSILON, "asked": sorted(asked)}


def _ages() -> pl.DataFrame:
    return sd.datasets.load("adult").head(32_561).select("age")


def _binned(ages: np.ndarray[Any, Any]) -> list[int]:
    """Count ages by bins that begin at multiples of their width, as hierarchies of intervals do."""
    return [int(count) for count in np.bincount(ages // WIDTH)[AGES[0] // WIDTH :]]


def _down(value: float) -> float:
    """Round a bound so that it stays one."""
    return math.floor(value * 10_000) / 10_000


MEASURES: dict[str, Callable[[], dict[str, Any]]] = {
    "suitability": suitability,
    "pk": pk,
    "pram": pram,
    "views": views,
    "pview": pview,
}

if __name__ == "__main__":
    measured = {name: measure() for name, measure in MEASURES.items()}
    FILE.write_text(json.dumps(measured, ensure_ascii=False).replace("}, ", "},\n") + "\n", encoding="utf-8")
