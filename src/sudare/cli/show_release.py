"""What commands print of a release that they wrote, for people and for machines."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from sudare.cli.output import print_json, print_table, say
from sudare.privacy.certificate import Certificate
from sudare.release.release import Release
from sudare.tables.databases import safe_name
from sudare.tables.folders import HAND_OVER, KEEP, REPORT


def print_release(
    release: Release, folder: Path, to: str | None, show: Callable[[Release], None], *, json: bool
) -> None:
    """Print a release that was written: all of it as JSON, or what `show` prints, and where it is."""
    if json:  # to its holder, so the holder's record too
        certificate = release.certificate.model_dump(mode="json")
        print_json({"folder": str(folder), "certificate": certificate, "holder": release.holder})
        return
    show(release)
    say("Hand over [b]{}[/].", folder / HAND_OVER)
    if to is not None:
        say("Its rows are in [b]{}[/].", safe_name(to))
    say("Keep [b]{}[/]: it tells about the original. Look at [b]{}[/]", folder / KEEP, folder / KEEP / REPORT)


def show_release(release: Release) -> None:
    """Print what holds of one generalized table, and what it cost."""
    certificate, holder = release.certificate, release.holder
    records, utility, bound = holder["records"], holder["utility"], holder["bound"]
    counts, published = (
        utility["query_error"],
        certificate.utility,
    )  # blocks of the same labels are one to who reads them
    least = "" if bound is None else f" (no method can do better than {bound:.4f})"
    rows = [
        ["measured on the output", _written(certificate.measured)],
        ["distortion", f"{utility['distortion']:.4f}{least}"],
        ["random counts are off by", f"{counts['median']:.1%} (median), {counts['mean']:.1%} (mean)"],
        ["blocks", f"{published['blocks']:,}, of {published['average_block']:.1f} records on average"],
        ["records published", f"{records['published']:,} of {records['read']:,}"],
    ]
    for name, lost in utility.get("numbers", {}).items():
        rows.append([f"variance of {name} lost by its numbers", f"{lost['lost']:.1%}"])
    if scores := utility.get("prediction"):
        beside = f"original {scores['original']:.1%}, guess {scores['guess']:.1%}"
        rows.append([f"{scores['target']} predicted right", f"{scores['published']:.1%} ({beside})"])
    print_table(" and ".join(certificate.requirements), ["", ""], rows)
    if (text := holder["method"]["text"]) is not None:
        say("{}", text)
    for text in holder["warnings"]:
        say("[yellow]Warning:[/] {}", text)
    show_caveats(certificate.caveats)


def show_what_holds(certificate: Certificate, measured: Mapping[str, float]) -> None:
    """Print in one line what was promised, and what was measured."""
    say("[b]{}[/]: [green]holds[/], {}", " and ".join(certificate.requirements), _written(measured))


def show_caveats(caveats: Iterable[str]) -> None:
    """Print what is not promised."""
    for caveat in caveats:
        say("[yellow]Not covered:[/] {}", caveat)


def _written(measured: Mapping[str, float]) -> str:
    return ", ".join(f"{name} = {value:g}" for name, value in measured.items())
