"""How far apart two values are: what a changed record costs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from sudare.errors import ParameterError
from sudare.privacy.requirement import one_of
from sudare.randomization.channel import Floats, as_numbers
from sudare.tables.hierarchy import Hierarchy
from sudare.tables.typed import typed

Distance = Literal["exact", "order"]


def distances(distance: Distance | ArrayLike, size: int) -> Floats:
    """Return a table of distances: D[i, j] is what it costs that a record of value j is published as i.

    "exact" costs 1 for every other value, "order" the number of places between them over the most there can be. Or give a table
    of your own, such as `tree_distances` of a hierarchy.

    >>> distances("order", 3).tolist()
    [[0.0, 0.5, 1.0], [0.5, 0.0, 0.5], [1.0, 0.5, 0.0]]
    """
    if isinstance(distance, str):
        one_of(distance, "distance", "optimal", ("exact", "order"))
        if distance == "exact":
            return np.asarray(1.0 - np.eye(size))
        places = np.arange(size)
        return np.asarray(np.abs(places[:, None] - places) / max(size - 1, 1))
    given = as_numbers(distance)
    if (
        given.shape != (size, size)
        or not np.isfinite(given).all()
        or (given < 0).any()
        or given.diagonal().any()
    ):
        raise ParameterError(
            f"The 'distance' parameter of optimal must be 'exact', 'order', or {size} x {size} numbers of 0 or more, "
            "with 0 from each value to itself."
        )
    return given


@typed
def tree_distances(hierarchy: Hierarchy, values: Sequence[str | None] | None = None) -> Floats:
    """Return how far up two values meet, over the height of the hierarchy: of all its leaves, or of some in their order.

    >>> tree = Hierarchy.from_rows([("a", "A", "*"), ("b", "A", "*"), ("c", "C", "*")])
    >>> tree_distances(tree).tolist()
    [[0.0, 0.5, 1.0], [0.5, 0.0, 1.0], [1.0, 1.0, 0.0]]
    """
    leaves = list(hierarchy.leaves)
    wanted = leaves if values is None else list(values)
    if unknown := [value for value in wanted if value not in leaves]:
        raise ParameterError(f"The hierarchy has no leaf {unknown[0]!r}. Name values that it has.")
    places = np.array([leaves.index(value) for value in wanted])
    return np.asarray(hierarchy.meet(places[:, None], places) / hierarchy.height)
