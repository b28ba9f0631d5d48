"""Pictures at their edges: nothing to draw, below 0, odd labels; and as files."""

from __future__ import annotations

import re
import sys
import zlib
from importlib.util import find_spec
from xml.etree import ElementTree

import numpy as np
import pytest

from sudare.errors import MissingExtraError
from sudare.reports import charts
from tests.conftest import unavailable

SVG = "{http://www.w3.org/2000/svg}"


def texts(picture: str) -> list[str]:
    return [element.text or "" for element in ElementTree.fromstring(picture).iter(f"{SVG}text")]


def numbers(picture: str, tag: str, key: str, colour: str) -> list[float]:
    shapes = ElementTree.fromstring(picture).iter(f"{SVG}{tag}")
    return [float(e.get(key, "nan")) for e in shapes if colour in (e.get("fill"), e.get("stroke"))]


def pixels(png: bytes) -> np.ndarray:
    """Decode a PNG of 8 bits per channel, with the filters of the standard."""
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    width, height, depth, kind = np.frombuffer(png, ">u4", 2, 16).tolist() + list(png[24:26])
    channels = {2: 3, 6: 4}[kind]
    assert depth == 8
    data, at = b"", 8
    while at < len(png):
        size = int.from_bytes(png[at : at + 4])
        data += png[at + 8 : at + 8 + size] if png[at + 4 : at + 8] == b"IDAT" else b""
        at += size + 12
    rows = np.frombuffer(zlib.decompress(data), np.uint8).reshape(height, 1 + width * channels)
    image = np.zeros(
        (height + 1, (width + 1) * channels), np.uint8
    )  # a row and a pixel of 0 before the first
    for y, (kind, *row) in enumerate(rows.tolist(), start=1):
        above, line = image[y - 1].tolist(), [0] * channels
        for at, byte in enumerate(row):
            left, up, corner = line[at], above[at + channels], above[at]
            line.append((byte + FILTERS[kind](left, up, corner)) % 256)
        image[y] = line
    return image.reshape(height + 1, width + 1, channels)[1:, 1:, :3]


def paeth(left: int, up: int, corner: int) -> int:
    """Whichever is nearest to left + up - corner; of equals, the first."""
    return min(left, up, corner, key=lambda one: abs(left + up - corner - one))


FILTERS = (
    lambda left, up, corner: 0,
    lambda left, up, corner: left,
    lambda left, up, corner: up,
    lambda left, up, corner: (left + up) // 2,
    paeth,
)


@pytest.mark.parametrize(
    "picture",
    [
        charts.vertical_bars([], []),
        charts.vertical_bars(["a"], [0]),
        charts.share_bars([], []),
        charts.horizontal_bars(["a"], [0.0], ["0"], top=0.0),
        charts.lines([], "l"),
        charts.lines([charts.Line("nothing", {2: 0.0})], "l"),
        charts.grouped_bars([], []),
        charts.grouped_bars(["a"], [charts.Bars("before", [0], charts.BEFORE)], x_name="values left"),
        charts.transition_shades(np.zeros((1, 1)), ["a"]),
        charts.two_way_shades(np.zeros((1, 2)), ["a"], ["b", "c"], 0.0),
        charts.k_scale(1.0, 1),
    ],
)
def test_little_or_nothing_to_draw_is_still_a_picture(picture: str) -> None:
    assert "nan" not in picture
    assert ElementTree.fromstring(picture).tag == f"{SVG}svg"


def test_shares_above_the_top_stay_in_the_picture() -> None:
    assert numbers(charts.share_bars(["a", "b"], [0.5, 7.0]), "rect", "width", charts.AFTER) == [150, 300]


def test_values_below_0_go_to_the_left() -> None:
    picture = charts.horizontal_bars(["a", "b"], [0.3, -0.1], ["+0.3", "-0.1"], top=0.3)
    starts, widths = (numbers(picture, "rect", key, charts.AFTER) for key in ("x", "width"))
    assert starts == [245, 170]
    assert widths == [225, 75]
    assert numbers(picture, "line", "x1", charts.INK) == [245]


def test_marks_stand_at_their_share_and_their_names_do_not_overlap() -> None:
    picture = charts.share_bars(["a"], [0.2], marks={"1/2": 0.5, "1/8": 0.125, "1/9": 1 / 9})
    assert numbers(picture, "line", "x1", charts.AMBER) == [203.3, 207.5, 320]
    assert [text for text in texts(picture) if text.startswith("1/")] == ["1/9", "1/2"]


