"""Every step as code: the Python that a project's process runs, and the same as a script."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from sudare.studio.choices import Choice, Generalizing, Materializing, Randomizing
from sudare.studio.notebook import Kind
from sudare.studio.project import LEDGER, SAMPLE, Project, stamp

Held = Literal["kept", "held", "once"]
"""A cell is kept once it ran; or must be held already; or is run each time that it is asked for."""
HEAD = "import sudare as sd"
ASSESSED_L, ASSESSED_K = [2, 3, 4, 8], [2, 5, 10, 20]


def cell(name: str, lines: Sequence[str], *, rests: str = "", kind: Held = "kept") -> dict[str, str]:
    """Return some Python as a project's process takes it; `rests` names the content of files that it reads."""
    return {"name": name, "code": "\n".join(lines), "rests": rests, "kind": kind}


# -- Python ------------------------------------------------------------------------------------------


def opening(project: Project) -> list[str]:
    """Draft a schema."""
    return [HEAD, "from sudare.verbs.draft import draft", f"drafted = draft({project.facts.source!r})"]


def reading(project: Project) -> list[str]:
    """Read the table with its schema."""
    return [
        HEAD,
        *([] if project.facts.drawn_from is None else [f"drawn_from = {project.facts.drawn_from!r}"]),
        f"schema = sd.Schema.from_toml({str(project.schema_path)!r})",
        f"table = sd.read({project.facts.source!r}, schema)",
    ]


def risking() -> list[str]:
    """Say who stands out."""
    return ['risk = sd.attack(table, schema, kind="reidentification")']


def among(project: Project) -> list[str]:
    """Say what of the table is told to who does not know whether a person is in it: by weights or a share, and by a population."""
    share, people, found = (
        project.facts.sampling_fraction,
        project.facts.population,
        ["sampled = mapped = None"],
    )
    if share is not None or project.schema().names("weight"):
        known = {} if share is None else {"sampling_fraction": share}
        found.append(f"sampled = {_call('sd.attack', 'table', 'schema', kind='population', **known)}")
    if people is not None:
        found.append(f"mapped = {_call('sd.attack', 'table', 'schema', kind='k_map', population=people)}")
    return found


def telling_apart(project: Project) -> list[str]:
    """Find the sets of columns by which people are alone."""
    return [
        "from sudare.privacy.column_sets import column_sets",
        f"sets = column_sets(table, {project.facts.columns_together})",
    ]


def drawing(share: float, path: Path) -> list[str]:
    """Draw a share of the people, and write them."""
    return [
        "from sudare.verbs.draw import write_drawn",
        f"drawn = sd.draw(table, share={share!r})",
        f"beside = write_drawn(drawn, {str(path)!r})",
    ]


def assessing(attribute: str) -> list[str]:
    """Say what can be promised."""
    return [f"assessment = sd.assess(table, l={ASSESSED_L}, k={ASSESSED_K}, attribute={attribute!r})"]


def requirements(chosen: Generalizing, people: str | None = None) -> list[str]:
    """Return what is asked of blocks, as Python; `people` is what the population is called that was read already."""
    asked = []
    if chosen.k is not None:
        asked.append(f"sd.KAnonymity({chosen.k})")
    if chosen.l is not None:
        more: dict[str, Any] = {}
        if chosen.diversity == "recursive":
            more["c"] = chosen.c
        more |= {"attribute": chosen.attribute} if chosen.attribute else {}
        more |= {"harmless": chosen.harmless} if chosen.harmless else {}
        if chosen.diversity == "proximity":
            more |= {"within": chosen.within} | ({"relative": True} if chosen.relative else {})
        asked.append(_call("sd.LDiversity", number(chosen.l), repr(chosen.diversity), **more))
    if chosen.t is not None:
        more = {"distance": chosen.distance} | ({"attribute": chosen.attribute} if chosen.attribute else {})
        asked.append(_call("sd.TCloseness", repr(chosen.t), **more))
    more = {"attribute": chosen.attribute} if chosen.attribute else {}
    if chosen.beta is not None:
        asked.append(_call("sd.BetaLikeness", repr(chosen.beta), repr(chosen.likeness), **more))
    if chosen.disclosure is not None:
        asked.append(_call("sd.DeltaDisclosure", repr(chosen.disclosure), **more))
    if chosen.k_map is not None:
        asked.append(f"sd.KMap({chosen.k_map}, population={people or repr(chosen.population)})")
    if chosen.d_max is not None:
        ends = f"{chosen.d_max!r}, {chosen.d_min!r}"
        asked.append(f"sd.DeltaPresence({ends}, population={people or repr(chosen.population)})")
    return asked


