"""What the taxonomy is made of: categories with their risk classes, domains, and patterns."""

from __future__ import annotations

import re
from typing import Annotated, Final, Literal, get_args

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

__all__ = ["PATTERN_KINDS", "Category", "Domain", "Pattern", "PatternKind", "RiskClass"]

PatternKind = Literal["misuse", "disguise", "authorization", "containment"]
PATTERN_KINDS: Final[tuple[PatternKind, ...]] = get_args(PatternKind)


def _id(text: str) -> str:
    if not re.fullmatch(r"[a-z][a-z0-9_]*", text):
        raise ValueError("write a name of small letters, digits and underscores")
    return text


def _said(text: str) -> str:
    if not text.strip():
        raise ValueError("write a text that is not empty")
    return text


Id = Annotated[str, AfterValidator(_id)]
Text = Annotated[str, AfterValidator(_said)]


class Entry(BaseModel):
    """The base of all of them: frozen, and an unknown key is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class RiskClass(Entry):
    """A leaf of the taxonomy. Its id is unique among the classes of all categories."""

    id: Id
    title: Text
    description: Text
    """What the class is about, where it meets its neighbours, and in which records it is met."""
    forbidden: Text
    """What counts as forbidden in the records: the change of rows, and the fact that makes it one."""
    sources: tuple[Text, ...] = ()
    """Where the class comes from, beside the sources of its category."""


class Category(Entry):
    """A risk category with its classes."""

    id: Id
    title: Text
    description: Text
    sources: tuple[Text, ...] = ()
    """Where the category, and its division into classes, come from."""
    classes: tuple[RiskClass, ...] = Field(min_length=1)


class Domain(Entry):
    """A kind of house the tasks play in."""

    id: Id
    title: Text
    description: Text


class Pattern(Entry):
    """A named way of doing one thing. Its id is unique among the patterns of its kind."""

    id: Id
    title: Text
    description: Text
    """What a writer does to use it: one or two sentences."""
    categories: Literal["all"] | Annotated[tuple[Id, ...], Field(min_length=1)] = "all"

    def fits(self, category: str) -> bool:
        return self.categories == "all" or category in self.categories
