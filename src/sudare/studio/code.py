"""Every step as code: the Python that a project's process runs, the same as a script, and the command that does the same."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from sudare.studio.choices import Choice, Generalizing, Materializing, Randomizing
from sudare.studio.notebook import Kind
from sudare.studio.project import LEDGER, Project

Held = Literal["kept", "held", "once"]
"""A cell is kept once it ran; or must be held already; or is run each time that it is asked for."""
HEAD = "import sudare as sd"
MOST_COLUMNS = 3  # of a set of which it is counted who is alone by it
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


def telling_apart() -> list[str]:
    """Count who is alone by which sets of columns."""
    return [
        "from sudare.privacy.column_sets import column_sets",
        f"sets = column_sets(table, {MOST_COLUMNS})",
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
        asked.append(_call("sd.LDiversity", _number(chosen.l), repr(chosen.diversity), **more))
    if chosen.t is not None:
        more = {"distance": chosen.distance} | ({"attribute": chosen.attribute} if chosen.attribute else {})
        asked.append(_call("sd.TCloseness", repr(chosen.t), **more))
    if chosen.k_map is not None:
        asked.append(f"sd.KMap({chosen.k_map}, population={people or repr(chosen.population)})")
    return asked


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
        if chosen.predict:
            options["predict"] = chosen.predict
        asked = f"[{', '.join(requirements(chosen))}]"
        return [f"release = {_call('sd.generalize', 'table', asked, **options)}"]
    if choice.way == "views":
        views = choice.views
        options = {} if views.kind == "distinct" else {"kind": views.kind}
        if views.attribute:
            options["attribute"] = views.attribute
        asked = _call("sd.MultiViewDiversity", _number(views.l), **options)
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
        asked = f"sd.PkAnonymity({_number(chosen.k)})"
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


def _number(value: float) -> str:
    """Write 3.0 as 3.

    >>> _number(3.0), _number(2.5)
    ('3', '2.5')
    """
    return str(int(value)) if float(value).is_integer() else repr(value)


# -- The command line --------------------------------------------------------------------------------


def command(*words: str | None) -> str:
    """Write a command as a shell takes it, whatever names the words have.

    >>> command("sudare", "check", "my table.csv", None)
    "sudare check 'my table.csv'"
    """
    return " ".join(shlex.quote(word) for word in words if word is not None)


def commands(project: Project, folder: Path | None = None, ledger: Path | None = None) -> dict[str, str]:
    """Return the command of each step."""
    source, schema = project.facts.source, str(project.schema_path)
    found = {
        "roles": command("sudare", "init", source, "--schema", schema),
        "risk": command("sudare", "check", source, "--schema", schema, *_sample_words(project)),
        "sets": command("sudare", "check", source, "--schema", schema, "--sets", str(MOST_COLUMNS)),
    }
    if people := project.facts.population:
        kind = ["--kind", "k_map", "--population", people]
        found["population"] = command("sudare", "attack", source, *kind, "--schema", schema)
    if attribute := sensitive_attribute(project):
        bys = [word for l in ASSESSED_L for word in ("-l", str(l))] + [
            word for k in ASSESSED_K for word in ("-k", str(k))
        ]
        found["assess"] = command(
            "sudare", "assess", source, *bys, "--attribute", attribute, "--schema", schema
        )
    target = str(folder or project.next_release())
    end = ["--schema", schema, *(["--ledger", str(ledger)] if ledger else [])]
    found["run"] = command("sudare", *_words(project.facts.choice, source, target), *end)
    found["verify"] = command("sudare", "verify", target)
    if project.facts.choice.way in ("generalize", "views"):
        found["attack"] = command("sudare", "attack", target, "--schema", schema)
    return found


def _sample_words(project: Project) -> list[str]:
    share = project.facts.sampling_fraction
    return [] if share is None else ["--sampling-fraction", str(share)]


def _words(choice: Choice, source: str, target: str) -> list[str]:
    if choice.way == "generalize":
        one = choice.generalize
        words = ["generalize", source, target]
        words += [] if one.k is None else ["-k", str(one.k)]
        if one.l is not None:
            words += ["-l", _number(one.l), "--diversity", one.diversity]
            words += ["-c", str(one.c)] if one.diversity == "recursive" else []
            if one.diversity == "proximity":
                words += ["--within", str(one.within), *(["--relative"] if one.relative else [])]
            for value in one.harmless:
                words += ["--harmless", value]
        if one.t is not None:
            words += ["-t", str(one.t), "--distance", one.distance]
        if (one.l is not None or one.t is not None) and one.attribute:
            words += ["--attribute", one.attribute]
        if one.k_map is not None:
            words += ["--k-map", str(one.k_map), "--population", str(one.population)]
        words += ["--method", one.method]
        if one.may_suppress:
            words += ["--suppress", str(one.suppress)]
        words += ["--predict", one.predict] if one.predict else []
        return [*words, *(["--effort", one.effort] if one.method == "minimal" else [])]
    if choice.way == "views":
        views = choice.views
        shown = [word for name, own in views.views.items() for word in ("--view", f"{name}={','.join(own)}")]
        kind = [] if views.kind == "distinct" else ["--kind", views.kind]
        return ["generalize-views", source, target, *shown, "-l", _number(views.l), *kind]
    if choice.way == "randomize":
        law = choice.randomize
        by = ["--pk", _number(law.k)] if law.promise == "pk" else ["--epsilon", str(law.epsilon)]
        how = [word for name in law.bins for word in ("--how", f"{name}=bins")]
        return ["randomize", source, target, *by, *how]
    budget = choice.pview
    delta = ["--delta", str(budget.delta)] if budget.delta else []
    return ["materialize", source, target, "--epsilon", str(budget.epsilon), *delta]


# -- Which cells a step needs ------------------------------------------------------------------------


def sensitive_attribute(project: Project) -> str | None:
    """Return the sensitive attribute that is meant: the chosen one, or the first."""
    sensitive = project.schema().names("sensitive")
    chosen = project.facts.choice.generalize.attribute
    return chosen if chosen in sensitive else next(iter(sensitive), None)


def table_cell(project: Project) -> dict[str, str]:
    """Read the table again only if its schema is another."""
    return cell("table", reading(project), rests=project.schema_stamp())


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