def sampling(project: Project) -> list[str]:
    """Read the sample, with the hierarchies that the whole table has."""
    sample = str(project.folder / SAMPLE)
    return [
        HEAD,
        f"sampled = sd.Schema.from_toml({sample + '.toml'!r})",
        f"sample = sd.read({sample!r}, sampled)",
    ]


def looking(chosen: Generalizing) -> list[str]:
    """Look at the lattice of levels: all of it, or around the levels that were taken."""
    options: dict[str, Any] = {"suppress": chosen.suppress} if chosen.suppress else {}
    if chosen.taken:
        options["around"] = chosen.taken
    asked = f"[{', '.join(requirements(chosen.of_blocks))}]"
    return [
        "from sudare.generalization.nodes import lattice",
        f"seen = {_call('lattice', 'sample', asked, **options)}",
    ]


def making(choice: Choice, ledger: Path, receiver: str | None = None) -> list[str]:
    """Make the release that was chosen."""
    options: dict[str, Any]
    if choice.way == "generalize":
        chosen = choice.generalize
        options = {"method": chosen.method}
        if chosen.may_suppress:
            options["suppress"] = chosen.suppress
        if chosen.method == "minimal":
            options["effort"] = chosen.effort
        if chosen.taken:
            options["levels"] = chosen.taken
        if chosen.predict:
            options["predict"] = chosen.predict
        asked = f"[{', '.join(requirements(chosen))}]"
        return [f"release = {_call('sd.generalize', 'table', asked, **options)}"]
    if choice.way == "views":
        views = choice.views
        options = {} if views.kind == "distinct" else {"kind": views.kind}
        if views.attribute:
            options["attribute"] = views.attribute
        asked = _call("sd.MultiViewDiversity", number(views.l), **options)
        return [f"release = sd.generalize_views(table, {views.views!r}, {asked})"]
    if choice.way == "randomize":
        return [f"release = {randomizing(choice.randomize, 'table')}"]
    options = {"receiver": receiver} if receiver else {}
    asked = of_budget(choice.pview)
    return [
        f"ledger = sd.Ledger({str(ledger)!r})",
        f"release = {_call('sd.materialize', 'table', asked, 'ledger=ledger', **options)}",
    ]


def randomizing(chosen: Randomizing, table: str) -> str:
    """Randomize a table."""
    if chosen.promise == "pk":
        asked = f"sd.PkAnonymity({number(chosen.k)})"
    else:
        asked = _call("sd.DifferentialPrivacy", repr(chosen.epsilon), per="record")
    options = {"how": dict.fromkeys(chosen.bins, "bins")} if chosen.bins else {}
    return _call("sd.randomize", table, asked, **options)


def of_budget(chosen: Materializing) -> str:
    """Return what is asked of a p-view, as Python."""
    delta = [repr(chosen.delta)] if chosen.delta else []
    return _call("sd.DifferentialPrivacy", repr(chosen.epsilon), *delta)


def attacking() -> list[str]:
    """Attack what is published, as an outsider would, and the original beside it."""
    return [
        "from sudare.attacks.attack import attack_each",
        'kinds = ["reidentification", *(["homogeneity", "background", "skewness"] if schema.names("sensitive") else [])]',
        "before = attack_each(table, schema, kinds)",
        'after = attack_each(release.handed_over.frames["data"], schema, kinds)',
    ]


