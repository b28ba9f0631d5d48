"""What `make docs` adds to the pages that are written by hand: references made from the code, and pages that lie elsewhere.

The commands and the schema's keys are read from the code itself, so that no page can speak of what is not there. Pages beside the
papers and at the root are shown as they are, with links that lead to where they stand on the site.
"""

from __future__ import annotations

import datetime as dt
import re
import sys
from enum import Enum
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from mkdocs.structure.files import File, Files

from sudare.tables.attribute import Attribute
from sudare.tables.hierarchy import Hierarchy
from sudare.tables.policy import Policy
from sudare.tables.schema import CsvFormat, Schema
from sudare.tables.toml import toml

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "examples"))
import notebooks  # noqa: E402  # which are no package, as users run them one by one

FROM_ELSEWHERE = {
    "security.md": "SECURITY.md",
    "contributing.md": "CONTRIBUTING.md",
    "changes.md": "CHANGELOG.md",
    "examples.md": "examples/README.md",
    "research/index.md": "papers/README.md",
    **{
        f"research/{name}.md": f"papers/{name}/README.md"
        for name in ("dp_mondrian", "l_diversity_suitability", "multi_view", "optimal_pram", "pk_numeric")
    },
}
WRITTEN_HERE = {
    **{f"docs/{file.name}": file.name for file in (ROOT / "docs").glob("*.md")},
    "README.md": "index.md",
}
ON_THE_SITE = {**WRITTEN_HERE, **{source: page for page, source in FROM_ELSEWHERE.items()}}
LINK = re.compile(r"(\]\()([^)#:\s]+)(#[^)]*)?(\))")


