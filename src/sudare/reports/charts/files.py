"""Pictures as files of their own: SVG with a title, and PNG."""

from __future__ import annotations

from collections.abc import Callable
from xml.etree import ElementTree

from markupsafe import Markup

from sudare.errors import MissingExtraError
from sudare.reports.charts.svg import INK, QUIET, element, picture

# What draws PNGs takes sans-serif for Arial alone, and leaves out all text where that is not installed.
FONTS = "Arial, Helvetica, 'Liberation Sans', 'DejaVu Sans', 'Noto Sans', sans-serif"
# A page brings its own style; a picture in a file of its own needs this one.
STYLE = (
    f"text {{ font-family: {FONTS}; font-size: 11px; fill: {INK}; }} "
    f"text.axis {{ fill: {QUIET}; }} text.title {{ font-size: 13px; font-weight: bold; }}"
)
SCALE = 2  # pixels of a PNG per pixel of its picture: sharp in print and on fine screens


def standalone(drawn: Markup, title: str) -> Markup:
    """Return a picture as a file of its own: with a title, a white ground and its own style."""
    width, height = (float(ElementTree.fromstring(drawn).get(side, 0)) for side in ("width", "height"))
    shapes = [
        element("style", STYLE),
        element("rect", width="100%", height="100%", fill="white"),
        element("text", title, x=16, y=26, class_="title"),
        element("g", drawn, transform="translate(16 40)"),
    ]
    return picture(width + 32, height + 52, shapes)


def png_renderer() -> Callable[[str], bytes]:
    """Return what turns a standalone picture into a PNG."""
    try:
        from resvg_py import svg_to_bytes
    except ImportError:
        raise MissingExtraError("A picture as PNG", "plots") from None
    return lambda drawn: svg_to_bytes(svg_string=str(drawn), zoom=SCALE)
