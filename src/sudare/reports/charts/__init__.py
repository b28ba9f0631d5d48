"""Charts: small pictures as inline SVG, so that a page opens without a network; and the same as files of their own."""

from sudare.reports.charts.bars import (
    Bars,
    Dots,
    Interval,
    grouped_bars,
    horizontal_bars,
    paired_bars,
    share_bars,
    vertical_bars,
)
from sudare.reports.charts.files import SCALE, STYLE, png_renderer, standalone
from sudare.reports.charts.line_chart import Line, lines
from sudare.reports.charts.scale import k_scale
from sudare.reports.charts.shades import transition_shades, two_way_shades
from sudare.reports.charts.svg import AFTER, AMBER, BEFORE, DARK, FAINT, INK, LIGHT, QUIET

__all__ = [
    "AFTER", "AMBER", "BEFORE", "DARK", "FAINT", "INK", "LIGHT", "QUIET", "SCALE", "STYLE",
    "Bars", "Dots", "Interval", "Line",
    "grouped_bars", "horizontal_bars", "k_scale", "lines", "paired_bars", "png_renderer", "share_bars", "standalone",
    "transition_shades", "two_way_shades", "vertical_bars",
]  # fmt: skip
