"""What the holder of a p-view has in `keep/`: read again from there when it is asked for."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sudare.errors import InputError
from sudare.pview.design import PViewDesign
from sudare.pview.domain import Domain
from sudare.tables.folders import HAND_OVER, HOLDER, KEEP, PLAN
from sudare.tables.text_files import parse_json, read_bytes

if TYPE_CHECKING:
    from sudare.pview.pview import PView


@dataclass(frozen=True, eq=False)
class KeptFolder:
    """The folder `keep/` beside what is handed over of a p-view with this domain."""

    folder: Path
    domain: Domain

    @classmethod
    def of(cls, release: Path, domain: Domain) -> KeptFolder | None:
        """Return what is kept in the folder of a release; None if it has none, or is itself what is handed over."""
        both = [release / name for name in (HAND_OVER, KEEP)]
        return cls(both[1], domain) if all(folder.is_dir() for folder in both) else None

    @cached_property
    def design(self) -> PViewDesign:
        """What was decided without the data."""
        design = PViewDesign.from_json(self._read(PLAN))
        if design.domain.to_json() != self.domain.to_json():
            raise InputError(
                f"{self.folder / PLAN} is the design of another p-view than the one beside it. Open the folder as it was written."
            )
        return design

    def record(self, pview: PView) -> dict[str, Any]:
        """Read the holder's record."""
        data = self._read(HOLDER)
        if not isinstance(data, dict):
            raise InputError(
                f"{self.folder / HOLDER} is no holder's record. Open the folder as it was written."
            )
        return data

    def write(self, pview: PView, folder: Path, *, force: bool, ledger: Any, receiver: str | None) -> None:
        """Refuse it: to whom it may go must be recorded with the table that it was made from, which is not here."""
        raise InputError(
            "This p-view was opened, and only one that was just materialized can be written. Copy its folder, or save what may "
            "be handed over: pview.save(path)."
        )

    def _read(self, name: str) -> Any:
        path = self.folder / name
        if not path.is_file():
            raise InputError(
                f"There is no {path}: the holder's record and the design of a p-view are kept there."
            )
        return parse_json(read_bytes(path, "what is kept of the p-view"), str(path))
