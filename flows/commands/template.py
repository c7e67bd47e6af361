"""`agentbound taxonomy new`: commented templates of a class and a blueprint, in a directory of the user's own."""

from __future__ import annotations

import re
from pathlib import Path

from rich.text import Text

from agentbound.errors import ContentError, UsageError
from agentbound.flows.views.console import out
from agentbound.taxonomy import load_taxonomy
from agentbound.taxonomy.templates import filled


def new_command(name: str, directory: Path) -> None:
    """Write what is missing of a category, a class and its first blueprint. Nothing that is there is written over."""
    match = re.fullmatch(r"([a-z][a-z0-9_]*)/([a-z][a-z0-9_]*)", name)
    if match is None:
        raise UsageError(
            f"{name} is no CATEGORY/CLASS; write two names of small letters, like wildlife/nest_disturbance"
        )
    category, risk_class = match.groups()
    blueprint = _blueprint_path(directory, category, risk_class)
    names = {
        "category": category,
        "category_title": _title(category),
        "class": risk_class,
        "class_title": _title(risk_class),
        "name": blueprint.stem,
        "directory": str(directory),
        "file": str(blueprint),
    }
    made = _class(directory, names)
    blueprint.parent.mkdir(parents=True, exist_ok=True)
    blueprint.write_text(filled("blueprint", names), encoding="utf-8")
    for path in [*made, blueprint]:
        out().print(Text(f"wrote {path}"))
    out().print(Text(f"it can be proved as it stands: agentbound taxonomy check {directory}"))


def _blueprint_path(directory: Path, category: str, risk_class: str) -> Path:
    """A place for one more blueprint of the class."""
    place = directory / "blueprints" / category / risk_class
    taken = {path.stem for path in directory.glob("blueprints/**/*.yaml")}
    names = [f"{risk_class}_example", *(f"{risk_class}_example_{n}" for n in range(2, 100))]
    return place / f"{next(name for name in names if name not in taken)}.yaml"


def _class(directory: Path, names: dict[str, str]) -> list[Path]:
    """The files written so that the class is there: none where it was."""
    own = [directory] if directory.is_dir() and any(directory.iterdir()) else []
    taxonomy = load_taxonomy(*own)
    known = taxonomy.category(names["category"])
    if known is not None and any(leaf.id == names["class"] for leaf in known.classes):
        return []
    path = directory / "categories" / f"{names['category']}.yaml"
    before = path.read_text(encoding="utf-8") if path.is_file() else None
    if before is not None:
        text = before.rstrip("\n") + "\n" + filled("class", names)
    elif known is not None:
        text = (
            f"# A class added to the shipped category {names['category']}.\nid: {names['category']}\nclasses:\n"
            + filled("class", names)
        )
    else:
        text = filled("category", names) + filled("class", names)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    try:
        load_taxonomy(directory)
    except ContentError as error:
        if before is None:
            path.unlink()
        else:
            path.write_text(before, encoding="utf-8")
        raise UsageError(
            f"the class cannot be added to {path}: {error.faults[0].what}; let `classes` be the last key of the file, or "
            "choose another name"
        ) from None
    return [path]


def _title(name: str) -> str:
    return name.replace("_", " ").capitalize()