def test_labels_are_escaped_cut_and_free_of_control_characters() -> None:
    labels = ["<b>&", "x\x00\ny", "糖尿病" * 5, "w" * 40, "w" * 24, "\ud800"]
    for picture in (charts.vertical_bars(labels, [1] * 6), charts.share_bars(labels, [0.1] * 6)):
        shown = texts(charts.standalone(picture, "<i>"))
        assert {"<i>", "<b>&", "x··y", "·"} <= set(shown)
    assert {"糖尿病糖尿病糖尿病糖尿…", "w" * 23 + "…", "w" * 24} <= set(shown)


def test_lines_have_round_ticks_and_a_legend() -> None:
    first = charts.Line("first", {2: 0.1257, 4: 0.2327})
    picture = charts.lines([first, charts.Line("second", {3: 0.1}, charts.AMBER)], "l or k")
    written = texts(picture)
    assert [text for text in written if "." in text] == ["0.00", "0.05", "0.10", "0.15", "0.20", "0.25"]
    assert written[6:] == ["2", "3", "4", "l or k", "first", "second"]
    (points,) = re.findall(r'<polyline points="([^"]*)" fill="none" stroke="#2f6f5e"', picture)
    assert points == "68.0,106.5 428.0,25.1"


def two(before: list[float], after: list[float], **options: bool) -> list[charts.Bars]:
    return [
        charts.Bars("original", before, charts.BEFORE),
        charts.Bars("published", after, charts.LIGHT, **options),
    ]


def test_bars_beside_each_other_have_one_scale_and_every_label() -> None:
    labels = [str(i) for i in range(1, 21)]
    picture = charts.grouped_bars(labels, two([100.0] + [0.0] * 19, [0.0] * 19 + [50.0]), x_name="left")
    before, after = (numbers(picture, "rect", "height", c)[1:] for c in (charts.BEFORE, charts.LIGHT))
    assert max(before) == 2 * max(after) == 180
    assert sum(height > 0 for height in (*before, *after)) == 2
    assert [text for text in texts(picture) if text.isdigit()][-20:] == labels
    assert texts(picture)[-1] == "left"


def test_a_bar_that_is_far_too_tall_is_cut_only_if_it_may_leave() -> None:
    cut = charts.grouped_bars(["a", "b"], two([10, 20], [500, 5], may_leave=True))
    assert "↑ 500" in texts(cut)
    assert "20" in texts(cut)
    whole = charts.grouped_bars(["a", "b"], two([10, 20], [500, 5]))
    assert "↑ 500" not in texts(whole)
    assert "500" in texts(whole)


def test_estimates_are_dots_and_an_interval_that_leaves_has_no_end_bar() -> None:
    dots = charts.Dots("estimated", [charts.Interval(9, 5, 15), charts.Interval(21, 18, 900)])
    picture = charts.grouped_bars(["a", "b"], two([10, 20], [9, 19]), dots)
    assert len(numbers(picture, "circle", "cy", charts.AFTER)) == 3  # with that of the legend
    assert len(numbers(picture, "line", "x1", charts.AFTER)) == 2 + 2 + 1
    assert "estimated" in texts(picture)
    assert "b: 21 (18 to 900)" in picture
    assert "estimated" not in charts.grouped_bars(["a"], two([1], [1]))


def test_equal_shades_are_drawn_as_one_and_few_have_their_numbers() -> None:
    alike = charts.transition_shades(np.full((20, 20), 0.05), [str(i) for i in range(20)])
    assert alike.count("<rect") == 20 + 1
    few = charts.transition_shades(np.array([[0.9, 0.2], [0.1, 0.8]]), ["yes", "no"])
    assert [text for text in texts(few) if text.endswith("0%")][1:] == ["90.0%", "20.0%", "10.0%", "80.0%"]


def test_two_way_tables_are_as_dark_as_the_root_of_their_counts() -> None:
    picture = charts.two_way_shades(np.array([[16.0, 4.0]]), ["a"], ["b", "c"], 16.0)
    assert numbers(picture, "rect", "fill-opacity", charts.AFTER) == [1.0, 0.5]


