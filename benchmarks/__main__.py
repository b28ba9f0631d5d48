"""Run every benchmark: `python -m benchmarks [--quick]`."""

from __future__ import annotations

import sys

from benchmarks import (
    arx,
    attacks,
    audits,
    combining,
    generalization,
    intervals,
    many_attributes,
    pairs,
    plans,
    pram,
    pviews,
    roles,
    sampling,
    scoreboard,
    startup,
    tables,
    views,
)

BENCHMARKS = (
    startup,
    tables,
    plans,
    generalization,
    many_attributes,
    arx,
    pairs,
    sampling,
    pram,
    views,
    pviews,
    intervals,
    combining,
    scoreboard,
    attacks,
    audits,
    roles,
)

if __name__ == "__main__":
    for benchmark in BENCHMARKS:
        benchmark.main(quick="--quick" in sys.argv)
