"""The fuzzer runs in its quick form: every input ends in an answer or in an error of our own."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.fuzz import __main__ as fuzz
from benchmarks.fuzz.readers import READERS


@pytest.mark.slow
def test_fuzz_quick(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    readers = list(READERS)
    findings = fuzz.main(quick=True, arguments=[*readers, "--cases", str(tmp_path)])
    assert "p-view manifests" in capsys.readouterr().out
    assert list(findings) == readers
    for one in findings.values():
        assert one.outcomes.total() == fuzz.QUICK
        assert not one.wrong, "\n".join(one.wrong)