def test_labels_lean_only_where_they_do_not_fit_and_never_run_into_each_other() -> None:
    def leaning(picture: str) -> list[float]:
        return [float(x) for x in re.findall(r"rotate\(28 ([\d.]+) ", picture)]

    assert leaning(charts.vertical_bars(["a", "b"], [1, 2])) == []
    places = leaning(charts.vertical_bars(["a long label"] * 60, [1] * 60))
    assert 10 <= len(places) <= 14
    assert min(np.diff(places)) >= 30


def test_a_text_from_data_is_never_markup() -> None:
    hostile = "</text><script>alert(1)</script>"
    bars = [charts.Bars(hostile, [1], charts.BEFORE)]
    for picture in (
        charts.vertical_bars([hostile], [1]),
        charts.share_bars([hostile], [0.5], marks={hostile: 0.1}),
        charts.horizontal_bars([hostile], [1.0], [hostile]),
        charts.lines([charts.Line(hostile, {2: 1.0})], hostile),
        charts.grouped_bars(
            [hostile], bars, charts.Dots(hostile, [charts.Interval(1, 0, 2)]), x_name=hostile
        ),
        charts.transition_shades(np.eye(1), [hostile]),
        charts.two_way_shades(np.eye(1), [hostile], [hostile], 1.0),
    ):
        for drawn in (picture, charts.standalone(picture, hostile)):
            assert "<script" not in drawn
            assert {node.tag for node in ElementTree.fromstring(drawn).iter()} <= {
                f"{SVG}{tag}"
                for tag in ("svg", "g", "style", "rect", "line", "circle", "polyline", "text", "title")
            }


@pytest.mark.parametrize("highest", [0.0007, 0.0199, 0.2, 0.31, 0.5, 1.0, 97.0])
def test_the_grid_has_few_lines_and_holds_the_highest(highest: float) -> None:
    picture = charts.lines([charts.Line("a", {2: highest})], "l")
    assert 2 <= len(numbers(picture, "line", "y1", charts.FAINT)) <= 5
    assert min(numbers(picture, "circle", "cy", charts.AFTER)) >= 12


def test_ticks_that_would_run_into_each_other_are_left_out() -> None:
    picture = charts.lines([charts.Line("a", dict.fromkeys((2, 100, 101, 102, 1000), 0.1))], "k")
    assert {"2", "100", "1000"} <= set(texts(picture))
    assert "101" not in texts(picture)


def test_a_standalone_picture_is_a_real_png() -> None:
    if find_spec("resvg_py") is None:
        unavailable("resvg-py is not installed: pip install 'sudare[plots]'")
    alone = charts.standalone(charts.share_bars(["a", "b"], [0.5, 1.0]), "Title")
    size = re.match(r'<svg viewBox="0 0 (\d+) (\d+)"', alone)
    assert size
    image = pixels(charts.png_renderer()(alone))
    assert image.shape[:2] == (charts.SCALE * int(size[2]), charts.SCALE * int(size[1]))
    assert (image[0, 0] == 255).all()
    green = (image == [0x2F, 0x6F, 0x5E]).all(axis=2).sum()
    assert green == pytest.approx(charts.SCALE**2 * 16 * (150 + 300), rel=0.02)


def test_without_the_extra_a_png_is_refused_with_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "resvg_py", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'sudare\[plots\]'"):
        charts.png_renderer()


def test_every_colour_of_a_picture_has_one_for_the_dark() -> None:
    drawn = [
        charts.vertical_bars(["a"], [1]),
        charts.share_bars(["a", "b"], [0.1, 0.2], [charts.BEFORE, charts.AFTER], marks={"m": 0.1}),
        charts.paired_bars(["a"], [charts.Bars("x", [1], charts.LIGHT)]),
        charts.grouped_bars(
            ["a"], [charts.Bars("x", [1], charts.LIGHT)], charts.Dots("d", [charts.Interval(1, 0, 2)])
        ),
        charts.k_scale(3, 10),
        charts.lines([charts.Line("l", {1: 0.1, 2: 0.2}, charts.AMBER)], "k"),
        charts.transition_shades(np.eye(2), ["a", "b"]),
        charts.two_way_shades(np.eye(2), ["a", "b"], ["c", "d"], 1.0),
    ]
    used = {colour for one in drawn for colour in re.findall(r"#[0-9a-f]{6}", str(one))}
    assert used
    assert used <= set(charts.DARK)
    assert not set(charts.DARK) & set(charts.DARK.values())
