"""What the paper prints, and what was measured of other methods on the same tables."""

from __future__ import annotations

from typing import NamedTuple

from papers.dp_mondrian.printed import loss

OURS = "pairs"
PAPERS = "dp-mondrian"
PRINTED = f"dp-mondrian as printed (loses {loss(1.0):.2f} ε)"
METHODS = (OURS, PAPERS, PRINTED, "independent", "privbayes", "identity", "dawa", "hdmm")
IDENTITY_EST, HDMM, HDMM_SETS = "Identity_est", "HDMM", "HDMM by sets"
EXPECTED = (IDENTITY_EST, HDMM, HDMM_SETS)
"""Their errors are computed, and not measured."""
GAN = "DP-GAN"
DENSE = ("identity", "dawa", "hdmm")
"""They keep every cell of the domain, and run where there are at most a million."""
MAX_CELLS = 10**6
EPSILON, DELTA = 1.0, 1e-9
EPSILONS = (0.25, 0.5, 1.0, 2.0, 4.0)
QUERIES = 3_000

TABLE_1 = {
    PAPERS: 1.00,
    "identity": 1.39,
    IDENTITY_EST: 16724395.39,
    "dawa": 3.95,
    HDMM: 30.76,
    "privbayes": 5.00,
}
"""Average relative RMSE. Identity and DAWA: Small-adult and Phoneme only."""

TABLE_2 = {
    "identity": (True, "no", False),
    "dawa": (True, "one or two attributes", False),
    HDMM: (False, "yes", False),
    "privbayes": (True, "no", True),
    GAN: (True, "no", False),
    PAPERS: (True, "yes", True),
}
"""Whether it needs no workload, has less noise for counts, and keeps features of the data."""


class Size(NamedTuple):
    """A row of Table 3."""

    records: int
    columns: int
    categories: int
    cells: float
    positive: float | None = None


TABLE_3 = {
    "Adult": Size(48_842, 15, 9, 9e19, 0.239),
    "Small-adult": Size(48_842, 4, 2, 3e5),
    "Numerical-adult": Size(48_842, 7, 1, 2e11, 0.239),
    "Traffic": Size(48_204, 8, 2, 1e14),
    "Bitcoin": Size(500_000, 9, 1, 4e12, 0.986),
    "Electricity": Size(45_312, 8, 1, 1e15, 0.425),
    "Phoneme": Size(5_404, 6, 1, 2e6, 0.293),
    "Jm1": Size(10_885, 22, 1, 2e21),
}

ORIGINAL = "original"
TABLE_4: dict[str, dict[str, tuple[float, float]]] = {
    "Adult": {PAPERS: (0.687983, 0.422552), "privbayes": (0.836833, 0.605006), GAN: (0.517572, 0.244066), ORIGINAL: (0.911240, 0.781548)},
    "Numerical-adult": {PAPERS: (0.750175, 0.501523), "privbayes": (0.694033, 0.423544), GAN: (0.600376, 0.313016), ORIGINAL: (0.852462, 0.693934)},
    "Bitcoin": {PAPERS: (0.695888, 0.992736), "privbayes": (0.594983, 0.989690), GAN: (0.490054, 0.985909), ORIGINAL: (0.807515, 0.996178)},
    "Electricity": {PAPERS: (0.674922, 0.590087), "privbayes": (0.642064, 0.566358), GAN: (0.484334, 0.415145), ORIGINAL: (0.878174, 0.843882)},
    "Phoneme": {PAPERS: (0.787010, 0.546300), "privbayes": (0.777258, 0.515753), GAN: (0.472719, 0.265866), ORIGINAL: (0.888834, 0.737750)},
}  # fmt: skip
"""AUROC and AUPRC, means over classifiers."""

TABLE_5 = {"Adult": ("30.99 EB", "27.52 MB"), "Bitcoin": ("1.27 TB", "28.11 MB"), "Electricity": ("1.11 TB", "11.24 MB"), "Phoneme": ("781.34 KB", "722.40 KB")}  # fmt: skip
"""The size of all cells, and of the paper's p-view."""
UNITS = {"KB": 2**10, "MB": 2**20, "TB": 2**40, "EB": 2**60}


def in_bytes(words: str) -> float:
    """Return a printed size as a number."""
    number, unit = words.split()
    return float(number) * UNITS[unit]


LATER = "HDPView, authors' code: a later algorithm (biased average error, α = 1.6, θ = 1/ε_p)"
"""What the authors published is not this paper's algorithm, and has no adaptive perturbation."""


class Fact(NamedTuple):
    """Another program's figures, measured once on the same tables with the same kinds of queries; epsilon = 1."""

    method: str
    seconds: str
    marginals: float | None
    ranges: tuple[float, float, float]


FACTS: dict[str, list[Fact]] = {
    "Numerical-adult": [
        Fact(LATER, "527", 212, (4581, 3353, 2235)),
        Fact("PrivBayes (authors' C++)", "4.5", 400, (7938, 6097, 4006)),
        Fact("MST, δ = 1e-9", "64", 9.6, (297, 265, 190)),
        Fact("AIM, δ = 1e-9, 500 iterations", "264", 7.1, (244, 202, 159)),
        Fact("MST, OpenDP's, rows drawn, δ = 1e-9", "29", 6.3, (184, 172, 127)),
        Fact("AIM, OpenDP's, rows drawn, δ = 1e-9", "51", 7.2, (217, 198, 150)),
    ],
    "Adult": [
        Fact(LATER, "1768", 477, (7096, 5292, 3767)),
        Fact("PrivBayes (authors' C++)", "6", 559, (5531, 4155, 3058)),
        Fact("MST, δ = 1e-9", "228", 23.4, (269, 278, 245)),
        Fact("AIM, δ = 1e-9", "1508", 17.9, (307, 278, 247)),
    ],
    "Small-adult": [
        Fact(LATER, "18 to 28", 35.2, (560, 409, 237)),
        Fact("MST, δ = 1e-9", "29", 7.5, (90, 76, 52)),
    ],
}
