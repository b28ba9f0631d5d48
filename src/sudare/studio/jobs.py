"""The work of each step: which Python it runs, and what is remembered of what it found."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sudare.studio import code
from sudare.studio.choices import Choice, Generalizing
from sudare.studio.project import SAMPLE, Project, now
from sudare.studio.work import Job, Worker
from sudare.tables.schema import Schema

if TYPE_CHECKING:
    from sudare.studio.visit import Studio

LOADING = [
    code.HEAD,
    "few = sd.read(sd.datasets.health_survey(40).select('age'), sd.Schema.from_roles(quasi=['age']))",
    "sd.attack(sd.generalize(few, sd.KAnonymity(2), 'mondrian').frame(), few.schema, kind='reidentification')",
]
"""What loads all that a preview needs."""


def draft(project: Project, worker: Worker) -> Job | None:
    """Draft a schema, and then read the table with it."""

    def then(found: dict[str, Any]) -> None:
        with project.changing() as facts:
            facts.reasons = found["reasons"]
        read(project, worker, chained=True)

    cells = [code.cell("draft", code.opening(project), kind="once")]
    return worker.start("draft", cells, "opened", {"folder": str(project.folder)}, then)


def read(project: Project, worker: Worker, *, chained: bool = False) -> Job | None:
    """Read the table, and say who stands out."""
    basis = project.basis("read")
    cells = [code.table_cell(project)]
    if project.schema().names("quasi"):
        cells.append(code.cell("risk", code.risking()))
    begin = worker.next if chained else worker.start
    return begin(
        "read",
        cells,
        "read",
        {"folder": str(project.folder)},
        lambda found: project.keep("read", found, basis),
    )


def among(project: Project, worker: Worker) -> Job | None:
    """Say how likely people are found by who does not know whether they are in the table."""
    return _found(project, worker, "population", code.among(project), "among")


def draw(project: Project, worker: Worker, share: float) -> Job | None:
    """Draw a share of the people, and go on with these."""
    path = project.next_drawn()
    cells = [code.table_cell(project), code.cell("draw", code.drawing(share, path), kind="once")]

    def then(found: dict[str, Any]) -> None:
        with project.undoable("risk"):
            project.set_schema(Schema.from_toml(found["schema"]))
            with project.changing() as facts:
                facts.drawn_from = facts.drawn_from or facts.source
                facts.source, facts.sampling_fraction = str(path), found["sampling_fraction"]
                facts.roles_seen = project.schema_stamp()
        read(project, worker, chained=True)

    return worker.start("draw", cells, "drawn_people", {}, then)


def sets(project: Project, worker: Worker) -> Job | None:
    """Count who is alone by which sets of columns."""
    return _found(project, worker, "sets", code.telling_apart(project), "told_apart_by")


def lattice(project: Project, worker: Worker, chosen: Generalizing) -> Job | None:
    """Look at the lattice of levels on the sample."""
    basis = project.basis("lattice")
    looking = code.cell("lattice", code.looking(chosen), kind="once")
    cells = [code.sample_cell(project), looking]
    return worker.start(
        "lattice", cells, "looked_at", {}, lambda found: project.keep("lattice", found, basis)
    )


def _found(project: Project, worker: Worker, name: str, lines: Sequence[str], show: str) -> Job | None:
    """Ask something of the table, and remember what was found under a name."""
    basis = project.basis(name)
    cells = [code.table_cell(project), code.cell(name, lines, kind="once")]
    return worker.start(name, cells, show, {}, lambda found: project.keep(name, found, basis))


def assess(project: Project, worker: Worker) -> Job | None:
    """Say what can be promised."""
    basis = project.basis("assess")
    attribute = code.sensitive_attribute(project)
    assert attribute is not None
    cells = [code.table_cell(project), code.cell("assessment", code.assessing(attribute))]
    return worker.start(
        "assess",
        cells,
        "assessed",
        {"folder": str(project.folder)},
        lambda found: project.keep("assess", found, basis),
    )


def run(project: Project, worker: Worker, receiver: str | None) -> Job | None:
    """Make what was chosen, and attack it."""
    basis, attempt = project.basis("run"), now()
    way = project.facts.choice.way
    cells = [code.table_cell(project), code.run_cell(project, attempt=attempt, receiver=receiver)]
    if way == "generalize":
        cells.append(code.cell("attacks", code.attacking(), rests=attempt))

    def then(found: dict[str, Any]) -> None:
        asked = {"attempt": attempt, "receiver": receiver, "way": way}
        with project.changing() as facts:
            facts.job = None
        project.keep("run", found | asked, basis)

    if worker.is_busy:
        return None
    with project.changing() as facts:  # before it can end
        facts.job = {"name": "run", "at": attempt}
    return worker.start("run", cells, "released", {"folder": str(project.folder)}, then)


def together(project: Project, worker: Worker, columns: Sequence[str]) -> Job | None:
    """Count two columns together, before and after."""
    basis, run_found = project.basis("together"), project.found("run")
    assert run_found is not None
    made = code.run_cell(project, held=True, attempt=run_found["attempt"], receiver=run_found["receiver"])
    counted = code.cell("together", code.together(columns), kind="once")
    return worker.start(
        "together",
        [code.table_cell(project), made, counted],
        "counted_together",
        {},
        lambda found: project.keep("together", found, basis),
    )


def write(
    project: Project,
    worker: Worker,
    folder: Path,
    ledger: Path | None,
    receiver: str | None,
    formats: Sequence[str],
) -> Job | None:
    """Write the release that was made, record it, and verify the files."""
    basis = project.basis("write")
    run_found = project.found("run")
    assert run_found is not None
    made = code.run_cell(project, held=True, attempt=run_found["attempt"], receiver=run_found["receiver"])
    lines = code.writing(folder, ledger, receiver, formats)
    cells = [code.table_cell(project), made, code.cell("writing", lines, kind="once")]

    def then(found: dict[str, Any]) -> None:
        known = {"receiver": receiver, "ledger": None if ledger is None else str(ledger), "at": now()}
        asked = {"way": project.facts.choice.way, "requirements": run_found["requirements"]}
        with project.changing() as facts:
            facts.releases.append({"folder": found["folder"]} | known | asked)
        project.keep("write", found | known, basis)

    return worker.start("write", cells, "written", {"folder": str(folder)}, then)


def begin(project: Project, studio: Studio) -> None:
    """Draft a schema; meanwhile the process of previews loads what it will need."""
    draft(project, studio.worker(project))
    studio.previewer(project).start("warm-up", [code.cell("warm", LOADING)], "nothing", {})


def warm_up(project: Project, previewer: Worker) -> bool:
    """Let the process of previews read the sample and try something; false while it is busy."""
    if not project.schema().names("quasi"):
        return True
    cells = preview_cells(project, Choice(generalize=Generalizing(k=2)))
    return previewer.start("warm-up", cells, "bounded", {}) is not None


def preview_cells(project: Project, choice: Choice) -> list[dict[str, str]]:
    """Return the Python that tries a choice on the sample; for blocks, by the quickest method."""
    cells = [code.sample_cell(project)]
    if choice.way == "generalize":
        own = choice.generalize
        if (
            own.k_map is not None
        ):  # by the table's own schema: the sample's knows the values of the table alone
            population = [
                "from sudare.attacks.published import people_of",
                f"people = people_of({own.population!r}, sd.Schema.from_toml({str(project.schema_path)!r}))",
            ]
            cells.append(code.cell("population", population))
        # Of a sample, fewer people of the population are in it: what is asked of presence is another question there.
        shown = code.requirements(own.model_copy(update={"d_max": None}), "people")
        asked = f"[{', '.join(shown or ['sd.KAnonymity(1)'])}]"
        made = [
            f"release = sd.generalize(sample, {asked}, {_quickest(own)})",
            'risk = sd.attack(release.frame(), sampled, kind="reidentification")',
        ]
        return [*cells, code.cell("tried", made)]
    known = [
        "from sudare.studio.preview import declared",
        f"known = sd.read({str(project.folder / SAMPLE)!r}, declared(sample))",
    ]
    cells.append(code.cell("known", known))
    made = [
        f"release = {code.randomizing(choice.randomize, 'known')}"
        if choice.way == "randomize"
        else f"release = sd.materialize(known, {code.of_budget(choice.pview)})"
    ]
    return [*cells, code.cell("tried", made)]


def _quickest(own: Generalizing) -> str:
    """Return the method of a preview, as Python: the levels that were taken, or the quickest that can do what is asked."""
    if own.taken:
        return f"'full-domain', suppress={own.suppress!r}, levels={own.taken!r}"
    return f"'blind', suppress={own.suppress!r}" if own.suppress else "'mondrian'"
