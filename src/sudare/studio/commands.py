"""Every step as a command: what the studio did, said on the command line."""

from __future__ import annotations

import shlex
from pathlib import Path

from sudare.studio import code
from sudare.studio.choices import Choice
from sudare.studio.project import Project


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
        "sets": command(
            "sudare", "check", source, "--schema", schema, "--sets", str(project.facts.columns_together)
        ),
    }
    if people := project.facts.population:
        kind = ["--kind", "k_map", "--population", people]
        found["population"] = command("sudare", "attack", source, *kind, "--schema", schema)
    if attribute := code.sensitive_attribute(project):
        bys = [word for l in code.ASSESSED_L for word in ("-l", str(l))] + [
            word for k in code.ASSESSED_K for word in ("-k", str(k))
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
            words += ["-l", code.number(one.l), "--diversity", one.diversity]
            words += ["-c", str(one.c)] if one.diversity == "recursive" else []
            if one.diversity == "proximity":
                words += ["--within", str(one.within), *(["--relative"] if one.relative else [])]
            for value in one.harmless:
                words += ["--harmless", value]
        if one.t is not None:
            words += ["-t", str(one.t), "--distance", one.distance]
        if one.beta is not None:
            words += ["--beta", str(one.beta), "--likeness", one.likeness]
        if one.disclosure is not None:
            words += ["--disclosure", str(one.disclosure)]
        if one.asks_of_values and one.attribute:
            words += ["--attribute", one.attribute]
        if one.k_map is not None:
            words += ["--k-map", str(one.k_map)]
        if one.d_max is not None:
            words += ["--d-max", str(one.d_max), "--d-min", str(one.d_min)]
        if one.population is not None:
            words += ["--population", one.population]
        words += ["--method", one.method]
        for name, level in (one.taken or {}).items():
            words += ["--level", f"{name}={level}"]
        if one.may_suppress:
            words += ["--suppress", str(one.suppress)]
        words += ["--predict", one.predict] if one.predict else []
        return [*words, *(["--effort", one.effort] if one.method == "minimal" else [])]
    if choice.way == "views":
        views = choice.views
        shown = [word for name, own in views.views.items() for word in ("--view", f"{name}={','.join(own)}")]
        kind = [] if views.kind == "distinct" else ["--kind", views.kind]
        return ["generalize-views", source, target, *shown, "-l", code.number(views.l), *kind]
    if choice.way == "randomize":
        law = choice.randomize
        by = ["--pk", code.number(law.k)] if law.promise == "pk" else ["--epsilon", str(law.epsilon)]
        how = [word for name in law.bins for word in ("--how", f"{name}=bins")]
        return ["randomize", source, target, *by, *how]
    budget = choice.pview
    delta = ["--delta", str(budget.delta)] if budget.delta else []
    return ["materialize", source, target, "--epsilon", str(budget.epsilon), *delta]
