"""The tables as text and as Markdown, and what they say in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from papers.dp_mondrian.measure import Row, Taught, Timed
from papers.dp_mondrian.paper import (
    DENSE,
    FACTS,
    METHODS,
    ORIGINAL,
    OURS,
    PAPERS,
    TABLE_1,
    TABLE_3,
    TABLE_4,
    TABLE_5,
)
from papers.page import Grid
from sudare.utility.workloads import average_relative_rmse

CHOSEN_ON = ("Adult", "Small-adult", "Numerical-adult")
"""Our default's settings were chosen on these; the other tables judge them."""
RANGES = ("random 2D", "random 3D", "random 4D")
Sizes = Mapping[str, tuple[int, int, float, float | None]]
"""By table: records, attributes, cells and the share of positives."""


def grids(
    sizes: Sizes,
    rows: Sequence[Row],
    extra: Sequence[Row],
    budgets: Mapping[float, Sequence[Row]],
    scores: Sequence[Taught],
    domains: Sequence[Timed],
    fillings: Sequence[Timed],
) -> list[Grid]:
    """Return all tables."""
    return [
        _facts([*extra, *rows]),
        _table_1(rows),
        _table_3(sizes),
        _figure_3(rows),
        _figure_4(budgets),
        _table_4(scores),
        _figure_5("Fig. 5, left: seconds as the domain grows", domains),
        _figure_5("Fig. 5, right: seconds as more cells are occupied", fillings),
        _figure_6(rows),
        _table_5(sizes, rows),
    ]


def _facts(rows: Sequence[Row]) -> Grid:
    lines = []
    for data, facts in FACTS.items():
        own = [row for row in rows if row.data == data]
        ours = [
            [f"{data}, {row.method}", f"{min(row.seconds):.2f}", _spread(row, "2-way marginals"), *(_spread(row, one) for one in RANGES)]
            for row in own
        ]  # fmt: skip
        theirs = [
            [f"{data}, {fact.method} (*)", fact.seconds, f"{fact.marginals:g}", *(f"{one:,}" for one in fact.ranges)]
            for fact in facts
        ]  # fmt: skip
        lines += [*ours, *theirs] if own else []
    headers = ["table, method", "seconds", "2-way marginals", "random 2D", "random 3D", "random 4D"]
    return Grid(
        "RMSE beside other methods, ε = 1 (± standard deviation over seeds; (*): measured once)",
        headers,
        lines,
    )


def _spread(row: Row, workload: str) -> str:
    errors = row.errors[workload]
    mean = f"{np.mean(errors):,.1f}" if np.mean(errors) < 100 else f"{np.mean(errors):,.0f}"
    return f"{mean} ± {np.std(errors, ddof=1):,.1f}" if len(errors) > 1 else mean


def arr(rows: Sequence[Row], reference: str) -> dict[str, float]:
    """Return the average relative RMSE over all tables and workloads that a method has."""
    errors: dict[str, dict[tuple[str, str], float]] = {}
    for row in rows:
        errors.setdefault(row.method, {}).update({(row.data, w): row.error(w) for w in row.errors})
    return average_relative_rmse(errors, reference)


def _table_1(rows: Sequence[Row]) -> Grid:
    dense = {row.data for row in rows if row.method in DENSE}
    few = arr([row for row in rows if row.data in dense], PAPERS)
    all_of = arr(rows, PAPERS)
    lines = [
        [method, f"{all_of[method]:.3f}" if method not in DENSE else "-", f"{few[method]:.3f}" if method in few else "-", _printed(TABLE_1, method)]
        for method in METHODS
        if method in all_of
    ]  # fmt: skip
    lines += [[method, "-", "-", f"{TABLE_1[method]:.2f}"] for method in ("PrivBayes", "HDMM")]
    headers = ["method", "all tables", f"{', '.join(sorted(dense))} only", "paper's"]
    return Grid("Table 1: average relative RMSE (DP-Mondrian is 1), eight workloads, ε = 1", headers, lines)


def _printed(figures: Mapping[str, float], name: str) -> str:
    return f"{figures[name]:.2f}" if name in figures else "-"


