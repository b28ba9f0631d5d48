"""What the paper prints: Table 1, by case, k and value."""

from __future__ import annotations

from typing import NamedTuple

KS = (2, 10, 100)


class Pair(NamedTuple):
    """A figure for the conventional PRAM, and for the optimal one."""

    conventional: float
    optimal: float


class Printed(NamedTuple):
    """What 100 runs gave for a case and a k."""

    ave: Pair
    """|| mean of the runs' histograms - v ||."""
    opt: Pair
    """|| P v - v ||: the same for runs without end."""
    least: Pair
    """The least || v^j - v || of a run j."""
    most: Pair


PAPER: dict[int, dict[int, Printed]] = {
    1: {
        2: Printed(Pair(380.9, 15.5), Pair(382.7, 0.0), Pair(371.7, 117.9), Pair(439.4, 195.6)),
        10: Printed(Pair(764.1, 196.9), Pair(763.4, 200.5), Pair(730.2, 237.5), Pair(857.6, 331.1)),
        100: Printed(Pair(1168.5, 841.0), Pair(1169.7, 845.1), Pair(1117.8, 803.3), Pair(1242.3, 930.2)),
    },
    2: {
        2: Printed(Pair(544.7, 493.9), Pair(543.5, 493.4), Pair(505.0, 465.5), Pair(574.7, 522.2)),
        10: Printed(Pair(797.6, 785.7), Pair(796.2, 786.7), Pair(763.5, 757.7), Pair(834.6, 818.5)),
        100: Printed(Pair(952.1, 946.6), Pair(950.6, 947.2), Pair(930.8, 919.3), Pair(975.9, 975.3)),
    },
    3: {
        2: Printed(Pair(840.9, 736.5), Pair(841.7, 736.4), Pair(809.5, 714.4), Pair(890.4, 799.7)),
        10: Printed(Pair(1604.0, 1508.7), Pair(1602.2, 1510.2), Pair(1570.9, 1470.5), Pair(1671.8, 1570.6)),
        100: Printed(Pair(2338.5, 2289.6), Pair(2340.7, 2290.9), Pair(2286.7, 2226.8), Pair(2399.1, 2337.5)),
    },
}