def on_files(files: Files, config: Any) -> Files:
    """Add the pages that are made from code, and those that lie elsewhere with their pictures."""
    made = {
        "reference/python.md": python_page(),
        "reference/commands.md": commands_page(),
        "reference/schema.md": schema_page(),
    }
    for page, source in FROM_ELSEWHERE.items():
        made[page] = relinked((ROOT / source).read_text(encoding="utf-8"), source, page)
        for picture in (ROOT / source).parent.glob("*.svg") if source.startswith("papers/") else ():
            folder = picture.parent.name
            files.append(
                File.generated(config, f"research/{folder}/{picture.name}", abs_src_path=str(picture))
            )
    for page, text in made.items():
        files.append(File.generated(config, page, content=text))
    for example in notebooks.examples():
        files.append(
            File.generated(config, f"examples/{example.stem}.ipynb", content=notebooks.written(example))
        )
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Let links of pages written here lead to where other pages stand on the site."""
    if page.file.src_uri in FROM_ELSEWHERE:
        return markdown
    return relinked(markdown, f"docs/{page.file.src_uri}", page.file.src_uri)


def relinked(text: str, source: str, page: str) -> str:
    """Return a page with links that lead to the same files from its place on the site; to what is not there, none."""
    up = "../" * page.count("/")

    def moved(link: re.Match[str]) -> str:
        target = (ROOT / source).parent.joinpath(link[2]).resolve()
        if target in notebooks.examples():
            return f"{link[1]}{up}examples/{target.stem}.ipynb{link[4]}"
        if not target.is_relative_to(ROOT) or (ROOT / source).parent.joinpath(link[2]).suffix in (".py",):
            return link[0]
        name = str(target.relative_to(ROOT))
        if name in ON_THE_SITE:
            return f"{link[1]}{up}{ON_THE_SITE[name]}{link[3] or ''}{link[4]}"
        if name.startswith("docs/"):
            return f"{link[1]}{up}{name.removeprefix('docs/')}{link[3] or ''}{link[4]}"
        if name.startswith("papers/") and target.suffix == ".svg":
            return f"{link[1]}{up}research/{target.parent.name}/{target.name}{link[4]}"
        return link[0]

    return _without_links_to_code(LINK.sub(moved, text))


def _without_links_to_code(text: str) -> str:
    """Turn links to sources and folders, which the site does not have, into their words."""
    return re.sub(r"(?<!!)\[([^\]]+)\]\((?:[^)#:\s]*\.(?:py|toml|java)|[^)#:\s]*/)\)", r"\1", text)


# -- References ----------------------------------------------------------------------------------------


def python_page() -> str:
    """List every public name, by what it is."""
    import sudare as sd

    kinds: dict[str, list[str]] = {"Verbs": [], "Nouns": [], "Modules": []}
    for name in sd.__all__:
        own = getattr(sd, name)
        kind = "Nouns" if isinstance(own, type) else "Verbs" if callable(own) else "Modules"
        place = f"sudare.{name}" if kind == "Modules" else f"{own.__module__}.{name}"
        kinds[kind].append(place)
    kinds["Modules"].append("sudare.sklearn")
    parts = [
        "# Python",
        "Everything here is imported from `sudare`: `import sudare as sd`. What is not here is not public.",
    ]
    for kind, places in kinds.items():
        parts += [f"## {kind}", *(f"::: {place}" for place in places)]
    return "\n\n".join(parts) + "\n"


def commands_page() -> str:
    """Say of every command what it does, and which options it has."""
    from sudare.cli.app import COMMANDS, imported

    parts = [
        "# Commands",
        "Every command takes `--help`. Options that several share mean the same in all of them.",
    ]
    for name in COMMANDS:
        command = imported(name)
        for own, words in _leaves(command, name):
            usage = " ".join(one.name.upper() for one in own.params if one.param_type_name == "argument")
            parts += [f"## sudare {words}", _plain(own.help), f"`sudare {words} {usage}`".replace(" `", "`")]
            rows = [
                f"| `{'`, `'.join([*one.opts, *one.secondary_opts])}` | {_plain(one.help or '').replace('|', chr(92) + '|')} | {_taken(one)} |"
                for one in own.params
                if one.param_type_name == "option" and one.name != "help"
            ]
            if rows:
                heads = ["| option | what it says | if it is not given |", "| --- | --- | --- |"]
                parts.append("\n".join([*heads, *rows]))
    return "\n\n".join(parts) + "\n"


def _taken(option: Any) -> str:
    """Say what is taken where an option is left out, as `--help` does."""
    if option.required:
        return "it must be given"
    if isinstance(option.show_default, str):
        return _plain(option.show_default)
    return "" if option.default is None or option.is_flag else f"`{option.default}`"


def _leaves(command: Any, words: str) -> list[tuple[Any, str]]:
    if not hasattr(command, "commands"):
        return [(command, words)]
    return [leaf for name, own in command.commands.items() for leaf in _leaves(own, f"{words} {name}")]


def _plain(text: str | None) -> str:
    """Write help for a page: no marks of the terminal, and no tags."""
    return (text or "").replace("\\[", "[").replace("<", "&lt;").replace("[", "\\[").strip()


def schema_page() -> str:
    """List the keys of a schema file with what they may be."""
    parts = [
        "# Schema file",
        "A schema is a TOML file. `sudare init` drafts one. How hierarchies are written stands in [the how-to](../how-to.md).",
    ]
    for title, model in (
        ("At the top", Schema),
        ("[attributes.NAME]", Attribute),
        ("[csv]", CsvFormat),
        ("[publish]", Policy),
    ):
        heading = title.replace("[", "\\[")
        parts += [f"## {heading}", _first_words(model)]
        rows = [
            f"| `{key}` | {_type(own.annotation)} | {_default(own)} |"
            for key, own in model.model_fields.items()
        ]
        parts.append("\n".join(["| key | may be | if it is not given |", "| --- | --- | --- |", *rows]))
    return "\n\n".join(parts) + "\n"


def _first_words(model: Any) -> str:
    text = re.split(r"\n\s*>>>", model.__doc__ or "")[0]
    return " ".join(text.split())


WORDS = {
    str: "text", int: "whole number", float: "number", bool: "true or false", dt.date: "date", dt.datetime: "date and time",
    Hierarchy: "see the how-to", CsvFormat: "the section below", Policy: "the section below", Attribute: "the section below",
}  # fmt: skip


def _type(annotation: Any) -> str:
    """Say in words what may stand there."""
    origin, parts = get_origin(annotation), get_args(annotation)
    if annotation in WORDS:
        return WORDS[annotation]
    if origin is Literal:
        return ", ".join(f'`"{one}"`' for one in parts)
    if isinstance(annotation, type) and issubclass(annotation, Enum):
        return ", ".join(f'`"{one.value}"`' for one in annotation)
    if origin is Annotated:
        return _type(parts[0])
    if origin in (Union, UnionType):
        return " or ".join(dict.fromkeys(_type(one) for one in parts if one is not type(None)))
    if origin is tuple:
        several = "a list: " if parts[-1] is ... else "a pair: "
        return several + " or ".join(dict.fromkeys(_type(one) for one in parts if one is not ...))
    if origin is dict:
        return f"a table of {_type(parts[1])}"
    return "see the how-to"


def _default(field: Any) -> str:
    """Say in words, or as a schema file writes it, what is taken where a key is left out."""
    if field.is_required():
        return "it must be given"
    taken = field.get_default(call_default_factory=True)
    if taken is None or isinstance(taken, CsvFormat | Policy):
        return "nothing"
    return f"`{toml(taken)}`"
