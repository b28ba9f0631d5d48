"""What the paper prints: Tables 3 and 4, by table and l."""

from __future__ import annotations

from typing import NamedTuple


class Printed(NamedTuple):
    """One row of Table 3, with the row of Table 4 that belongs to it. None: blank or NA in the paper."""

    bound_l: float
    reached_l: float | None
    ratio_l: float | None
    max_blocks: int
    min_block_distinct: int
    min_block_entropy: int | None
    bound_k: float
    """For k = l, as is the next."""
    ratio_k: float
    reached_e: float | None
    """The DIS of k-anonymity with k = BS_e."""
    ratio: float | None
    """bound_l / reached_e."""

    @property
    def reached_k(self) -> float:
        """What k-anonymity reached with k = l; the paper prints only its ratio to the bound."""
        return self.ratio_k * self.bound_k


PAPER: dict[str, dict[int, Printed]] = {
    "data1": {
        2: Printed(0.0089, 0.039, 4.38, 500, 2, 2, 0.0086, 3.37, 0.029, 0.3068),
        4: Printed(0.0269, 0.125, 4.64, 250, 4, 4, 0.0128, 3.67, 0.047, 0.5723),
        8: Printed(0.1493, None, None, 108, 10, 11, 0.0555, 2.49, 0.123, 1.2134),
    },
    "data2": {
        4: Printed(0.2670, 0.413, 1.55, 2500, 4, 4, 0.2666, 1.70, 0.452, 0.5907),
        8: Printed(0.2883, 0.468, 1.62, 1250, 8, 8, 0.2876, 1.45, 0.469, 0.6147),
        10: Printed(0.2943, 0.484, 1.64, 1000, 10, 10, 0.2930, 1.62, 0.475, 0.6200),
    },
    "data3": {
        2: Printed(0.1667, 0.563, 3.38, 2911, 2, 2, 0.0497, 1.59, 0.079, 2.1101),
        4: Printed(0.2350, 0.819, 3.49, 1456, 4, 4, 0.0815, 1.66, 0.135, 1.7407),
        8: Printed(0.2780, None, None, 716, 9, 9, 0.1186, 1.15, 0.139, 2.0000),
    },
    "data4": {
        2: Printed(0.2337, 0.631, 2.70, 2911, 2, 2, 0.0504, 1.61, 0.081, 2.8852),
        4: Printed(0.2877, 0.829, 2.88, 1297, 5, 7, 0.0828, 1.64, 0.139, 2.0698),
        8: Printed(0.3505, None, None, 540, 11, None, 0.1189, 1.15, None, None),
    },
    "data5": {
        2: Printed(0.5743, 0.589, 1.03, 2844, 2, 2, 0.5743, 1.04, 0.599, 0.9588),
        4: Printed(0.5947, 0.718, 1.21, 1422, 4, 4, 0.5947, 1.28, 0.764, 0.7784),
        8: Printed(0.6078, 0.773, 1.27, 711, 8, 8, 0.6078, 1.29, 0.762, 0.7976),
    },
    "data6": {
        2: Printed(0.0950, 0.405, 4.26, 5000, 2, 2, 0.0025, 1.20, 0.003, 16.667),
        4: Printed(0.1182, 0.460, 3.89, 1716, 6, 8, 0.0172, 1.40, 0.044, 2.6863),
        8: Printed(0.1426, None, None, 627, 16, None, 0.0358, 1.23, None, None),
    },
}
