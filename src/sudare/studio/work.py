"""Work that takes long: a process for each project, what it is doing, how far it is, and how it is stopped."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from time import monotonic
from typing import Any, Literal

from sudare.errors import SudareError

State = Literal["running", "done", "failed"]
PATIENCE = 5.0  # seconds that a process is given to stop by itself


@dataclass
class Step:
    """A piece of work that is under way."""

    text: str
    total: int
    unit: str
    begun: float
    done: int = 0

    @property
    def part(self) -> float:
        """How much of it is done."""
        return min(self.done / self.total, 1.0) if self.total else 0.0

    @property
    def left(self) -> float | None:
        """How many seconds the rest takes, as soon as that can be said."""
        passed = monotonic() - self.begun
        return passed * (1 - self.part) / self.part if self.part > 0.02 and passed > 1 else None


@dataclass
class Job:
    """What a project's process was asked to do, and what came of it."""

    name: str
    then: Callable[[dict[str, Any]], None] | None = None
    state: State = "running"
    stage: str | None = None
    """Which of its cells is being run, or how what they made is shown."""
    steps: dict[int, Step] = field(default_factory=dict)
    found: dict[str, Any] | None = None
    error: dict[str, Any] | None = None
    begun: float = field(default_factory=monotonic)
    stopping: bool = False
    ended: threading.Event = field(default_factory=threading.Event)

    @property
    def step(self) -> Step | None:
        """What it is doing now, if that is told; the first of several that are under way."""
        return next(iter(list(self.steps.values())), None)

    @property
    def passed(self) -> float:
        """For how many seconds it has worked."""
        return monotonic() - self.begun


class Worker:
    """A process that runs Python for a project. It starts when it is first needed, and again after it was killed."""

    def __init__(self, environment: Mapping[str, str] | None = None) -> None:
        self._environment = environment or {}
        self._process: subprocess.Popen[str] | None = None
        self._lock = threading.RLock()
        self.job: Job | None = None

    @property
    def is_busy(self) -> bool:
        """Whether it is working."""
        return self.job is not None and self.job.state == "running"

    def start(
        self,
        name: str,
        cells: Sequence[Mapping[str, str]],
        show: str,
        options: Mapping[str, Any],
        then: Callable[[dict[str, Any]], None] | None = None,
    ) -> Job | None:
        """Begin some work; None if it is busy with other."""
        with self._lock:
            if self.is_busy:
                return None
            process = self._running()
            job = self.job = Job(name, then)
            order = json.dumps({"cells": list(cells), "show": show, "options": dict(options)})
            threading.Thread(target=self._follow, args=(process, job, order), daemon=True).start()
            return job

    def next(self, *order: Any) -> Job | None:
        """Begin some work from the `then` of other work, which is done with that."""
        with self._lock:
            if self.job is not None:
                self._end(self.job)
            return self.start(*order)

    def stop(self) -> None:
        """Stop what it is doing: as Ctrl-C does, and if that is not heard, by ending the process."""
        job, process = self.job, self._process
        if job is None or job.state != "running" or process is None:
            return
        job.stopping = True
        process.send_signal(signal.SIGINT)
        threading.Thread(target=self._insist, args=(process, job), daemon=True).start()

    def end(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.kill()
            if self.job is not None:
                self.job.ended.wait(PATIENCE)  # whoever follows it has heard its end
            _closed(self._process)

    def _running(self) -> subprocess.Popen[str]:
        if self._process is not None and self._process.poll() is not None:
            _closed(self._process)
            self._process = None
        if self._process is None:
            self._process = subprocess.Popen(
                [
                    sys.executable,
                    "-P",
                    "-m",
                    "sudare.studio.kernel",
                ],  # -P: no module of the folder it is started in
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                encoding="utf-8",
                env=os.environ | self._environment,
                start_new_session=True,  # Ctrl-C in the terminal is for the studio, which ends its processes
            )
        return self._process

    def _insist(self, process: subprocess.Popen[str], job: Job) -> None:
        if not job.ended.wait(PATIENCE):
            process.kill()

    def _follow(self, process: subprocess.Popen[str], job: Job, order: str) -> None:
        """Send an order, and hear the process out until it has answered."""
        assert process.stdin is not None
        assert process.stdout is not None
        answer: dict[str, Any] | None = None
        try:
            process.stdin.write(order + "\n")
            process.stdin.flush()
            for line in process.stdout:
                told = json.loads(line)
                if "found" in told or "error" in told:
                    answer = told
                    break
                _heard(job, told)
        except OSError:
            pass  # it has ended; said below
        if answer is None:
            process.wait()
            kind = "stopped" if job.stopping else "killed"
            answer = {"error": {"kind": kind, "text": f"{process.returncode}"}}
        self._finish(job, answer)

    def _finish(self, job: Job, answer: Mapping[str, Any]) -> None:
        job.found, job.error = answer.get("found"), answer.get("error")
        if job.error is None and job.then is not None and job.found is not None:
            try:
                job.then(job.found)
            except Exception as error:  # such as a full disk, while it is written down
                kind = "refused" if isinstance(error, SudareError) else "system"
                job.error = {"kind": kind, "text": str(error)}
        self._end(job)

    def _end(self, job: Job) -> None:
        job.state = "failed" if job.error else "done"
        job.ended.set()


def _closed(process: subprocess.Popen[str]) -> None:
    """Let go of a process that has ended."""
    process.wait()
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            with suppress(OSError):
                pipe.close()


def _heard(job: Job, told: Mapping[str, Any]) -> None:
    if "stage" in told:
        job.stage = told["stage"]
    elif "step" in told:
        job.steps[told["step"]] = Step(told["text"], told["total"], told["unit"], monotonic())
    elif "ended" in told:
        job.steps.pop(told["ended"], None)
    elif "done" in told and told["at"] in job.steps:
        job.steps[told["at"]].done = told["done"]
