"""Plans: how large they are, and how long a table takes end to end, beside reading and writing it with polars.

`python -m benchmarks.plans [--quick]`: a table of ten million rows and eight columns like Adult's, generalized with
k = 10 and l = 3, each phase with the most memory so far; and a plan of Adult that is saved, opened and applied.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import polars as pl

import sudare as sd
from benchmarks.common import QUASI, SENSITIVE, adult_table, in_child, peak_gigabytes, seconds, show
from benchmarks.views import adult

ASKED = [sd.KAnonymity(10), sd.LDiversity(3)]


def like_adult(rows: int) -> pl.DataFrame:
    """Rows drawn from Adult with replacement: as many tuples as a large survey has, each often."""
    people = adult().select(*QUASI, SENSITIVE)
    return people[np.random.default_rng(3).integers(0, people.height, rows)]


def schema() -> sd.Schema:
    return sd.Schema.from_roles(quasi=QUASI, sensitive=[SENSITIVE])


def measure(path: str) -> dict[str, float]:
    """Generalize a file end to end; returns the seconds and the gigabytes after each phase."""
    figures: dict[str, float] = {}
    start = time.perf_counter()

    def lap(phase: str) -> None:
        nonlocal start
        figures[f"{phase} s"], figures[f"{phase} GB"] = time.perf_counter() - start, peak_gigabytes()
        start = time.perf_counter()

    table = sd.read(path, schema())
    lap("read")
    release = sd.generalize(table, ASKED)
    lap("learn, apply, certify")
    release.holder, release.report  # noqa: B018
    lap("record and report")
    with tempfile.TemporaryDirectory() as folder:
        release.write(Path(folder, "out"))
    lap("write and verify")
    return figures


def _end_to_end(rows: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        csv = Path(folder, "people.csv")
        like_adult(rows).write_csv(csv)
        polars = seconds(lambda: pl.read_csv(csv).write_csv(Path(folder, "copy.csv")), 1)
        figures = in_child("benchmarks.plans", "--measure", csv)
    phases = [key.removesuffix(" s") for key in figures if key.endswith(" s")]
    lines = [
        [phase, f"{figures[f'{phase} s']:.1f} s", f"{figures[f'{phase} GB']:.2f} GB"] for phase in phases
    ]
    whole = sum(figures[f"{phase} s"] for phase in phases)
    lines.append(
        [
            "all",
            f"{whole:.1f} s, {whole / polars:.1f} x polars",
            f"{max(figures[f'{p} GB'] for p in phases):.2f} GB",
        ]
    )
    title = f"{rows:,} rows x 8 columns, k = 10 and l = 3, end to end (polars reads and writes it in {polars:.1f} s)"
    show(title, ["phase", "time", "memory"], lines)


def _saved(rows: int | None) -> None:
    frame = adult().select(*QUASI, SENSITIVE)[:rows]
    table = adult_table(frame)
    lines = []
    with tempfile.TemporaryDirectory() as folder:
        csv = Path(folder, "adult.csv")
        frame.write_csv(csv)
        polars = seconds(lambda: pl.read_csv(csv).write_csv(Path(folder, "copy.csv")))
        for method in ("minimal", "mondrian"):
            release = sd.generalize(table, sd.KAnonymity(5), method)
            saved = release.plan.save(Path(folder, method))
            published = release.write(Path(folder, f"{method} release")) / "hand-over" / "data.csv"
            size = sum(file.stat().st_size for file in saved.iterdir())
            plan = sd.Plan.open(saved)
            opening = seconds(lambda saved=saved: sd.Plan.open(saved))
            fresh = [adult_table(frame) for _ in range(4)]  # what a table has counted, it remembers
            applying = seconds(lambda plan=plan, fresh=fresh: sd.apply(plan, fresh.pop()))
            lines.append(
                [
                    method,
                    f"{size:,} bytes",
                    f"{size / published.stat().st_size:.1%}",
                    f"{1000 * opening:.0f} ms",
                    f"{1000 * applying:.0f} ms",
                    f"{(opening + applying) / polars:.1f}",
                ]
            )
    title = (
        f"Plans of Adult, {frame.height:,} rows, k = 5 (polars reads and writes it in {1000 * polars:.0f} ms)"
    )
    show(title, ["method", "saved", "of the CSV", "open", "apply and verify", "both, in polars' time"], lines)


def main(quick: bool = False) -> None:
    _saved(2_000 if quick else None)
    for rows in (20_000,) if quick else (1_000_000, 10_000_000):
        _end_to_end(rows)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--measure"]:
        print(json.dumps(measure(sys.argv[2])))
    else:
        main(quick="--quick" in sys.argv)
