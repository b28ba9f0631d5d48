"""How long the first release of a fresh installation takes, and what a later process waits for: `python -m benchmarks.startup`.

The package is copied without what was compiled before, as a new installation from source has it, and copied with it, as a
wheel brings it (`make wheel`). Each release is made by a process of its own; the work alone is the same release once more in a
process that has made it already.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import sudare
from benchmarks.common import show

RELEASE = """
import time
from pathlib import Path
import sudare as sd
schema = Path(sd.__file__).parent / "datasets" / "survey.toml"
survey = sd.datasets.health_survey({people})
for _ in range({times}):
    start = time.perf_counter()
    sd.generalize(sd.read(survey, schema), [sd.KAnonymity(5), sd.LDiversity(3, attribute="diagnosis")], "{method}")
print(time.perf_counter() - start)
"""


def main(*, quick: bool) -> None:
    """Measure a first and a later release by both methods."""
    people, methods = (500, ["mondrian"]) if quick else (5_000, ["minimal", "mondrian"])
    rows = [_measured(method, people) for method in methods]
    show(
        f"The first release of a fresh installation: the health survey, {people:,} people, k = 5 and l = 3 (seconds)",
        [
            "method",
            "first, from source",
            "first, from a wheel",
            "later",
            "the work alone",
            "later, beyond the work",
        ],
        rows,
    )


def _measured(method: str, people: int) -> list[str]:
    source = Path(sudare.__file__).parent
    with tempfile.TemporaryDirectory() as plain, tempfile.TemporaryDirectory() as wheel:
        shutil.copytree(source, Path(plain, "sudare"), ignore=shutil.ignore_patterns("__pycache__"))
        first, _ = _process(plain, method, people)
        shutil.copytree(Path(plain, "sudare"), Path(wheel, "sudare"), ignore=shutil.ignore_patterns("*.pyc"))
        brought, _ = _process(wheel, method, people)
        later, _ = _process(plain, method, people)
        _, work = _process(plain, method, people, times=2)
    return [method, *(f"{seconds:.1f}" for seconds in (first, brought, later, work, later - work))]


def _process(folder: str, method: str, people: int, times: int = 1) -> tuple[float, float]:
    """Return how long a process takes, and its last release."""
    code = RELEASE.format(method=method, people=people, times=times)
    start = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"PYTHONPATH": folder},
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
    )
    return time.perf_counter() - start, float(done.stdout)


if __name__ == "__main__":
    main(quick="--quick" in sys.argv)