def _table_3(sizes: Sizes) -> Grid:
    lines = []
    for name, said in TABLE_3.items():
        told = [f"{said.records:,}", str(said.columns), f"{said.cells:.0e}", _share(said.positive)]
        if name in sizes:
            records, columns, cells, positive = sizes[name]
            own = [f"{records:,}", str(columns), f"{cells:.1e}", _share(positive)]
        else:
            own = ["-"] * 4
        lines.append([name, *(part for pair in zip(own, told, strict=True) for part in pair)])
    headers = ["table", "records", "paper's", "columns", "paper's", "cells", "paper's", "positive", "paper's"]
    return Grid("Table 3: the tables", headers, lines)


def _share(share: float | None) -> str:
    return "-" if share is None else f"{share:.3f}"


def _figure_3(rows: Sequence[Row]) -> Grid:
    workloads = list(rows[0].errors)
    lines = [[f"{row.data}, {row.method}", *(_short(row.error(one)) for one in workloads)] for row in rows]
    return Grid("Fig. 3: RMSE of every workload, ε = 1", ["table, method", *workloads], lines)


def _short(error: float) -> str:
    return f"{error:,.0f}" if error >= 100 else f"{error:.3g}"


def _figure_4(budgets: Mapping[float, Sequence[Row]]) -> Grid:
    first = next(iter(budgets.values()))
    lines = [
        [f"{row.method}, {one}", *(_short(rows[i].error(one)) for rows in budgets.values())]
        for i, row in enumerate(first)
        for one in row.errors
    ]
    return Grid(
        f"Fig. 4: RMSE by budget, {first[0].data}",
        ["method, workload", *(f"ε = {e:g}" for e in budgets)],
        lines,
    )


def _table_4(scores: Sequence[Taught]) -> Grid:
    lines = []
    for one in scores:
        said = TABLE_4[one.data].get(one.method)
        lines.append(
            [
                f"{one.data}, {one.method}",
                f"{one.auroc:.3f}",
                f"{said[0]:.3f}" if said else "-",
                f"{one.auprc:.3f}",
                f"{said[1]:.3f}" if said else "-",
            ]
        )
        if one.method == ORIGINAL:
            auroc, auprc = TABLE_4[one.data]["PrivBayes"]
            lines.append([f"{one.data}, PrivBayes", "-", f"{auroc:.3f}", "-", f"{auprc:.3f}"])
    return Grid("Table 4: what synthetic rows teach, ε = 1", ["table, method", "AUROC", "paper's", "AUPRC", "paper's"], lines)  # fmt: skip


def _figure_5(title: str, timings: Sequence[Timed]) -> Grid:
    lines = [
        [one.method, f"{one.records:,}", f"{one.cells:.0e}", f"{one.occupied:,}", f"{one.occupied / one.cells:.0e}", f"{one.seconds:.2f}"]
        for one in timings
    ]  # fmt: skip
    return Grid(title, ["method", "records", "cells", "occupied", "share", "seconds"], lines)


def _figure_6(rows: Sequence[Row]) -> Grid:
    tables = list(dict.fromkeys(row.data for row in rows))
    by = {(row.data, row.method): f"{min(row.seconds):.2f}" for row in rows}
    lines = [[name, *(by.get((name, method), "-") for method in METHODS)] for name in tables]
    return Grid("Fig. 6: seconds for a p-view (the best seed)", ["table", *METHODS], lines)


def _table_5(sizes: Sizes, rows: Sequence[Row]) -> Grid:
    by = {(row.data, row.method): in_words(row.bytes) for row in rows}
    lines = [
        [name, in_words(4 * cells), *(TABLE_5[name][:1] if name in TABLE_5 else ["-"]), by[name, PAPERS], *(TABLE_5[name][1:] if name in TABLE_5 else ["-"]), by.get((name, OURS), "-")]
        for name, (_, _, cells, _) in sizes.items()
    ]  # fmt: skip
    return Grid("Table 5: size of all cells at 4 bytes each, and of a saved p-view", ["table", "all cells", "paper's", PAPERS, "paper's", OURS], lines)  # fmt: skip


def in_words(size: float) -> str:
    """Write a number of bytes, in the paper's units."""
    for unit in ("B", "KB", "MB", "GB", "TB", "PB", "EB", "ZB"):
        if size < 1024 or unit == "ZB":
            return f"{size:,.2f} {unit}" if unit != "B" else f"{size:.0f} B"
        size /= 1024
    raise AssertionError


# -- in words --------------------------------------------------------------------------------------------


