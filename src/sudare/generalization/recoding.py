"""Local recoding: every block is generalized on its own, as far as its records need and no further."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sudare.generalization import _kernels
from sudare.generalization.problem import Problem, published_column
from sudare.tables.schema import Role
from sudare.tables.table import Table


@dataclass(frozen=True, eq=False)
class Recoding:
    """Which block each unit is in (-1: left out), and to which level each block's attributes climb."""

    method: str
    problem: Problem
    block_of: NDArray[np.int64]
    levels: NDArray[np.int16]

    @classmethod
    def of(cls, method: str, problem: Problem, block_of: NDArray[np.int64]) -> Recoding:
        """Number the blocks anew and find the lowest level at which the records of each are alike."""
        found, renumbered = np.unique(block_of[block_of >= 0], return_inverse=True)
        place = np.full(len(block_of), -1, dtype=np.int64)
        place[block_of >= 0] = renumbered
        levels = _kernels.block_levels(problem.units, place, len(found), problem.trees)
        return cls(method, problem, place, levels)

    @property
    def kept(self) -> NDArray[np.bool_]:
        """Which rows of the table are published."""
        return np.asarray(self.block_of[self.problem.row_unit] >= 0)

    def row_levels(self) -> NDArray[np.int16]:
        """Return the level of every cell, rows x quasi attributes; the root for rows that are left out."""
        unit_levels = np.where(
            self.block_of[:, None] >= 0,
            self.levels[self.block_of],
            self.problem.trees.height.astype(np.int16),
        )
        return unit_levels[self.problem.row_unit]

    def block_sizes(self) -> NDArray[np.int64]:
        """Return how many records each block has."""
        inside = self.block_of >= 0
        return np.bincount(self.block_of[inside], self.problem.weights[inside]).astype(np.int64)

    def distortion(self) -> float:
        """Return DIS: the mean cost of a cell; a record that is left out costs 1."""
        costs = np.append(self.levels @ self.problem.trees.step, 1.0)  # block -1 is the last
        return float((costs[self.block_of] * self.problem.weights).sum() / self.problem.weights.sum())

    def apply(self, table: Table) -> pl.DataFrame:
        """Return what is published: quasi values generalized, identifiers and left-out records gone."""
        levels, place = self.row_levels(), {name: a for a, name in enumerate(self.problem.names)}
        columns = []
        for name, column in table.columns.items():
            if name in place:
                column_levels = levels[:, place[name]]
                columns.append(
                    published_column(self.problem, place[name], column_levels, column.codes)
                    if column_levels[self.kept].any()
                    else column.decode()
                )
            elif table.schema[name].role != Role.identifier:
                columns.append(column.decode())
        return pl.DataFrame(columns).filter(self.kept)

    def to_json(self) -> dict[str, Any]:
        """Return the plan as plain data: the blocks as they are published, and which original tuples go where."""
        problem = self.problem
        first = np.full(len(self.levels), -1, dtype=np.int64)
        inside = np.flatnonzero(self.block_of >= 0)
        first[self.block_of[inside][::-1]] = inside[::-1]
        sizes = self.block_sizes()
        blocks = [
            {
                "size": int(sizes[b]),
                "levels": self.levels[b].tolist(),
                "values": [
                    h.labels[level][h.codes[level, problem.units[first[b], a]]]
                    for a, (h, level) in enumerate(zip(problem.hierarchies, self.levels[b], strict=True))
                ],
            }
            for b in range(len(self.levels))
        ]
        return {
            "method": self.method,
            "attributes": problem.names,
            "blocks": blocks,
            "tuples": {
                "columns": [*problem.names, "sensitive code", "records", "block"],
                "rows": [
                    [*(h.leaves[code] for h, code in zip(problem.hierarchies, unit, strict=True)), *rest]
                    for unit, *rest in zip(
                        problem.units,
                        problem.sensitive.tolist(),
                        problem.weights.tolist(),
                        self.block_of.tolist(),
                        strict=True,
                    )
                ],
            },
        }
