"""The tables as text and as Markdown: the paper's figures beside ours."""

from __future__ import annotations

from collections.abc import Sequence

from papers.l_diversity_suitability.measure import Row
from papers.l_diversity_suitability.paper import PAPER
from papers.page import Grid

OURS = ("data1", "data2")  # drawn by us: what the paper reached on its own says nothing about them


def grids(rows: Sequence[Row]) -> list[Grid]:
    """Return all tables."""
    return [_diversity(rows), _blocks(rows), _anonymity(rows), _suitability(rows)]


def _diversity(rows: Sequence[Row]) -> Grid:
    lines = []
    for row in rows:
        paper = PAPER[row.name][row.l]
        lines.append(
            [
                row.name,
                str(row.l),
                _figure(row.bound_l),
                _figure(paper.bound_l),
                f"{row.best_l:.4f} ({row.by_l})",
                _figure(row.entropy, infeasible=True),
                _figure(paper.reached_l, 3),
                _figure(row.ratio_l, 2),
                _figure(paper.ratio_l, 2),
                _share(row.ratio_l, paper.ratio_l),
                _figure(row.distinct),
                f"{row.seconds:.1f}",
            ]
        )
    headers = [
        "data", "l", "lower\nbound", "paper's", "best bound", "upper\n(entropy)", "paper's", "upper /\nbest",
        "paper's\nratio", "ours /\npaper's", "upper\n(distinct)", "row, s",
    ]  # fmt: skip
    return Grid("Table 3, l-diversity: bounds of the distortion", headers, lines)


def _blocks(rows: Sequence[Row]) -> Grid:
    lines = []
    for row in rows:
        paper = PAPER[row.name][row.l]
        lines.append(
            [
                row.name,
                str(row.l),
                *(f"{row.max_blocks:,}", f"{paper.max_blocks:,}"),
                *(_whole(row.min_block_distinct), _whole(paper.min_block_distinct)),
                *(_whole(row.min_block_entropy), _whole(paper.min_block_entropy)),
            ]
        )
    headers = ["data", "l", "MaxNB", "paper's", "BS_s", "paper's", "BS_e", "paper's"]
    return Grid("Table 3, l-diversity: what the sensitive values allow", headers, lines)


def _anonymity(rows: Sequence[Row]) -> Grid:
    lines = []
    for row in rows:
        paper = PAPER[row.name][row.l]
        lines.append(
            [
                row.name,
                str(row.l),
                _figure(row.bound_k),
                _figure(paper.bound_k),
                f"{row.best_k:.4f} ({row.by_k})",
                _figure(row.reached_k),
                f"({paper.reached_k:.3f})",
                _figure(row.ratio_k, 2),
                _figure(paper.ratio_k, 2),
                _share(row.ratio_k, paper.ratio_k),
            ]
        )
    headers = [
        "data", "k", "lower\nbound", "paper's", "best bound", "upper", "paper's", "upper /\nbest", "paper's\nratio",
        "ours /\npaper's",
    ]  # fmt: skip
    return Grid("Table 3, k-anonymity (the paper's upper bound is its ratio times its bound)", headers, lines)


def _suitability(rows: Sequence[Row]) -> Grid:
    lines = []
    for row in rows:
        paper = PAPER[row.name][row.l]
        lines.append(
            [
                row.name,
                str(row.l),
                _figure(row.bound_l),
                _figure(paper.bound_l),
                *(_whole(row.min_block_entropy), _whole(paper.min_block_entropy)),
                _figure(row.reached_e, infeasible=True),
                _figure(paper.reached_e, 3),
                _figure(row.ratio, 2, infeasible=True),
                _figure(paper.ratio, 2),
            ]
        )
    headers = [
        "data", "l", "lower\nbound", "paper's", "k =\nBS_e", "paper's", "upper at\nthat k", "paper's", "ratio",
        "paper's",
    ]  # fmt: skip
    return Grid("Table 4: the bound of l-diversity over what k-anonymity reaches", headers, lines)


def _figure(value: float | None, places: int = 4, *, infeasible: bool = False) -> str:
    if value is None:
        return "NA" if infeasible else "-"
    return f"{value:.{places}f}"


def _whole(value: int | None) -> str:
    return "NA" if value is None else f"{value:,}"


def _share(ours: float | None, paper: float | None) -> str:
    return "-" if ours is None or paper is None else f"{ours / paper:.2f}"


def short_falls(rows: Sequence[Row]) -> list[str]:
    """Say in which rows our upper / lower is not below the paper's or, on its own tables, our upper bound is not."""
    sentences = []
    for row in rows:
        paper = PAPER[row.name][row.l]
        for what, ratio, theirs, upper, reached in (
            ("l", row.ratio_l, paper.ratio_l, row.entropy, paper.reached_l),
            ("k", row.ratio_k, paper.ratio_k, row.reached_k, paper.reached_k),
        ):
            if ratio is None or theirs is None or upper is None or reached is None:
                continue
            worse = row.name not in OURS and upper > reached + 0.0005
            if ratio < theirs and not worse:
                continue
            sentence = (
                f"{row.name}, {what} = {row.l}: we reach {upper:.4f}, the paper {reached:.3f}; upper / lower is "
                f"{ratio:.2f}, the paper's {theirs:.2f}."
            )
            if what == "k" and reached < row.best_k:
                sentence += f" But no table with that k costs less than {row.best_k:.4f}: the paper's figure is not one of this table and this k."
            sentences.append(sentence)
    return sentences or [
        "In no row: upper / lower is below the paper's in every row for which it prints one."
    ]
