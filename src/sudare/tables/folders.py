"""The two folders of a release: what is handed over, and what is kept.

out/
  hand-over/   data.parquet, data.csv (of several views: NAME.parquet, NAME.csv), law.json, certificate.json;
               copies in other formats that were asked for: data.xlsx, data.ods, data.dta, data.sav, data.json;
               a large table stands in data.00001.parquet, data.00002.parquet, ...
  keep/        report.html, plan.json, holder.json: they tell about the original, and only the owner can read them;
               evidence.html, where it was asked for
"""

from __future__ import annotations

from pathlib import Path

from sudare.errors import InputError

HAND_OVER, KEEP = "hand-over", "keep"
CERTIFICATE, LAW = "certificate.json", "law.json"
REPORT, PLAN, HOLDER, EVIDENCE = "report.html", "plan.json", "holder.json", "evidence.html"
MARK = f"{HAND_OVER}/{CERTIFICATE}"
"""The file that marks a folder as a release: only such a folder may be replaced."""


def handed_over(path: str | Path) -> Path:
    """Return the folder that is handed over, given the release's folder or that one itself.

    >>> handed_over("nowhere")
    PosixPath('nowhere')
    """
    folder = Path(path)
    return folder / HAND_OVER if (folder / HAND_OVER).is_dir() else folder


def existing(path: str | Path) -> Path:
    """Return the folder that is handed over, if there is any.

    >>> existing("nowhere")
    Traceback (most recent call last):
    sudare.errors.InputError: nowhere: there is no such file or folder.
    """
    if not Path(path).exists():
        raise InputError(f"{path}: there is no such file or folder.")
    return handed_over(path)
