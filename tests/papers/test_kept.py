"""What long measurements found, kept in a folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from papers.kept import NOTHING, Kept


def test_what_was_found_is_not_found_again(tmp_path: Path) -> None:
    kept, times = Kept(tmp_path / "kept"), []

    def find() -> dict[str, tuple[float, ...]]:
        times.append(1)
        return {"a": (0.1, 2.0)}

    assert kept.once("this/that", find) == kept.once("this/that", find) == {"a": [0.1, 2.0]}
    assert len(times) == 1
    assert NOTHING.once("this/that", find) == NOTHING.once("this/that", find) == {"a": [0.1, 2.0]}
    assert len(times) == 3


def test_what_was_stopped_halfway_leaves_nothing(tmp_path: Path) -> None:
    def stopped() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Kept(tmp_path).once("x", stopped)
    assert not list(tmp_path.iterdir())
    assert Kept(tmp_path).once("x", lambda: 1) == 1
