"""Run the fuzzer."""

from __future__ import annotations

import argparse
import json
import os
import selectors
import subprocess
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.fuzz.readers import READERS, make

INPUTS, QUICK = 5_000, 25
"""Of each reader."""
SECONDS = 5
STARTING = 600  # a first call may compile


@dataclass
class Findings:
    """How the inputs of a reader ended."""

    outcomes: Counter[str] = field(default_factory=Counter)
    slowest: float = 0.0
    largest: float = 0.0
    wrong: list[str] = field(default_factory=list)


class Worker:
    """A child process, started anew after it died or hung."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._process = folder, None

    def ask(self, reader: str, number: int, seconds: float) -> dict[str, object]:
        """Have one input made and read; a child that dies or takes too long is an outcome, too."""
        process = self._started()
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps([reader, number]) + "\n")
        process.stdin.flush()
        with selectors.DefaultSelector() as selector:
            selector.register(process.stdout, selectors.EVENT_READ)
            if not selector.select(seconds):
                self.stop()
                return {
                    "outcome": "hangs",
                    "error": f"no answer in {seconds:g} s",
                    "seconds": seconds,
                    "kilobytes": 0,
                }
        if line := process.stdout.readline():
            answer: dict[str, object] = json.loads(line)
            return answer
        self.stop()
        return {"outcome": "dies", "error": f"status {process.returncode}", "seconds": 0.0, "kilobytes": 0}

    def _started(self) -> subprocess.Popen[str]:
        if self._process is None:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "benchmarks.fuzz.worker", str(self._folder)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
                env=os.environ | {"RUST_BACKTRACE": "0", "POLARS_MAX_THREADS": "2"},
            )
        return self._process

    def stop(self) -> None:
        """End the child."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None


def fuzz(readers: list[str], inputs: int, seed: int, cases: Path) -> dict[str, Findings]:
    """Let every reader read so many inputs; what ends wrong is made again in a folder of cases."""
    findings = {reader: Findings() for reader in readers}
    with tempfile.TemporaryDirectory(dir="/dev/shm" if Path("/dev/shm").is_dir() else None) as folder:
        worker = Worker(Path(folder))
        for reader in readers:
            fresh = True
            for number in range(seed, seed + inputs):
                answer = worker.ask(reader, number, STARTING if fresh else 2 * SECONDS)
                fresh = worker._process is None
                _note(findings[reader], reader, number, answer, cases)
        worker.stop()
    return findings


def _note(findings: Findings, reader: str, number: int, answer: dict[str, object], cases: Path) -> None:
    outcome, seconds = str(answer["outcome"]), float(str(answer["seconds"]))
    megabytes = float(str(answer["kilobytes"])) / 1024
    if outcome in ("read", "refused"):
        outcome = "slow" if seconds > SECONDS else "large" if megabytes > 1024 else outcome
    findings.outcomes[outcome] += 1
    findings.slowest, findings.largest = max(findings.slowest, seconds), max(findings.largest, megabytes)
    if outcome not in ("read", "refused"):
        case = cases / f"{reader} {number}"
        make(reader, number, case)
        findings.wrong.append(f"{reader} {number}: {outcome} ({case})\n{answer['error']}")


def main(quick: bool = False, arguments: list[str] | None = None) -> dict[str, Findings]:
    """Fuzz, and print a line for each reader."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.fuzz", description=__doc__)
    parser.add_argument("readers", nargs="*", default=list(READERS))
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--inputs", type=int, help="of each reader")
    parser.add_argument("--seed", type=int, default=0, help="the first input's number")
    parser.add_argument("--cases", type=Path, default=Path(tempfile.gettempdir()) / "sudare-fuzz")
    given = parser.parse_args(arguments)
    inputs = given.inputs or (QUICK if quick or given.quick else INPUTS)
    findings = fuzz(given.readers, inputs, given.seed, given.cases)
    print(f"{'':22} inputs   read  refused  wrong  slowest (s)  most memory (MB)")
    for reader, one in findings.items():
        total, read, refused = one.outcomes.total(), one.outcomes["read"], one.outcomes["refused"]
        print(
            f"{reader:22} {total:6,} {read:6,}  {refused:7,} {total - read - refused:6,}  {one.slowest:11.2f}  {one.largest:16.0f}"
        )
    for one in findings.values():
        for wrong in one.wrong[:20]:
            print(wrong)
    return findings


if __name__ == "__main__":
    sys.exit(any(one.wrong for one in main().values()))