def answers(rows: Sequence[Row], scores: Sequence[Taught], domains: Sequence[Timed]) -> list[str]:
    """Say what the figures say."""
    return [_confirmed(rows), _histograms(rows), _ours(rows), _rows_teach(scores), _time(rows, domains)]


def _by(rows: Sequence[Row]) -> dict[tuple[str, str], Row]:
    return {(row.data, row.method): row for row in rows}


def _confirmed(rows: Sequence[Row]) -> str:
    dense = {row.data for row in rows if row.method in DENSE}
    few = arr([row for row in rows if row.data in dense], PAPERS)
    against_identity = (
        "that it beats Identity there we do not find"
        if few["identity"] < 1
        else "it beats Identity, as there"
    )
    return (
        f"**Table 1.** Against DP-Mondrian, Identity has {few['identity']:.2f} (the paper: {TABLE_1['identity']:.2f}) and DAWA, on cells in one row, "
        f"{few['dawa']:.2f} ({TABLE_1['dawa']:.2f}) on {' and '.join(sorted(dense))}. DP-Mondrian here is the corrected one, with the noise that its proof needs; {against_identity}. "
        "HDMM, PrivBayes and DP-GAN are not ours; their figures are the paper's, or those marked (*)."
    )


def _histograms(rows: Sequence[Row]) -> str:
    by = _by(rows)
    ratios = {
        (data, w): by[data, PAPERS].error(w) / row.error(w)
        for (data, method), row in by.items()
        if method == "independent"
        for w in row.errors
    }
    return (
        "**What the paper leaves out:** noisy one-way histograms, multiplied as if attributes were independent. They beat DP-Mondrian "
        f"{_won(ratios)}. The last section shows how little its cuts can see."
    )


def _ours(rows: Sequence[Row]) -> str:
    by, said = _by(rows), []
    for other in (PAPERS, "independent"):
        ratios = {
            (data, w): by[data, other].error(w) / row.error(w)
            for (data, method), row in by.items()
            if method == OURS
            for w in row.errors
        }
        unseen = {task: ratio for task, ratio in ratios.items() if task[0] not in CHOSEN_ON}
        said.append(
            f"{other} {_won(ratios)}; on the tables that its settings were not chosen on, {_won(unseen)}"
        )
    return f"**Ours** (`{OURS}`, the default) beats {said[0]}. It beats {said[1]}."


def _won(ratios: Mapping[tuple[str, str], float]) -> str:
    """Say how often, by how much, and where not."""
    lost: dict[str, list[str]] = {}
    for (data, workload), ratio in ratios.items():
        if ratio <= 1:
            lost.setdefault(data, []).append(workload)
    where = "; ".join(f"{data}: {', '.join(workloads)}" for data, workloads in lost.items())
    words = f"in {sum(ratio > 1 for ratio in ratios.values())} of {len(ratios)} tasks"
    words += (
        f", by {np.exp(np.mean(np.log([*ratios.values()]))):.1f} times in the (geometric) mean"
        if ratios
        else ""
    )
    return f"{words} (not at {where})" if where else words


def _rows_teach(scores: Sequence[Taught]) -> str:
    by = {(one.data, one.method): one for one in scores}
    told = [
        f"{data}: {by[data, OURS].auroc:.3f} with ours, {by[data, PAPERS].auroc:.3f} with DP-Mondrian (the paper: {said[PAPERS][0]:.3f}; PrivBayes "
        f"{said['PrivBayes'][0]:.3f}), {by[data, ORIGINAL].auroc:.3f} with the original rows ({said[ORIGINAL][0]:.3f})"
        for data, said in TABLE_4.items()
        if (data, OURS) in by
    ]
    return f"**What rows teach** (AUROC). {'; '.join(told)}. Independent histograms teach nothing, by construction."


def _time(rows: Sequence[Row], domains: Sequence[Timed]) -> str:
    own = [one for one in domains if one.method == PAPERS]
    slowest = max((row for row in rows if row.method == PAPERS), key=lambda row: min(row.seconds))
    return (
        f"**Time.** DP-Mondrian's slowest table is {slowest.data}, {min(slowest.seconds):.2f} s. From {own[0].cells:.0e} to {own[-1].cells:.0e} cells its time for "
        f"{own[0].records:,} records goes from {own[0].seconds:.2f} to {own[-1].seconds:.2f} s: sublinear, as the paper says."
    )
