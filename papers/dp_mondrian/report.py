"""The tables as text and as Markdown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields

import numpy as np

from papers.dp_mondrian.measure import Row, Timed
from papers.dp_mondrian.paper import (
    DENSE,
    EXPECTED,
    FACTS,
    GAN,
    IDENTITY_EST,
    METHODS,
    ORIGINAL,
    OURS,
    PAPERS,
    TABLE_1,
    TABLE_2,
    TABLE_3,
    TABLE_4,
    TABLE_5,
)
from papers.dp_mondrian.teach import Taught
from papers.page import Grid
from sudare.pview import methods
from sudare.utility.workloads import average_relative_rmse

RANGES = ("random 2D", "random 3D", "random 4D")
Sizes = Mapping[str, tuple[int, int, float, float | None]]
"""By table: records, attributes, cells and the share of positives."""


def grids(
    sizes: Sizes,
    rows: Sequence[Row],
    estimates: Sequence[Row],
    extra: Sequence[Row],
    budgets: Mapping[float, Sequence[Row]],
    scores: Sequence[Taught],
    domains: Sequence[Timed],
    fillings: Sequence[Timed],
) -> list[Grid]:
    """Return all tables."""
    return [
        _facts([*extra, *rows]),
        _table_1([*rows, *estimates]),
        _table_2([*rows, *estimates], scores),
        _table_3(sizes),
        _figure_3([*rows, *estimates]),
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
        [_named(method), _ratio(all_of[method]) if method not in DENSE else "-", _ratio(few[method]) if method in few else "-", _printed(TABLE_1, method)]
        for method in (*METHODS, *EXPECTED)
        if method in all_of
    ]  # fmt: skip
    headers = ["method", "all tables", f"{', '.join(sorted(dense))} only", "paper's"]
    return Grid("Table 1: average relative RMSE (DP-Mondrian is 1), eight workloads, ε = 1", headers, lines)


def _printed(figures: Mapping[str, float], name: str) -> str:
    return f"{figures[name]:,.2f}" if name in figures else "-"


def _named(method: str) -> str:
    return f"{method} (expected)" if method in EXPECTED else method


def _ratio(value: float) -> str:
    return f"{value:.3f}" if value < 1e4 else f"{value:,.0f}"


def _table_2(rows: Sequence[Row], scores: Sequence[Taught]) -> Grid:
    """Say of each requirement what the code and the measurements say, where the paper has a tick."""
    lines = []
    for method in (OURS, *TABLE_2):
        said = TABLE_2.get(method)
        told = [_tick(said[0]), said[1], _tick(said[2])] if said else ["-"] * 3
        own = [_tick(not _needs_workload(method)), beaten(rows, method), kept(scores, method)]
        lines.append([method, *(part for pair in zip(own, told, strict=True) for part in pair)])
    headers = ["method", "needs no workload", "paper's", "tasks with less error than noise on every cell", "paper's", "what rows teach, kept of what the original teaches", "paper's: features are kept"]  # fmt: skip
    return Grid("Table 2: what a p-view should have, ε = 1", headers, lines)


def _tick(holds: bool) -> str:
    return "yes" if holds else "no"


def _needs_workload(method: str) -> bool:
    known = methods.METHODS.get(method.lower())
    return known is not None and any(field.name == "asked" for field in fields(known))


def beaten(rows: Sequence[Row], method: str) -> str:
    """Say in how many tasks a method errs less than what is expected of Identity."""
    alone = {row.data: row for row in rows if row.method == IDENTITY_EST}
    own = [(row, w) for row in rows if row.method == method for w in row.errors]
    less = sum(row.error(w) < alone[row.data].error(w) for row, w in own)
    return f"{less} of {len(own)}" if own and method != "identity" else "-"


def kept(scores: Sequence[Taught], method: str) -> str:
    """Say what part of AUROC above a coin's is kept, on average over the tables."""
    by = {(one.data, one.method): one.auroc - 0.5 for one in scores}
    shares = [gain / by[data, ORIGINAL] for (data, own), gain in by.items() if own == method]
    return f"{np.mean(shares):.0%}" if shares else "-"


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
    lines = [
        [f"{row.data}, {_named(row.method)}", *(_short(row.error(one)) for one in workloads)] for row in rows
    ]
    return Grid("Fig. 3: RMSE of every workload, ε = 1", ["table, method", *workloads], lines)


def _short(error: float) -> str:
    if error >= 1e7:
        return f"{error:.1e}"
    return f"{error:,.0f}" if error >= 100 else f"{error:.3g}"


def _figure_4(budgets: Mapping[float, Sequence[Row]]) -> Grid:
    first = next(iter(budgets.values()))
    lines = [
        [f"{_named(row.method)}, {one}", *(_short(rows[i].error(one)) for rows in budgets.values())]
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
                f"{one.auroc:.3f} ± {one.spread:.3f}",
                f"{said[0]:.3f}" if said else "-",
                f"{one.auprc:.3f}",
                f"{said[1]:.3f}" if said else "-",
            ]
        )
    heard = {one.data for one in scores if one.method == GAN}
    for data in dict.fromkeys(one.data for one in scores if one.data not in heard):
        auroc, auprc = TABLE_4[data][GAN]
        lines.append([f"{data}, {GAN}", "-", f"{auroc:.3f}", "-", f"{auprc:.3f}"])
    by = f"; means over {', '.join(scores[0].classifiers)}" if scores else ""
    return Grid(f"Table 4: what synthetic rows teach, ε = 1 (± standard deviation over seeds{by})", ["table, method", "AUROC", "paper's", "AUPRC", "paper's"], lines)  # fmt: skip


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
