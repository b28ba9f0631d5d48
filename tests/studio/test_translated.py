"""What the package says in reasons and refusals is said in every language of the studio: a new message without its words fails here."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from string import Formatter

import pytest

import sudare
from sudare.drafting import scored, words
from sudare.studio.texts import LANGUAGES
from sudare.studio.translated import MAX_LENGTH, Message, messages, translated

SOURCE = Path(sudare.__file__).parent
REFUSING = [
    "attacks/k_map.py",
    "attacks/population.py",
    "generalization/full_domain.py",
    "generalization/lattice.py",
    "generalization/mapped.py",
    "privacy/beta_likeness.py",
    "privacy/column_sets.py",
    "privacy/delta_disclosure.py",
    "privacy/delta_presence.py",
    "privacy/k_anonymity.py",
    "privacy/k_map.py",
    "privacy/l_diversity.py",
    "privacy/limits.py",
    "privacy/multi_view.py",
    "privacy/pk_anonymity.py",
    "privacy/requirement.py",
    "privacy/t_closeness.py",
    "verbs/arguments.py",
    "verbs/draw.py",
    "verbs/generalize.py",
    "verbs/views_checks.py",
    "plans/numbers_beside.py",
    "ledger/budgets.py",
    "ledger/combination.py",
    "ledger/conflicts.py",
    "ledger/ledger.py",
    "tables/atomic.py",
    "tables/builders.py",
    "tables/csv_files.py",
    "tables/file_kinds.py",
    "tables/hierarchy.py",
    "tables/number_builders.py",
    "utility/classifier.py",
    "engines/coding.py",
    "engines/sources.py",
    "engines/sizes.py",
    "randomization/domains.py",
    "randomization/learn.py",
    "pview/account.py",
    "pview/conditions.py",
    "pview/design.py",
    "pview/questions.py",
    "pview/sql.py",
    *(f"studio/{file.name}" for file in sorted((SOURCE / "studio").glob("*.py"))),
]
"""Whose errors a walk in the studio can reach."""
NOT_REACHED = {  # schema files that are written by hand, and calls of Python
    "'{0}' is randomized together with others",
}


def template(node: ast.expr) -> str | None:
    """Return a message as the catalogue has it: numbers where values stand, one for values side by side."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        parts = [part.value if isinstance(part, ast.Constant) else None for part in node.values]
        text, number = "", 0
        for before, part in zip(["", *parts], parts, strict=False):
            if part is not None:
                text += str(part)
            elif before is not None:
                text += f"{{{number}}}"
                number += 1
        return text
    return None


def called(tree: ast.AST, names: tuple[str, ...], at: int = 0) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and len(node.args) > at:
            name = ast.unparse(node.func).split(".")[-1]
            said = template(node.args[at]) if any(re.fullmatch(one, name) for one in names) else None
            if said is not None:
                yield said


def parsed(file: str) -> ast.Module:
    return ast.parse((SOURCE / file).read_text("utf-8"))


def known(said: str) -> bool:
    """Tell whether a message, with values put in that say nothing, is translated."""
    return said in messages() or translated(said, "ja") != said


@pytest.mark.parametrize("file", REFUSING)
def test_every_refusal_of_the_walk_is_translated(file: str) -> None:
    missing = [said for said in called(parsed(file), (r"\w+Error",)) if not known(said)]
    assert missing == []


