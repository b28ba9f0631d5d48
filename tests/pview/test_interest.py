"""What will be asked: read from queries and sets of attributes, weighed, written and read again."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sudare as sd
from sudare.pview.account import Account
from sudare.pview.baselines import Independent
from sudare.pview.design import PViewDesign
from sudare.pview.domain import Domain
from sudare.pview.interest import MAX_ASKED, Asked, Concern, Interest
from sudare.pview.method import WorkloadMethod
from sudare.pview.methods import METHODS
from sudare.pview.pview import Model
from sudare.pview.sql import statements_of
from sudare.tables.counts import Counts
from sudare.utility.workloads import random_ranges, truth

SCHEMA = sd.Schema.from_roles(
    quasi=["age", "sex", "income", "day"],
    bounds={"age": (18, 95), "income": (0.0, 1000.0), "day": ("2024-01-01", "2024-12-31")},
    bins={"income": 10},
    domains={"sex": ["Female", "Male", "other"]},
    types={"day": "date"},
)
DOMAIN = Domain.of(SCHEMA)
PROMISE = sd.DifferentialPrivacy(1.0)
COUNT = "SELECT COUNT(*) FROM view"


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        ("", {}),
        ("WHERE age = 30", {"age": "cells"}),
        ("WHERE age IN (20, 30, 41)", {"age": "cells"}),
        ("WHERE age IS NULL", {"age": "cells"}),
        ("WHERE age IS NOT NULL", {"age": "prefixes"}),
        ("WHERE age < 30", {"age": "prefixes"}),
        ("WHERE age >= 65", {"age": "prefixes"}),
        ("WHERE age BETWEEN 18 AND 40", {"age": "prefixes"}),
        ("WHERE age BETWEEN 20 AND 39", {"age": "ranges"}),
        ("WHERE age > 20 AND NOT age > 39", {"age": "ranges"}),
        ("WHERE age < 30 OR age > 60", {"age": "ranges"}),
        ("WHERE sex <> 'other'", {"sex": "cells"}),
        ("WHERE income BETWEEN 210 AND 250", {"income": "cells"}),
        ("WHERE income BETWEEN 210 AND 450", {"income": "ranges"}),
        ("WHERE day >= '2024-06-01' AND sex = 'Male'", {"day": "prefixes", "sex": "cells"}),
        ("WHERE age < 30 OR sex = 'Male'", {"age": "prefixes", "sex": "cells"}),
        ("WHERE age BETWEEN 20 AND 39 GROUP BY age, sex", {"age": "cells", "sex": "cells"}),
        ("WHERE age < 30 AND (sex = 'Male' OR sex <> 'Male' OR sex IS NULL)", {"age": "prefixes"}),
    ],
)
def test_a_query_asks_for_what_its_conditions_take(where: str, expected: dict[str, str]) -> None:
    (asked,) = Interest.of(f"{COUNT} {where}", DOMAIN).asked
    assert dict(zip(asked.attributes, asked.ways, strict=True)) == expected
    assert asked.times == 1


def test_sets_and_queries_count_alike_and_as_often_as_they_are_given() -> None:
    interest = Interest.of(
        {
            "marginals": [["sex", "age"], "sex"],
            "ranges": [("income", "sex")],
            "prefixes": ["age"],
            "queries": [f"{COUNT} WHERE age < 30", COUNT],
        },
        DOMAIN,
    )
    assert interest.asked == (
        Asked(("age", "sex"), ("cells", "cells"), 1),
        Asked(("sex",), ("cells",), 1),
        Asked(("sex", "income"), ("cells", "ranges"), 1),
        Asked(("age",), ("prefixes",), 2),
        Asked((), (), 1),
    )
    assert interest.concerns(1) == {
        ("age",): Concern(Fraction(3, 6), ("prefixes",)),
        ("sex",): Concern(Fraction(3, 6), ("cells",)),
        ("income",): Concern(Fraction(1, 6), ("ranges",)),
    }
    assert interest.concerns(2) == {
        ("age", "sex"): Concern(Fraction(1, 6), ("cells", "cells")),
        ("sex", "income"): Concern(Fraction(1, 6), ("cells", "ranges")),
    }
    assert interest.concerns(3) == {}


NAMES = list(DOMAIN.names)
SETS = st.lists(st.lists(st.sampled_from(NAMES), min_size=1, max_size=4, unique=True), min_size=1, max_size=8)


@given(SETS, SETS)
def test_weights_are_those_of_counting_one_by_one(cells: list[list[str]], ranges: list[list[str]]) -> None:
    ranges = [[*{*names, "age"}] for names in ranges]
    interest = Interest.of({"marginals": cells, "ranges": ranges}, DOMAIN)
    every = [*((names, "cells") for names in cells), *((names, "ranges") for names in ranges)]
    for size in (1, 2, 3):
        concerns = interest.concerns(size)
        for chosen in combinations(NAMES, size):
            those = [way for names, way in every if {*chosen} <= {*names}]
            assert (chosen in concerns) == bool(those)
            if those:
                assert concerns[chosen].weight == Fraction(len(those), len(every))
                most = "ranges" if 2 * those.count("ranges") >= len(those) else "cells"
                assert concerns[chosen].ways == tuple("cells" if name == "sex" else most for name in chosen)
    assert Interest.from_json(interest.to_json(), DOMAIN) == interest


@pytest.mark.parametrize(
    ("workload", "message"),
    [
        ([], "asks for nothing"),
        ({}, "asks for nothing"),
        ({"ranges": []}, "asks for nothing"),
        (3, "The queries of a workload are a list"),
        ({"ranges": "age"}, "The ranges of a workload are a list"),
        ({"range": ["age"]}, "A workload has 'queries', 'marginals', 'prefixes', 'ranges'. Got 'range'"),
        ({"ranges": ["sex"]}, "There are no ranges of 'sex'"),
        ({"marginals": [["age", "age"]]}, "names an attribute twice"),
        ({"marginals": [[]]}, "names attributes, one or several"),
        ({"marginals": [3]}, "names attributes, one or several"),
        ({"marginals": [["age", 3]]}, "names attributes, one or several"),
        ({"marginals": ["height"]}, "The p-view has no attribute 'height'"),
        ([3], "a text in SQL"),
        (["SELECT 1"], "is not supported"),
        (["DROP TABLE view"], "is not supported"),
        ([f"{COUNT} WHERE height > 3"], "The p-view has no attribute 'height'"),
        ([f"{COUNT} WHERE age < 20 AND age > 30"], "Nobody can meet the condition"),
        ({"marginals": [NAMES] * 2 + ["age"] * 0, "queries": ["("]}, "This is not SQL"),
    ],
)
def test_what_is_no_workload(workload: Any, message: str) -> None:
    with pytest.raises(sd.SudareError, match=message):
        Interest.of(workload, DOMAIN)


GOOD = {"attributes": ["age", "sex"], "ways": ["ranges", "cells"], "times": 1}


@pytest.mark.parametrize(
    "data",
    [
        *([], {}, None, "x", [None], [GOOD, GOOD], [GOOD | {"more": 1}]),
        *([GOOD | {"times": times}] for times in (0, -1, 1.0, True, "1", 10**9, None)),
        *([GOOD | {"attributes": names}] for names in (["age"], ["sex", "age"], ["age", "age"], ["age", "x"], [1, 2])),
        *([GOOD | {"ways": ways}] for ways in (["cells"], ["cells", "ranges"], ["cells", "rows"], None, [])),
        [GOOD | {"attributes": ["age"] * 17, "ways": ["cells"] * 17}],
        [GOOD | {"times": 1 + i} for i in range(MAX_ASKED + 1)],
    ],
)  # fmt: skip
def test_a_forged_interest_is_refused(data: Any) -> None:
    assert Interest.from_json([GOOD], DOMAIN).questions == 1
    with pytest.raises(sd.InputError):
        Interest.from_json(data, DOMAIN)


@pytest.mark.parametrize("method", METHODS)
def test_methods_take_a_workload_or_refuse_it_before_anything_is_spent(method: str, tmp_path: Path) -> None:
    if issubclass(METHODS[method], WorkloadMethod):
        return
    table = sd.read(pl.DataFrame({"ill": ["yes", "no"] * 50}), sd.Schema.from_roles(
        sensitive=["ill"], domains={"ill": ["yes", "no"]}))  # fmt: skip
    ledger = sd.Ledger(tmp_path / "ledger.db")
    with pytest.raises(sd.ParameterError, match=f"The method '{method}' spends its budget alike"):
        sd.materialize(table, PROMISE, method, workload={"marginals": ["ill"]}, ledger=ledger)
    assert ledger.entries() == []


@dataclass(frozen=True)
class Listening(WorkloadMethod):
    """A method that remembers what it was told will be asked."""

    name: ClassVar[str] = "independent"
    heard: ClassVar[list[Interest | None]] = []

    def learn(self, counts: Counts, domain: Domain, account: Account) -> Model:
        self.heard.append(None)
        return Independent().learn(counts, domain, account)

    def learn_for(self, interest: Interest, counts: Counts, domain: Domain, account: Account) -> Model:
        self.heard.append(interest)
        return Independent().learn(counts, domain, account)


def test_a_design_carries_what_will_be_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(METHODS, "independent", Listening)
    schema = sd.Schema.from_roles(
        quasi=["age"], sensitive=["ill"], bounds={"age": (18, 90)}, domains={"ill": ["yes", "no"]}
    )
    table = sd.read(pl.DataFrame({"age": [20, 30] * 50, "ill": ["yes", "no"] * 50}), schema)
    asked = ["SELECT ill, COUNT(*) FROM view WHERE age < 30 GROUP BY ill"]
    pview = sd.materialize(table, PROMISE, "independent", workload=asked)
    design = PViewDesign.open(pview.design.save(tmp_path / "plan"))
    assert (
        design.to_json()
        == pview.design.to_json()
        == PViewDesign.of(schema, PROMISE, "independent", asked).to_json()
    )
    sd.materialize_design(design, table)
    sd.materialize(table, PROMISE, "independent")
    expected = Interest.of(asked, Domain.of(schema))
    assert Listening.heard == [expected, expected, None]
    assert sd.verify(pview.write(tmp_path / "out")).holds
    monkeypatch.undo()
    with pytest.raises(sd.InputError, match=r"cannot be what it says\. The method 'independent' spends"):
        PViewDesign.from_json(design.to_json())


def test_a_file_of_queries_is_taken_apart() -> None:
    text = f"-- first; of all\n{COUNT};\n\n{COUNT} WHERE sex = 'a;b' /* ; */ ;;"
    assert statements_of(text) == [COUNT, f"{COUNT} WHERE sex = 'a;b'"]
    assert statements_of(" ; ") == []
    with pytest.raises(sd.InputError, match="This is not SQL"):
        statements_of("SELECT 'open")


# -- What it brings ---------------------------------------------------------------------------------


def _error(table: sd.Table, workload: Any, names: tuple[str, ...], promise: sd.DifferentialPrivacy) -> float:
    """Return the error of ranges of some attributes, over some seeds."""
    squares = []
    for seed in range(4):
        pview = sd.materialize(table, promise, workload=workload, unsafe_seed=seed)
        domain = pview.domain
        counts = domain.counts(table)
        asked = random_ranges([domain.axes[domain.place(n)].size for n in names], len(names), 200, seed=seed)
        low = np.zeros((200, len(domain.axes)), dtype=np.int32)
        high = np.tile(np.array(domain.sizes, dtype=np.int32) - 1, (200, 1))
        places = [domain.place(n) for n in names]
        low[:, places], high[:, places] = asked.low, asked.high
        true = truth(np.repeat(counts.codes, counts.weights, axis=0), low, high)
        squares.append(np.mean((pview.counts(low, high) - true) ** 2))
    return float(np.sqrt(np.mean(squares)))


@pytest.mark.parametrize("promise", [sd.DifferentialPrivacy(1.0), sd.DifferentialPrivacy(1.0, 1e-9)])
def test_what_was_declared_is_answered_better_and_the_rest_worse(promise: sd.DifferentialPrivacy) -> None:
    rng = np.random.default_rng(1)
    names = [f"a{i}" for i in range(8)]
    hidden = rng.normal(size=(8000, 1))
    values = np.clip(np.rint(10 + 3 * hidden + 3 * rng.normal(size=(8000, 8))), 0, 19).astype(int)
    schema = sd.Schema.from_roles(quasi=names, bounds=dict.fromkeys(names, (0, 19)), missing="refuse")
    table = sd.read(pl.DataFrame(values, schema=names), schema)
    told = {"ranges": [["a0", "a1"]]}
    assert _error(table, told, ("a0", "a1"), promise) < 0.8 * _error(table, None, ("a0", "a1"), promise)
    assert _error(table, told, ("a5",), promise) > _error(table, None, ("a5",), promise)
