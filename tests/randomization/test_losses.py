"""`randomize` with the matrix that is best for a named loss: what is handed over, opened again, and forged."""

from __future__ import annotations

import json
import math
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import sudare as sd
from sudare.methods import Optimal
from sudare.noise.keystream import Keystream
from sudare.randomization.channel import MatrixChannel
from sudare.randomization.learn import learn_plan
from sudare.randomization.made_for import SHARES, derived_share
from sudare.randomization.methods import LOSSES, Loss

TOWNS = ["Ayr", "Bath", "Cork", "Deal", "Ely"]
SCHEMA = sd.Schema.from_roles(quasi=["town"], domains={"town": TOWNS}, missing="refuse")
V = [400, 250, 200, 100, 50]
K5 = sd.PkAnonymity(5)
E2 = sd.DifferentialPrivacy(2.0, per="record")
OWN: list[Loss] = [loss for loss in LOSSES if loss != "published"]


def table() -> sd.Table:
    towns = [town for town, count in zip(TOWNS, V, strict=True) for _ in range(count)]
    return sd.read(pl.DataFrame({"town": towns}), SCHEMA)


@pytest.mark.parametrize("loss", OWN)
@pytest.mark.parametrize("asked", [K5, E2])
def test_a_release_for_a_loss_verifies_and_is_opened_again(loss: Loss, asked: Any, tmp_path: Path) -> None:
    release = sd.randomize(table(), asked, how={"town": "optimal"}, loss=loss, unsafe_seed=1)
    folder = release.write(tmp_path / "out") / "hand-over"
    verification = sd.verify(folder, asked, SCHEMA)
    assert verification.holds
    law = json.loads((folder / "law.json").read_text())["attributes"]["town"]
    assert law["how"] == "optimal"
    np.testing.assert_array_equal(law["matrix"], release.plan["town"].channel.matrix)
    plan = sd.Plan.open(release.plan.save(tmp_path / "plan"))
    assert plan.to_json() == release.plan.to_json()
    counts = sd.reconstruct(folder, "town").counts
    assert counts.sum() == pytest.approx(1000)


@pytest.mark.parametrize("loss", OWN)
def test_a_public_histogram_takes_no_budget(loss: Loss) -> None:
    plan = learn_plan(table(), K5, Keystream.unsafe(1), priors={"town": V}, loss=loss)
    assert not plan.estimates
    best = sd.pram.optimal(V, k=5, loss=loss)
    np.testing.assert_allclose(plan["town"].channel.matrix, best.matrix, atol=1e-6)
    assert plan.k == pytest.approx(5, rel=1e-9)


def test_each_loss_is_least_with_its_own_matrix() -> None:
    share = np.array(V) / sum(V)

    def records(matrix: Any) -> float:
        return float(1 - matrix.diagonal() @ share)

    def reconstructed(matrix: Any) -> float:
        return float((np.linalg.inv(matrix) ** 2 @ (matrix @ share)).sum() - 1)

    made = {
        loss: learn_plan(table(), K5, Keystream.unsafe(1), priors={"town": V}, loss=loss)[
            "town"
        ].channel.matrix
        for loss in LOSSES
    }
    assert min(made, key=lambda loss: records(made[loss])) == "record"
    assert min(made, key=lambda loss: (1 - made[loss].diagonal()).max()) == "worst case"
    whole = {loss: matrix for loss, matrix in made.items() if np.linalg.matrix_rank(matrix) == 5}
    assert min(whole, key=lambda loss: reconstructed(whole[loss])) == "reconstruction"


def test_options_of_its_own() -> None:
    order = Optimal(prior=V, loss="record", distance="order")
    plan = learn_plan(table(), E2, Keystream.unsafe(1), how={"town": order})
    best = sd.pram.optimal(V, epsilon=2.0, distance="order")
    np.testing.assert_allclose(plan["town"].channel.matrix, best.matrix, atol=1e-6)
    near = Optimal(prior=V, loss="worst case", within=20)
    plan = learn_plan(table(), E2, Keystream.unsafe(1), how={"town": near})
    assert isinstance(plan["town"].channel, MatrixChannel)
    assert plan.epsilon <= 2.0


def test_a_worst_case_from_an_estimate_holds_for_the_true_histogram() -> None:
    """It is made for all histograms near the estimate: nearly always, the true one costs no more than it was made for."""
    plan = learn_plan(table(), K5, Keystream.unsafe(3), how={"town": "optimal"}, loss="worst case")
    costs = 1 - plan["town"].channel.matrix.diagonal()
    assert costs @ np.array(V) / sum(V) <= costs.max()
    assert plan.k == pytest.approx(5, rel=1e-9)


# -- the share of an estimate ------------------------------------------------------------------------