def test_every_reason_of_a_role_is_translated() -> None:
    reasons = [
        said
        for file in ("drafting/guess.py", "drafting/numbering.py")
        for said in called(parsed(file), ("Guess",), at=1)
    ]
    assert len(reasons) > 15
    drafting = parsed("verbs/draft.py")
    for node in ast.walk(drafting):
        if isinstance(node, ast.FunctionDef) and node.name == "_doubts":
            reasons += [
                said
                for one in ast.walk(node)
                if isinstance(one, ast.Yield) and one.value and (said := template(one.value))
            ]
        if isinstance(node, ast.FunctionDef) and node.name == "_trees_of_columns":
            reasons += called(node, ("append",))
    meanings = [
        str(one["what"])
        for one in tomllib.loads(Path(words.__file__).with_name("words.toml").read_text("utf-8"))["meaning"]
    ]
    patterns = [*called(parsed("drafting/patterns.py"), ("Pattern",), at=1)]
    traits = {
        trait
        for own in tomllib.loads(scored.WEIGHTS.read_text("utf-8")).values()
        if isinstance(own, dict)
        for trait in own
    }
    assert [said for said in [*reasons, *meanings, *patterns, *traits] if not known(said)] == []


def test_a_message_is_not_taken_apart_where_it_has_a_joint_of_its_own() -> None:
    said = "guessed, as its name means family and household and it has two values"
    assert translated(said, "ja") == "推定(列名が示すもの:家族・世帯)、値が2つであること"


def test_every_step_of_work_is_translated() -> None:
    steps = {
        said
        for file in SOURCE.rglob("*.py")
        if file.parent.name != "studio"
        for said in called(ast.parse(file.read_text("utf-8")), ("step", "in_parts"))
    }
    assert len(steps) > 5
    assert {said for said in steps if not known(said)} == set()


def test_every_caveat_is_translated() -> None:
    from sudare.verbs import generalize

    said = [
        generalize.KNOWN_METHOD,
        generalize.KNOWN_LABELS,
        generalize.KNOWN_MODEL,
        generalize.MAY_BE_KNOWN,
        generalize.MAPPED,
    ]
    assert [one for one in said if not known(one)] == []


def test_languages_put_the_same_values_in() -> None:
    for key, by_language in messages().items():
        assert set(by_language) == set(LANGUAGES) - {"en"}
        numbers = [int(number) for number in re.findall(r"\{(\d)\}", key)]
        assert numbers == list(range(len(numbers))), key
        assert "}{" not in key
        for text in by_language.values():
            put_in = {int(name) for _, name, _, _ in Formatter().parse(text) if name}
            assert put_in <= set(numbers), key
            assert not re.search(r"[a-z]{3,} [a-z]{3,} [a-z]{3,}", re.sub("sudare .*", "", text)), key


@pytest.mark.parametrize(
    ("said", "in_japanese"),
    [
        ("'age' in its name: age or birth", "列名に「age」:年齢・生年月日"),
        (
            "'id' in its name, 9 of 9 distinct: the number of a record",
            "列名に「id」、9 件中 9 種類:記録の番号",
        ),
        ("5-anonymity + distinct 2-diversity of 'a b'", "5-匿名性 + 「a b」の distinct 2-多様性"),
        (
            "doubtful, it may be sensitive; it follows from 'x'",
            "判断に迷います。機微かもしれません。「x」から決まります",
        ),
        (
            "k: must be greater than or equal to 1.\nl: must be less than 3.",
            "k:1 以上にしてください。\nl:3 より小さくしてください。",
        ),
        ("'sex' in its name: sex", "列名に「sex」:性別"),
        ("what nobody has said before: never", "what nobody has said before: never"),
    ],
)
def test_values_are_put_in_where_they_belong(said: str, in_japanese: str) -> None:
    assert translated(said, "ja") == in_japanese
    assert translated(said, "en") == said


def test_values_that_look_like_messages_or_places_stay_values() -> None:
    hostile = "{0} {1} {{ 7 }} '; in its name: health"
    said = f"{hostile}: there is no such file."
    assert translated(said, "ja") == f"{hostile}:そのようなファイルはありません。"


def test_long_texts_are_looked_up_in_time_that_grows_with_them() -> None:
    piece = Message(["a", " is ", " of ", "."], {"ja": "{0}{1}{2}"})
    assert piece.values("a" + " is of" * 1000 + ".") is not None
    assert translated("is: of, " * MAX_LENGTH, "ja") == "is: of, " * MAX_LENGTH
