"""The verb `materialize`: domains, exact budgets, the ledger, seeds, and whatever is refused, as the specification says."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sudare as sd
from sudare.noise.keystream import Keystream
from sudare.pview.pairs import Pairs
from sudare.pview.spending import Share

METHODS = ["pairs", "dp-mondrian", "identity", "independent", "dawa", "privbayes", "hdmm"]
RAW = ("identity", "dp-mondrian", "dawa", "hdmm")
"""Their counts may be below 0."""
PURE, GAUSSIAN = sd.DifferentialPrivacy(1.0), sd.DifferentialPrivacy(1.0, 1e-6)
PROMISES = pytest.mark.parametrize("promise", [PURE, GAUSSIAN], ids=["pure", "gaussian"])
SOURCE = "DataFrame"
NAMES = ["age", "sex"]


def people(n: int = 600, seed: int = 0) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    age = rng.integers(20, 40, n)
    return pl.DataFrame({"age": age, "sex": np.where(rng.random(n) < age / 60, "F", "M")})


def read(frame: pl.DataFrame, *, missing: Any = "refuse", **attributes: Any) -> sd.Table:
    declared = attributes or {"age": {"bounds": (20, 39)}, "sex": {"domain": ("F", "M")}}
    roles = {name: sd.Attribute(**{"role": "quasi"} | fields) for name, fields in declared.items()}
    return sd.read(frame, sd.Schema(attributes=roles, missing=missing))


@pytest.fixture(scope="module")
def table() -> sd.Table:
    return read(people())


@pytest.fixture
def ledger(tmp_path: Path) -> sd.Ledger:
    ledger = sd.Ledger(tmp_path / "releases.db")
    ledger.set_budget(SOURCE, 1, "1e-5", "add or remove")
    return ledger


def cells(pview: sd.PView) -> np.ndarray:
    return pview.marginal(pview.domain.names)["count"].to_numpy()


def assert_adds_up(pview: sd.PView) -> None:
    budget = pview.facts["budget"]
    amounts = [Fraction(share["amount"]) for share in budget["shares"]]
    spent = sum(amounts, Fraction(0))
    assert spent + Fraction(budget["remaining"]) == Fraction(budget["whole"]), budget
    assert all(amount > 0 for amount in amounts)
    assert pview.spending.remaining == Fraction(budget["remaining"])
    assert Fraction(budget["remaining"]) >= 0


# -- Domains ----------------------------------------------------------------------------------------


def test_the_domain_is_the_declared_one_whatever_the_data_are() -> None:
    one = sd.materialize(read(people(600, seed=1)), PURE)
    other = sd.materialize(read(pl.DataFrame({"age": [25, 25], "sex": ["F", "F"]})), PURE)
    for pview in (one, other):
        assert pview.marginal("age")["age"].to_list() == [str(age) for age in range(20, 40)]
        assert pview.marginal("sex")["sex"].to_list() == ["F", "M"]


@pytest.mark.parametrize(
    ("values", "attribute"),
    [
        ([1, 2, 11], {"bounds": (0, 10)}),
        ([0.5, -0.01], {"bounds": (0, 1), "bins": 4}),
        (["a", "d"], {"domain": ("a", "b")}),
        ([dt.date(2024, 1, 1), dt.date(2025, 1, 1)], {"bounds": (dt.date(2024, 1, 1), dt.date(2024, 6, 30))}),
        ([1, None], {"bounds": (0, 10)}),
    ],
    ids=["a number", "a fraction", "a text", "a date", "a missing value"],
)
def test_what_is_outside_the_domain_is_refused_with_its_row(
    values: list[Any], attribute: dict[str, Any]
) -> None:
    with pytest.raises(sd.InputError, match=rf"row {len(values)}, column 'x'"):
        sd.materialize(read(pl.DataFrame({"x": values}), x=attribute), PURE)


@pytest.mark.parametrize(
    ("values", "bounds", "counted"),
    [
        ([-5, 3, 200, 9], (0, 9), {"0": 1, "3": 1, "9": 2}),
        ([-5.0, 3.0, 200.0], (0.0, 9.0), {"[0.0, 3.0)": 1, "[3.0, 6.0)": 1, "[6.0, 9.0)": 1}),
        (
            [dt.date(2020, 2, 2), dt.date(2024, 1, 2)],
            (dt.date(2024, 1, 1), dt.date(2024, 1, 3)),
            {"2024-01-01": 1, "2024-01-02": 1},
        ),
        ([-5, 3, 200], (0.5, 9.5), {"1": 1, "3": 1, "9": 1}),
        (pl.Series([1, 200], dtype=pl.UInt8), (-5, 100), {"1": 1, "100": 1}),
        (
            [dt.datetime(2024, 1, 1, 18), dt.datetime(2025, 1, 1)],
            (dt.date(2023, 12, 31), dt.date(2024, 1, 1)),
            {"[2024-01-01T12:00:00, 2024-01-02T00:00:00)": 2},
        ),
    ],
    ids=[
        "whole numbers",
        "numbers",
        "dates",
        "bounds between whole numbers",
        "bounds the type cannot hold",
        "times",
    ],
)
def test_what_is_outside_is_clipped_if_the_schema_says_so(
    values: Any, bounds: Any, counted: dict[str, int]
) -> None:
    frame = pl.DataFrame({"x": values})
    declared = {
        pl.Int64(): {"type": "integer"},
        pl.Float64(): {"bins": 3},
        pl.Datetime("us"): {"bins": 4, "type": "datetime"},
    }
    bins = declared.get(frame["x"].dtype, {})
    table = read(frame, x={"bounds": bounds, "outside": "clip"} | bins)
    marginal = sd.materialize(table, sd.DifferentialPrivacy(1e6), "identity").marginal("x")
    assert dict(marginal.filter(pl.col("count") > 0).rows()) == counted


def test_clipping_makes_nan_missing_which_may_be_refused() -> None:
    frame, attribute = pl.DataFrame({"x": [1.0, float("nan")]}), {"bounds": (0, 9), "outside": "clip"}
    with pytest.raises(sd.InputError, match="row 2, column 'x': the value is missing, and the schema says"):
        read(frame, x=attribute)
    assert read(frame, x=attribute, missing="own value").frame()["x"].to_list() == [1.0, None]


def test_what_is_outside_can_be_said_by_name() -> None:
    schema = sd.Schema.from_roles(quasi=["x"], bounds={"x": (0, 9)}, outside={"x": "clip"})
    assert sd.read(pl.DataFrame({"x": [3, 12]}), schema).frame()["x"].to_list() == [3, 9]


def test_bounds_may_be_wider_than_the_type_of_the_source() -> None:
    frame = pl.DataFrame({"x": pl.Series([1, 200], dtype=pl.UInt8)})
    pview = sd.materialize(read(frame, x={"bounds": (0, 999), "bins": 10}), PURE, "identity")
    assert pview.marginal("x")["x"][-1] == "[900, 1000)"
    assert pview.sample(0).schema == {"x": pl.Int64}


@pytest.mark.parametrize(
    ("value", "bounds", "says"),
    [
        (1.0, (0, float("inf")), "infinite, or too far apart"),
        (1, (0, float("inf")), "infinite, or too far apart"),
        (1, (0, 2**63 - 1), "reach beyond 9,007,199,254,740,992"),
        (1.0, (-1.5e308, 1.5e308), "infinite, or too far apart"),
        (1e16, (1e16, 1e16 + 2), "too close together for 4 bins"),
        (
            dt.date(2024, 1, 1),
            (dt.date(2024, 1, 1), dt.date(9999, 12, 31)),
            "beyond what can be written as Date",
        ),
    ],
)
def test_bounds_between_which_no_bins_can_be_laid_are_refused(value: Any, bounds: Any, says: str) -> None:
    table = read(pl.DataFrame({"x": [value]}), x={"bounds": bounds, "bins": 4})
    with pytest.raises(sd.InputError, match=f"'x': its bounds .*{says}"):
        sd.materialize(table, PURE, "identity")


@pytest.mark.parametrize("bounds", [(0, float("nan")), (0, 10**400)])
def test_bounds_that_are_no_numbers_are_refused(bounds: Any) -> None:
    with pytest.raises(sd.InputError, match=r"'x': has bounds .* of which one is not a number, or too large"):
        sd.Schema.from_roles(quasi=["x"], bounds={"x": bounds})


@pytest.mark.parametrize(
    ("value", "bounds"),
    [
        (1.0, (0, 1.5e308)),
        (1, (-(2**53) + 1, 2**53 - 2)),
        (dt.date(9999, 12, 31), (dt.date(9999, 1, 1), dt.date(9999, 12, 31))),
        (dt.datetime(2024, 1, 1), (dt.datetime(1, 1, 1), dt.datetime(9999, 12, 30))),
    ],
)
def test_bounds_may_lie_far_out(value: Any, bounds: Any) -> None:
    table = read(pl.DataFrame({"x": [value] * 50}), x={"bounds": bounds})
    pview = sd.materialize(table, PURE, "identity", unsafe_seed=1)
    assert pview.marginal("x")["count"].max() > 30
    assert read(pview.sample(50), x={"bounds": bounds}) is not None  # or it is refused


def test_nothing_is_read_off_the_data() -> None:
    frame = pl.DataFrame({"x": [1, 2, 3], "y": ["b", "a", "b"], "z": ["c", "c", "d"]})
    with pytest.raises(sd.InputError) as refused:
        sd.materialize(read(frame, x={}, y={}, z={"domain": ("c", "d")}), PURE)
    assert str(refused.value).splitlines()[1:] == [
        "[attributes.x]",
        "# bounds = [1, 3]   # the data's own range; declare one that is public",
        "[attributes.y]",
        '# domain = ["a", "b"]   # the data\'s own values; declare those that are public',
    ]


@pytest.mark.parametrize(("ending", "row"), [("csv", "{}"), ("jsonl", '{{"x": {}}}')])
@pytest.mark.parametrize(
    "declared",
    [
        {"bounds": {"x": (0, 10)}},
        {"domains": {"x": [1, 2, 3]}},
        {"bounds": {"x": (0, 10.0)}},
        {"bounds": {"x": (0, 10)}, "types": {"x": "number"}},
    ],
)
def test_the_type_is_not_read_off_the_data_either(
    ending: str, row: str, declared: dict[str, Any], tmp_path: Path
) -> None:
    domains = []
    for last in ("3", "3.0"):
        path = tmp_path / f"{last}.{ending}"
        rows = [*(["x"] if ending == "csv" else []), row.format(1), row.format(2), row.format(last)]
        path.write_text("\n".join(rows) + "\n")
        table = sd.read(path, sd.Schema.from_roles(quasi=["x"], **declared))
        domains.append(sd.materialize(table, PURE).domain.to_json())
    assert domains[0] == domains[1]


@pytest.mark.parametrize(
    ("bounds", "text", "says"),
    [
        ((0, 10), "3.5", 'type = "number"'),
        ((dt.date(2024, 1, 1), dt.date(2024, 1, 9)), "2024-01-03T10:00:00", 'type = "datetime"'),
    ],
)
def test_a_text_that_is_not_of_the_bounds_type_is_refused(
    bounds: Any, text: str, says: str, tmp_path: Path
) -> None:
    (tmp_path / "one.csv").write_text(f"x\n{text}\n")
    table = sd.read(tmp_path / "one.csv", sd.Schema.from_roles(quasi=["x"], bounds={"x": bounds}))
    with pytest.raises(sd.InputError, match=says):
        sd.materialize(table, PURE)


def test_missing_values_have_a_cell_whether_there_are_any_or_not() -> None:
    for values in ([1, 2, None], [1, 2, 2]):
        table = read(pl.DataFrame({"x": values}), missing="own value", x={"bounds": (1, 3)})
        pview = sd.materialize(table, sd.DifferentialPrivacy(1e6), "identity")
        assert pview.marginal("x")["x"].to_list() == ["1", "2", "3", "(missing)"]
        assert pview.count(x=None).value == values.count(None)


def test_an_identifier_is_dropped(tmp_path: Path) -> None:
    frame = people(50).with_columns(name=pl.Series([f"somebody-{i}" for i in range(50)]))
    declared = {"age": {"bounds": (20, 39)}, "sex": {"domain": ("F", "M")}, "name": {"role": "identifier"}}
    pview = sd.materialize(read(frame, **declared), PURE, "independent")
    assert pview.sample(5).columns == NAMES
    assert all(b"somebody" not in path.read_bytes() for path in pview.save(tmp_path / "pview").iterdir())
    with pytest.raises(sd.InputError, match="no attribute to count by"):
        sd.materialize(read(frame.select("name"), name={"role": "identifier"}), PURE)


# -- The budget -------------------------------------------------------------------------------------


@PROMISES
@pytest.mark.parametrize("method", METHODS)
def test_shares_add_up_exactly(table: sd.Table, method: str, promise: sd.DifferentialPrivacy) -> None:
    for epsilon in (0.1, 0.3, 1 / 3, 7.77):
        pview = sd.materialize(table, sd.DifferentialPrivacy(epsilon, promise.delta), method)
        assert_adds_up(pview)
        whole = Fraction(pview.facts["budget"]["whole"])
        if promise.delta == 0:
            assert (pview.facts["budget"]["unit"], whole) == ("epsilon", Fraction(str(epsilon)))
        else:
            assert pview.facts["budget"]["unit"] == "rho"
            assert 0 < whole < epsilon
        assert pview.facts["certificate"]["measured"]["epsilon"] == epsilon


def test_many_attributes_and_pairs_add_up_exactly() -> None:
    codes = np.repeat(np.random.default_rng(0).integers(0, 9, (20_000, 3)), 2, axis=1)
    names = [f"x{a}" for a in range(6)]
    table = read(pl.DataFrame(codes, schema=names), **{name: {"bounds": (0, 8)} for name in names})
    pview = sd.materialize(table, sd.DifferentialPrivacy(3.3), unsafe_seed=1)
    assert sum(share.kind == "pair" for share in pview.spending.shares) >= 5
    assert_adds_up(pview)


def test_shares_add_up_whatever_the_attributes_are_called() -> None:
    codes = np.random.default_rng(0).integers(0, 4, (20_000, 4))
    names = ["a", "b and c", "a and b", "c"]
    table = read(pl.DataFrame(codes, schema=names), **{name: {"bounds": (0, 3)} for name in names})
    assert_adds_up(sd.materialize(table, sd.DifferentialPrivacy(50.0), unsafe_seed=1))


@PROMISES
@pytest.mark.parametrize("share", [Fraction(1, 3), 0.7, 0.9])
def test_shares_of_a_tree_add_up_exactly(
    table: sd.Table, share: Fraction | float, promise: sd.DifferentialPrivacy
) -> None:
    pview = sd.materialize(table, promise, "dp-mondrian", tree_share=share)
    assert_adds_up(pview)
    whole = Fraction(pview.facts["budget"]["whole"])
    assert pview.spending.shares[0] == Share("tree", Fraction(str(share)) * whole)


@pytest.mark.parametrize("method", METHODS)
def test_more_epsilon_means_less_noise(table: sd.Table, method: str) -> None:
    def off(epsilon: float, delta: float) -> float:
        promise = sd.DifferentialPrivacy(epsilon, delta)
        totals = [sd.materialize(table, promise, method, unsafe_seed=seed).total for seed in range(5)]
        return float(np.mean(np.abs(np.array(totals) - 600)))

    for delta in (0.0, 1e-6):
        assert off(0.05, delta) > 3 * off(5.0, delta)


def numbers_in(tree: Any) -> Iterator[float]:
    if isinstance(tree, dict | list):
        for part in tree.values() if isinstance(tree, dict) else tree:
            yield from numbers_in(part)
    elif isinstance(tree, int | float) or (isinstance(tree, str) and tree.isdigit()):
        yield float(tree)


@PROMISES
@pytest.mark.parametrize("method", METHODS)
def test_the_number_of_records_is_not_told(
    method: str, promise: sd.DifferentialPrivacy, tmp_path: Path
) -> None:
    n = 4733
    weak = sd.DifferentialPrivacy(0.02, promise.delta)
    folder = sd.materialize(read(people(n)), weak, method, unsafe_seed=1).save(tmp_path / "pview")
    assert n not in set(numbers_in(json.loads((folder / "manifest.json").read_text())))
    data = pl.read_parquet(folder / "pview.parquet")
    assert data.height != n
    assert all(abs(column.sum() - n) > 0.5 for column in data if column.dtype.is_numeric())


# -- The ledger -------------------------------------------------------------------------------------


def test_pviews_spend_one_budget_to_the_last_bit(table: sd.Table, ledger: sd.Ledger) -> None:
    for epsilon, delta, method in ((0.1, 0, "identity"), (0.2, 1e-6, "independent"), (0.7, 0, "dawa")):
        sd.materialize(table, sd.DifferentialPrivacy(epsilon, delta), method, ledger=ledger)
    assert ledger.budget(SOURCE).remaining == 0
    before = ledger.entries()
    with pytest.raises(
        sd.LedgerError, match=r"would be overspent: epsilon 1e-06 requested, 0 of 1 remaining"
    ):
        sd.materialize(table, sd.DifferentialPrivacy(1e-6), "identity", ledger=ledger)
    assert ledger.entries() == before


def test_deltas_add_up_in_the_ledger(table: sd.Table, ledger: sd.Ledger) -> None:
    for delta in (1e-6, 0, 2e-6):
        sd.materialize(table, sd.DifferentialPrivacy(0.1, delta), "independent", ledger=ledger)
    assert ledger.budget(SOURCE).spent_delta == Fraction("3e-6")
    assert "0.3 spent, 0.7 remain; delta 1e-05 in all, 3e-06 spent, 7e-06 remain" in str(
        ledger.budget(SOURCE)
    )


def test_a_pview_that_would_overspend_is_refused_and_a_smaller_one_is_not(
    table: sd.Table, ledger: sd.Ledger
) -> None:
    sd.materialize(table, sd.DifferentialPrivacy(0.6), "independent", ledger=ledger)
    with pytest.raises(sd.LedgerError, match=r"0.41 requested, 0.4 of 1 remaining.*smaller epsilon"):
        sd.materialize(table, sd.DifferentialPrivacy(0.41), "independent", ledger=ledger)
    assert ledger.budget(SOURCE).spent == Fraction("0.6")
    sd.materialize(table, sd.DifferentialPrivacy(0.4), "independent", ledger=ledger)
    assert ledger.budget(SOURCE).remaining == 0


@pytest.mark.parametrize("method", METHODS)
def test_the_ledger_is_charged_before_anything_is_measured(
    table: sd.Table, ledger: sd.Ledger, monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    seen = []

    def draw(*_: Any) -> None:
        seen.append(ledger.budget(SOURCE).spent)
        raise MemoryError

    for name in ("draw", "words"):
        monkeypatch.setattr(Keystream, name, draw)
    with pytest.raises(MemoryError):
        sd.materialize(table, sd.DifferentialPrivacy(0.25), method, ledger=ledger)
    assert seen == [Fraction(1, 4)]
    assert ledger.budget(SOURCE).spent == Fraction(1, 4), "whatever failed after it"


def test_nothing_is_counted_if_the_ledger_refuses(
    table: sd.Table, ledger: sd.Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Pairs, "learn", lambda *_: pytest.fail("it was counted"))
    with pytest.raises(sd.LedgerError):
        sd.materialize(table, sd.DifferentialPrivacy(1.5), ledger=ledger)


def test_receivers_share_a_budget_unless_they_were_declared_apart(table: sd.Table, ledger: sd.Ledger) -> None:
    def ask(epsilon: float, receiver: str | None) -> None:
        sd.materialize(
            table, sd.DifferentialPrivacy(epsilon), "independent", ledger=ledger, receiver=receiver
        )

    ask(0.6, "A")
    with pytest.raises(sd.LedgerError, match="overspent"):
        ask(0.6, "B")
    ledger.declare_apart(["A", "B"])
    ask(0.6, "B")
    with pytest.raises(sd.LedgerError, match="overspent"):
        ask(0.6, "C")  # may put together what it gets with either
    with pytest.raises(sd.LedgerError, match="overspent"):
        ask(0.5, None)  # anybody may
    ask(0.4, None)
    assert ledger.budget(SOURCE, "A").remaining == ledger.budget(SOURCE, "B").remaining == 0


def test_questions_and_rows_are_free(table: sd.Table, ledger: sd.Ledger, tmp_path: Path) -> None:
    pview = sd.materialize(table, sd.DifferentialPrivacy(0.5), "independent", ledger=ledger)
    before = ledger.entries()
    pview.count(age=(20, 30))
    pview.sql("SELECT sex, COUNT(*) FROM view GROUP BY sex")
    pview.sample(1000)
    sd.PView.open(pview.save(tmp_path / "pview")).sample(10)
    assert ledger.entries() == before


BIG = {name: {"bounds": (0, 999)} for name in ("x", "y", "z")}


@pytest.mark.parametrize(
    ("options", "epsilon"),
    [
        pytest.param({"method": "histogram"}, 0.5, id="no such method"),
        pytest.param({"theta": 3}, 0.5, id="no such parameter"),
        pytest.param({"unsafe_seed": -1}, 0.5, id="no seed"),
        pytest.param({}, 0.0, id="no epsilon"),
        *(pytest.param({"method": m}, 0.5, id=f"too many cells: {m}") for m in ("identity", "dawa", "hdmm")),
        pytest.param({"method": "dp-mondrian", "theta": -1}, 0.5, id="theta"),
        pytest.param({"method": "dp-mondrian", "beta": 0}, 0.5, id="beta"),
        pytest.param({"method": "dp-mondrian", "gamma": 2}, 0.5, id="gamma"),
        pytest.param({"method": "dp-mondrian", "gamma": 0}, 0.5, id="a tree without end"),
        pytest.param({"method": "privbayes", "beta": 1}, 0.5, id="privbayes' beta"),
        pytest.param({"method": "dp-mondrian", "tree_share": 2}, 0.5, id="tree_share"),
        pytest.param({}, 1e-12, id="noise too wide to draw"),
        pytest.param({"method": "dp-mondrian"}, 1e-12, id="nothing left for a tree"),
    ],
)
def test_a_refused_pview_costs_nothing(options: dict[str, Any], epsilon: float, ledger: sd.Ledger) -> None:
    table = read(pl.DataFrame({name: [1, 2, 3] for name in BIG}), **BIG)
    before = ledger.entries()
    with pytest.raises(sd.SudareError):
        sd.materialize(table, sd.DifferentialPrivacy(epsilon), ledger=ledger, **options)
    assert ledger.entries() == before


# -- Bad input --------------------------------------------------------------------------------------


@pytest.mark.parametrize("epsilon", [-1, float("nan"), float("inf"), "1", None, True])
def test_epsilons_that_make_no_sense(epsilon: Any) -> None:
    with pytest.raises(
        sd.ParameterError, match="'epsilon' parameter of DifferentialPrivacy must be a number"
    ):
        sd.DifferentialPrivacy(epsilon)


@pytest.mark.parametrize("delta", [-1e-9, 1, 1.5, float("nan"), "0", None])
def test_deltas_that_make_no_sense(delta: Any) -> None:
    with pytest.raises(sd.ParameterError, match=r"'delta' parameter .* must be a number from 0 to below 1"):
        sd.DifferentialPrivacy(1.0, delta)


def test_an_epsilon_of_0_is_refused(table: sd.Table) -> None:
    for delta in (0.0, 1e-6):
        with pytest.raises(sd.ParameterError, match="an epsilon above 0"):
            sd.materialize(table, sd.DifferentialPrivacy(0.0, delta))


@pytest.mark.parametrize(
    "requirement", [sd.KAnonymity(3), sd.DifferentialPrivacy(1.0, per="record"), 1.0, None], ids=str
)
def test_only_differential_privacy_of_the_table_will_do(table: sd.Table, requirement: Any) -> None:
    with pytest.raises(
        sd.ParameterError, match=r"needs differential privacy of the whole table, such as Diff"
    ):
        sd.materialize(table, requirement)


@pytest.mark.parametrize("method", ["histogram", "", None, 3])
def test_methods_that_there_are_not(table: sd.Table, method: Any) -> None:
    with pytest.raises(sd.ParameterError, match="must be one of 'pairs', 'dp-mondrian', 'identity'"):
        sd.materialize(table, PURE, method)


@pytest.mark.parametrize("method", METHODS)
def test_parameters_that_there_are_not(table: sd.Table, method: str) -> None:
    with pytest.raises(sd.ParameterError, match=f"'{method}' has no parameter 'alpha'. Its parameters: "):
        sd.materialize(table, PURE, method, alpha=1)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("tree_share", value) for value in (0, 1, -0.5, float("nan"))),
        *(("gamma", value) for value in (1.01, -0.5, float("nan"))),
        *(("beta", value) for value in (0, -1, 101, float("nan"))),
        *(("theta", value) for value in (-1, float("inf"), "much")),
        ("beta", "deep"),
        ("gamma", None),
        ("tree_share", "1/2"),
    ],
)
def test_parameters_of_dp_mondrian_that_make_no_sense(table: sd.Table, name: str, value: Any) -> None:
    with pytest.raises(sd.ParameterError, match=f"'{name}' parameter of dp-mondrian must be a number"):
        sd.materialize(table, PURE, "dp-mondrian", **{name: value})


def test_a_theta_beyond_all_keeps_everybody_in_one_block(table: sd.Table) -> None:
    assert (
        sd.materialize(table, PURE, "dp-mondrian", theta=1e300).facts["certificate"]["utility"]["rows"] == 1
    )


@pytest.mark.parametrize("method", ["identity", "dawa", "hdmm"])
def test_methods_of_all_cells_refuse_a_large_domain(method: str) -> None:
    table = read(pl.DataFrame({name: [1, 2, 3] for name in BIG}), **BIG)
    with pytest.raises(sd.ParameterError, match=r"1,000,000,000. Use fewer attributes or wider bins"):
        sd.materialize(table, PURE, method)


@pytest.mark.parametrize("wrong", ["table", "ledger"])
def test_a_frame_is_no_table_and_a_path_no_ledger(table: sd.Table, wrong: str) -> None:
    with pytest.raises(sd.SudareError):
        sd.materialize(
            people() if wrong == "table" else table,  # type: ignore[arg-type]
            PURE,
            ledger="releases.db" if wrong == "ledger" else None,  # type: ignore[arg-type]
        )


# -- Extremes ---------------------------------------------------------------------------------------

ODD = {
    "one record": read(pl.DataFrame({"age": [30], "sex": ["F"]})),
    "one attribute": read(people().select("age"), age={"bounds": (20, 39)}),
    "a single value": read(pl.DataFrame({"x": ["a"] * 300}), x={"domain": ("a",)}),
    "a single value beside others": read(
        people().with_columns(x=pl.lit(1)),
        age={"bounds": (20, 39)}, sex={"domain": ("F", "M")}, x={"bounds": (1, 1)},
    ),
    "all the same": read(pl.DataFrame({"age": [30] * 500, "sex": ["F"] * 500})),
}  # fmt: skip


def assert_sound(pview: sd.PView) -> None:
    """Check what any p-view keeps to."""
    assert_adds_up(pview)
    answer = pview.count()
    assert 0 <= answer.low <= answer.value <= answer.high < np.inf
    assert answer.value == pytest.approx(max(pview.total, 0.0), rel=1e-9, abs=1e-6)
    table = cells(pview)
    assert np.isfinite(table).all()
    assert table.sum() == pytest.approx(pview.total, rel=1e-9, abs=1e-6)
    if pview.facts["certificate"]["method"] not in RAW:
        assert table.min() >= -1e-6 * max(pview.total, 1.0)
    if pview.total > 0:
        assert pview.sample(7).height == 7
    else:
        with pytest.raises(sd.InputError, match="counts nobody"):
            pview.sample(7)


@PROMISES
@pytest.mark.parametrize(
    ("odd", "method"),
    [(odd, method) for odd in ODD for method in METHODS],
)
def test_odd_tables(odd: str, method: str, promise: sd.DifferentialPrivacy) -> None:
    table = ODD[odd]
    pview = sd.materialize(table, promise, method, unsafe_seed=1)
    assert_sound(pview)
    assert abs(pview.total - len(table.frame())) < 150


@pytest.mark.parametrize("delta", [0.0, 1e-300, 0.5])
@pytest.mark.parametrize("epsilon", [1e-6, 1e4, 1e6])
@pytest.mark.parametrize("method", METHODS)
def test_extreme_promises(table: sd.Table, method: str, epsilon: float, delta: float) -> None:
    promise = sd.DifferentialPrivacy(epsilon, delta)
    if (epsilon, delta) == (1e-6, 1e-300):
        with pytest.raises(sd.ParameterError, match=r"too small for epsilon = 1e-06\. Leave delta out"):
            sd.materialize(table, promise, method)
        return
    pview = sd.materialize(table, promise, method, unsafe_seed=1)
    assert_sound(pview)
    if epsilon >= 1e4:
        assert pview.total == pytest.approx(600, abs=40)
        assert pview.count(age=(20, 29)).value == pytest.approx(
            people().filter(pl.col("age") < 30).height, abs=40
        )
    if epsilon >= 1e4 and delta == 0:
        assert pview.total == pytest.approx(600, abs=0.1 if method == "hdmm" else 1e-6)  # it weighs cells


@pytest.mark.parametrize(
    ("epsilon", "delta"),
    [(1e300, 1e-6), (1e4, 5e-324), (1e9, 0.999999)],
    ids=["epsilon beyond all", "the least delta", "the most of both"],
)
def test_promises_beyond_all_sense_are_kept_or_refused_at_once(
    table: sd.Table, ledger: sd.Ledger, epsilon: float, delta: float
) -> None:
    ledger.set_budget(SOURCE, "1e30", "0.9999999", "add or remove")
    try:
        sd.materialize(table, sd.DifferentialPrivacy(epsilon, delta), "identity", ledger=ledger)
    except sd.SudareError:
        assert ledger.budget(SOURCE).spent == 0


def test_an_epsilon_that_is_too_small_is_named(table: sd.Table) -> None:
    with pytest.raises(sd.ParameterError, match="epsilon"):
        sd.materialize(table, sd.DifferentialPrivacy(1e-12))


# -- Seeds ------------------------------------------------------------------------------------------


@PROMISES
@pytest.mark.parametrize("method", METHODS)
def test_the_same_seed_gives_the_same_pview_and_others_differ(
    table: sd.Table, method: str, promise: sd.DifferentialPrivacy
) -> None:
    one, same, other = (sd.materialize(table, promise, method, unsafe_seed=seed) for seed in (7, 7, 8))
    assert (cells(one) == cells(same)).all()
    assert one.count(age=(25, 30)) == same.count(age=(25, 30))
    assert one.facts["budget"] == same.facts["budget"]
    assert (cells(one) != cells(other)).any()


@pytest.mark.parametrize("method", METHODS)
def test_without_a_seed_pviews_differ(table: sd.Table, method: str) -> None:
    one, other = (sd.materialize(table, GAUSSIAN, method) for _ in range(2))
    assert (cells(one) != cells(other)).any()
    assert "UNSAFE" not in one.facts["certificate"]["randomness"]


def test_the_certificate_names_an_unsafe_seed(table: sd.Table) -> None:
    facts = sd.materialize(table, PURE, "independent", unsafe_seed=4711).facts
    assert "UNSAFE" in facts["certificate"]["randomness"]
    assert "4711" in facts["certificate"]["randomness"]
    assert facts["certificate"]["method"] == "independent"


# -- Anything ---------------------------------------------------------------------------------------


@st.composite
def columns(draw: st.DrawFn, rows: int, missing: bool) -> tuple[dict[str, Any], list[Any], list[Any]]:
    """Draw an attribute, its values, and conditions that may be asked of it."""
    kind = draw(st.sampled_from(["whole", "number", "text", "truth", "day"]))
    size = draw(st.integers(1, 5))
    bins = draw(st.integers(1, 6))
    if kind == "text":
        values: list[Any] = [f"v{i}" for i in range(size)]
        attribute: dict[str, Any] = {"domain": tuple(values)}
    elif kind == "truth":
        values, attribute = [True, False], {"domain": (True, False)}
    elif kind == "number":
        values = [i / 2 for i in range(size + 1)]
        attribute = {"bounds": (0.0, size / 2), "bins": bins}
    elif kind == "day":
        values = [dt.date(2024, 2, 27) + dt.timedelta(i) for i in range(size)]
        attribute = {"bounds": (values[0], values[-1]), "bins": bins}
    else:
        values = list(range(-2, size))
        attribute = {"bounds": (-2, size - 1)} | draw(st.sampled_from([{}, {"bins": bins}]))
    held = [values[0], *draw(st.lists(st.sampled_from(values), min_size=rows - 1, max_size=rows - 1))]
    if missing and rows > 1:
        held[-1] = None
    asked: list[Any] = [values[0], values[:2], [*values, None] if missing else values]
    if kind not in ("text", "truth"):
        asked += [(values[0], values[-1]), (None, values[len(values) // 2])]
    return attribute, held, asked


@st.composite
def tables(draw: st.DrawFn) -> tuple[sd.Table, dict[str, list[Any]]]:
    rows, missing = draw(st.integers(1, 25)), draw(st.booleans())
    drawn = {f"x{i}": draw(columns(rows, missing)) for i in range(draw(st.integers(1, 3)))}
    frame = pl.DataFrame({name: held for name, (_, held, _) in drawn.items()})
    declared = {name: attribute for name, (attribute, _, _) in drawn.items()}
    conditions = {name: asked for name, (_, _, asked) in drawn.items()}
    return read(frame, missing="own value" if missing else "refuse", **declared), conditions


@settings(max_examples=120)
@given(
    drawn=tables(),
    method=st.sampled_from(METHODS),
    promise=st.builds(
        sd.DifferentialPrivacy, st.sampled_from([0.01, 0.37, 2, 80.0]), st.sampled_from([0.0, 1e-6, 0.01])
    ),
    data=st.data(),
)
def test_any_table_gives_a_sound_pview(
    drawn: tuple[sd.Table, dict[str, list[Any]]],
    method: str,
    promise: sd.DifferentialPrivacy,
    data: st.DataObject,
) -> None:
    table, conditions = drawn
    if method == "dawa" and len(conditions) > 2:
        method = "pairs"
    pview = sd.materialize(table, promise, method, unsafe_seed=data.draw(st.integers(0, 999)))
    assert_sound(pview)
    asked = {name: data.draw(st.sampled_from(options)) for name, options in conditions.items()}
    answer = pview.count(**asked)
    assert 0 <= answer.low <= answer.value <= answer.high
    # Raw counts may be below 0, and then a part may be more than the whole.
    most = cells(pview).clip(min=0.0).sum() if method in RAW else pview.total
    assert answer.value <= most * (1 + 1e-9) + 1e-6
    if pview.total > 0:
        rows = pview.sample(30)
        assert rows.columns == table.frame().columns
        for own, other in zip(rows.dtypes, table.frame().dtypes, strict=True):
            assert own == other or (own, other) == (
                pl.Float64,
                pl.Int64,
            )  # of values that all happen to be whole
        for name in (name for name in asked if rows[name].null_count() < 30):
            attribute = table.schema[name].model_dump(exclude_unset=True)
            read(rows.select(name), missing=table.schema.missing, **{name: attribute})  # or it is refused


def test_a_hierarchy_that_lists_its_values_is_a_domain() -> None:
    areas = sd.Hierarchy.from_rows([["A1", "A", "*"], ["A2", "A", "*"], ["B1", "B", "*"], ["B2", "B", "*"]])
    numbers = sd.Hierarchy.groups({"1": "low", "2": "low", "3": "high"})
    schema = sd.Schema.from_roles(
        quasi=["area", "n"],
        hierarchies={"area": areas, "n": numbers},
        types={"n": "integer"},
        missing="refuse",
    )
    table = sd.read(pl.DataFrame({"area": ["A1", "B1"] * 300, "n": [1, 2] * 300}), schema)
    pview = sd.materialize(table, sd.DifferentialPrivacy(1.0))
    assert [axis.values for axis in pview.domain.axes] == [("A1", "A2", "B1", "B2"), (1, 2, 3)]
    release = sd.randomize(table, sd.PkAnonymity(3))
    assert release.frame().schema == {"area": pl.String, "n": pl.Int64}
    again = sd.apply(release.plan, table)
    assert set(again.frame()["area"]) <= {"A1", "A2", "B1", "B2"}