def test_the_share_is_what_is_asked_for_and_part_of_the_promise() -> None:
    for share in (0.05, 0.3):
        plan = learn_plan(table(), E2, Keystream.unsafe(1), how={"town": "optimal"}, estimate_share=share)
        assert plan.estimates["town"] == pytest.approx(2 * share, rel=1e-4)
        assert plan.epsilon == pytest.approx(2.0, rel=1e-9)
    for wrong in (0, 1, 1.5, math.nan, "half"):
        with pytest.raises(sd.ParameterError, match="'estimate_share' parameter of Optimal must be a share"):
            Optimal(estimate_share=wrong)  # type: ignore[arg-type]


def test_the_default_share_rests_on_sizes_alone() -> None:
    plan = learn_plan(table(), E2, Keystream.unsafe(1), how={"town": "optimal"})
    assert plan.estimates["town"] == pytest.approx(2 * derived_share(5, 1000, 2.0), rel=1e-4)
    assert derived_share(74, 32_561, 4.1) == pytest.approx(0.011, abs=5e-4)
    for d, records, epsilon in ((2, 10**7, 1.0), (74, 4405, 3.1), (1000, 100, 0.1), (5, 0, 0.0)):
        assert SHARES[0] <= derived_share(d, records, epsilon) <= SHARES[1]


def test_the_derived_share_is_where_its_sum_of_squares_is_least() -> None:
    """Without the cells that are clipped: e^(2 s epsilon p) / d + 8 d / (s epsilon N)^2, to the first order in s."""
    d, records, epsilon = 74, 32_561, 4.1
    p = math.exp(epsilon) / (math.exp(epsilon) + d - 1)
    shares = np.linspace(0.002, 0.05, 4801)
    squares = (1 + 2 * shares * epsilon * p) / d + 8 * d / (shares * epsilon * records) ** 2
    assert shares[squares.argmin()] == pytest.approx(derived_share(d, records, epsilon), abs=2e-5)


# -- forged laws -------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    release = sd.randomize(table(), K5, priors={"town": V}, loss="record", unsafe_seed=1)
    return release.write(tmp_path_factory.mktemp("record") / "out") / "hand-over"


def more_is_kept(law: dict[str, Any]) -> None:
    law["matrix"][0][0] += 0.01
    law["matrix"][1][0] -= 0.01


def a_column_that_sums_to_more(law: dict[str, Any]) -> None:
    law["matrix"][0][0] += 0.01


def below_nothing(law: dict[str, Any]) -> None:
    law["matrix"][0][0] += 1.0
    law["matrix"][1][0] -= 1.0


def no_number(law: dict[str, Any]) -> None:
    law["matrix"][0][0] = math.nan


def a_row_less(law: dict[str, Any]) -> None:
    law["matrix"].pop()


def better_claims(law: dict[str, Any]) -> None:
    law["epsilon"] /= 2


def forged(written: Path, folder: Path, change: Callable[[dict[str, Any]], None]) -> Path:
    """Change the law of a release whose certificate, which would not fit it, was taken away."""
    shutil.copytree(written, folder / "out", ignore=shutil.ignore_patterns("certificate.json", "data.csv"))
    law = json.loads((written / "law.json").read_text())
    change(law["attributes"]["town"])
    (folder / "out" / "law.json").write_text(json.dumps(law))
    return folder / "out"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (a_column_that_sums_to_more, "a column that is no distribution"),
        (below_nothing, "'matrix"),
        (no_number, "JSON"),
        (a_row_less, "a row and a column for each"),
    ],
)
def test_what_is_no_matrix_is_refused(
    written: Path, tmp_path: Path, change: Callable[[dict[str, Any]], None], message: str
) -> None:
    folder = forged(written, tmp_path, change)
    for reads in (lambda: sd.verify(folder, K5, SCHEMA), lambda: sd.reconstruct(folder, "town")):
        with pytest.raises(sd.InputError, match=message):
            reads()


def test_epsilon_and_k_are_counted_from_the_entries(written: Path, tmp_path: Path) -> None:
    assert not sd.verify(forged(written, tmp_path / "kept", more_is_kept), K5, SCHEMA).holds
    claimed = sd.verify(forged(written, tmp_path / "claimed", better_claims), K5, SCHEMA)
    matrix = np.array(json.loads((written / "law.json").read_text())["attributes"]["town"]["matrix"])
    used = matrix[matrix.max(axis=1) > 0]
    assert claimed.measured["epsilon"] == pytest.approx(np.log(used.max(axis=1) / used.min(axis=1)).max())
    logs = np.log(used)
    ratios = logs[:, None, :, None] + logs[None, :, None, :] - logs[:, None, None, :] - logs[None, :, :, None]
    assert claimed.measured["pk"] == pytest.approx(1 + 999 * math.exp(-ratios.max()))
