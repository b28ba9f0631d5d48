"""How time and memory grow in memory, by rows, columns and distinct combinations: python -m benchmarks.scale --page writes docs/scale.md's table.

Seconds are those of the processor, of all cores together, since a machine may be busy; each line is a process of its own.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from pathlib import Path

import sudare as sd
from benchmarks.common import in_child, peak_gigabytes, show
from benchmarks.tables import CHOICES, COLUMNS, census
from papers.page import Grid, rewrite

PAGE = Path(__file__).parent.parent / "docs" / "scale.md"
CASES = [
    ("generalize, mondrian", "6 columns", 100_000),
    ("generalize, mondrian", "3 columns", 1_000_000),
    ("generalize, mondrian", "6 columns", 1_000_000),
    ("generalize, mondrian", "8 columns", 1_000_000),
    ("generalize, minimal", "6 columns", 100_000),
    ("generalize, minimal", "3 columns", 1_000_000),
    ("materialize", "6 columns", 100_000),
    ("materialize", "6 columns", 1_000_000),
    ("materialize", "8 columns", 1_000_000),
]
HEADERS = ["verb", "columns", "rows", "distinct combinations", "processor seconds", "memory"]


def measure(verb: str, columns: str, path: str, folder: str) -> dict[str, float]:
    """One release, from the file to the verified folder, in a process of its own; what is compiled once is compiled before."""
    names = CHOICES[columns]
    *quasi, sensitive = names
    schema = sd.Schema.from_roles(
        quasi=quasi,
        sensitive=[sensitive],
        domains={
            name: [f"{name} {i}" for i in range(size)] if text else list(range(size))
            for name, (size, text) in COLUMNS.items()
            if name in names
        },
        missing="refuse",
        source="census",
    )
    few = sd.read(census(2_000).select(names), schema)
    _publish(verb, few, folder + "/first")
    start = time.process_time()
    table = sd.read(path, schema)
    _publish(verb, table, folder + "/second")
    return {
        "seconds": time.process_time() - start,
        "gigabytes": peak_gigabytes(),
        "distinct": len(table.counts(names)),
    }


def _publish(verb: str, table: sd.Table, folder: str) -> None:
    if verb == "materialize":
        sd.materialize(table, sd.DifferentialPrivacy(1.0)).write(folder)
    else:
        sd.generalize(table, sd.KAnonymity(5), method=verb.split(", ")[1]).write(folder)


def main(quick: bool = False, page: bool = False) -> None:
    lines = []
    for verb, columns, all_rows in CASES[:1] if quick else CASES:
        rows = min(all_rows, 3_000) if quick else all_rows
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "census.parquet")
            census(rows).select(CHOICES[columns]).write_parquet(path)
            found = in_child("benchmarks.scale", "--measure", verb, columns, path, folder)
        lines.append(
            [
                f"`{verb}`",
                columns.split()[0],
                f"{rows:,}",
                f"{found['distinct']:,.0f}",
                f"{found['seconds']:.1f}",
                f"{found['gigabytes']:.1f} GB",
            ]
        )
        print(lines[-1], file=sys.stderr, flush=True)
    show("In memory, from a Parquet file to the verified folder", HEADERS, lines)
    if page:
        rewrite(
            PAGE, [Grid("In memory, from a Parquet file to the verified folder", HEADERS, lines).markdown()]
        )


if __name__ == "__main__":
    if sys.argv[1:2] == ["--measure"]:
        print(json.dumps(measure(*sys.argv[2:6])))
    else:
        main(quick="--quick" in sys.argv, page="--page" in sys.argv)