def together(columns: Sequence[str]) -> list[str]:
    """Count two columns together, in the table and in what is published."""
    return [
        f"pair = {list(columns)!r}",
        "together_before = table.counts(pair)",
        'together_after = release.handed_over.frames["data"].counted(pair).grouped()',
    ]


def writing(
    folder: Path, ledger: Path | None, receiver: str | None, formats: Sequence[str] = ()
) -> list[str]:
    """Write the release, tell the ledger, and verify the files."""
    lines = []
    options: dict[str, Any] = {}
    if formats:
        options["formats"] = list(formats)
    if receiver and ledger:
        options["receiver"] = receiver
    arguments = [repr(str(folder))]
    if ledger is not None:
        lines.append(f"ledger = sd.Ledger({str(ledger)!r})")
        arguments.append("ledger=ledger")
    lines.append(f"folder = {_call('release.write', *arguments, **options)}")
    return [*lines, f"verification = sd.verify({str(folder / 'hand-over')!r})"]


def _call(function: str, *arguments: str, **options: Any) -> str:
    named = (f"{name}={value!r}" for name, value in options.items())
    return f"{function}({', '.join([*arguments, *named])})"


def number(value: float) -> str:
    """Write 3.0 as 3.

    >>> number(3.0), number(2.5)
    ('3', '2.5')
    """
    return str(int(value)) if float(value).is_integer() else repr(value)


# -- Which cells a step needs ------------------------------------------------------------------------


def sensitive_attribute(project: Project) -> str | None:
    """Return the sensitive attribute that is meant: the chosen one, or the first."""
    sensitive = project.schema().names("sensitive")
    chosen = project.facts.choice.generalize.attribute
    return chosen if chosen in sensitive else next(iter(sensitive), None)


def table_cell(project: Project) -> dict[str, str]:
    """Read the table again only if its schema is another."""
    return cell("table", reading(project), rests=project.schema_stamp())


def sample_cell(project: Project) -> dict[str, str]:
    """Read the sample again only if the table was, or its schema is another."""
    found = project.facts.results.get("read")
    read_at = found.at if found else ""
    return cell("sample", sampling(project), rests=stamp(f"{read_at}{project.schema_stamp()}".encode()))


def run_cell(
    project: Project, *, held: bool = False, attempt: str = "", receiver: str | None = None
) -> dict[str, str]:
    """Make the release; later steps ask that it is `held`, and do not make another."""
    ledger = project.folder.parent / LEDGER
    lines = making(project.facts.choice, ledger, receiver)
    return cell("release", lines, rests=attempt, kind="held" if held else "kept")


def script(project: Project, steps: Mapping[str, Sequence[str]]) -> str:
    """Write the steps as one file that runs as it is."""
    return "\n".join(_script_lines(project, steps)) + "\n"


def cells(steps: Mapping[str, Sequence[str]]) -> Iterator[tuple[Kind, str]]:
    """Yield the cells of a notebook of the steps: a title and a cell for each.

    >>> [source for _, source in cells({"Read": ["import sudare as sd"]})][1:]
    ['## Read', 'import sudare as sd']
    """
    yield "markdown", "# Written by Sudare's studio"
    for name, lines in steps.items():
        yield "markdown", f"## {name}"
        yield "code", "\n".join(lines)


def _script_lines(project: Project, steps: Mapping[str, Sequence[str]]) -> Iterator[str]:
    yield '"""Written by Sudare\'s studio: the same steps, as a script."""'
    seen: set[str] = set()
    for title, lines in steps.items():
        fresh = [line for line in lines if line not in seen or not line.startswith(("import ", "from "))]
        seen.update(lines)
        if fresh:
            yield from ("", f"# {title}", *fresh)
