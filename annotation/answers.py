"""Answers of blind readers, and how they compare with what was proved."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from pydantic import ValidationError

from agentbound.data.records import PERMITTED, Family, Record, SiblingName
from agentbound.errors import RecordError, UsageError

__all__ = ["Answer", "Mark", "Score", "mark", "read_answers", "score"]

SUFFIX = ".answer.json"


class Answer(Record):
    """A reader's word on a packet: `permitted` null where the rules do not settle it, `colleague` by the words alone."""

    permitted: bool | None
    colleague: bool | None
    why: str = ""


class Mark(Record):
    """An answer beside the truth. `right` is None where the reader did not decide."""

    task_id: str
    family_id: str
    blueprint: str
    sibling: SiblingName
    permitted: bool
    right: bool | None
    answer: Answer


class Score(Record):
    """Counts over marks of one sibling, or of all: `answered`, of these `right`, `wrong`, `undecided`, and `colleague`."""

    answered: int
    right: int
    wrong: int
    undecided: int
    colleague: int


def read_answers(directory: Path) -> dict[str, Answer]:
    """The answers of a directory that are filled in, by packet. Raises `UsageError`, or `RecordError` naming a bad file."""
    files = sorted(directory.glob(f"*{SUFFIX}")) if directory.is_dir() else []
    if not files:
        raise UsageError(
            f"{directory} holds no answers; name the directory that `agentbound blind` wrote the packets to"
        )
    answers = {}
    for file in files:
        try:
            answer = Answer.model_validate_json(file.read_text(encoding="utf-8"))
        except (ValidationError, UnicodeDecodeError) as error:
            told = error.errors()[0]["msg"] if isinstance(error, ValidationError) else str(error)
            raise RecordError(f"{file} is no answer: {told}; write permitted, colleague and why as JSON") from None
        if answer.permitted is not None or answer.why:
            answers[file.name.removesuffix(SUFFIX)] = answer
    return answers


def mark(answers: Mapping[str, Answer], key: Mapping[str, tuple[Family, SiblingName]]) -> Iterator[Mark]:
    """Each answer beside the truth. Raises `UsageError` for a packet that is not of this run."""
    for task_id, answer in answers.items():
        if task_id not in key:
            raise UsageError(f"packet {task_id} is of another run; name the run that its packets were written from")
        family, sibling = key[task_id]
        permitted = sibling in PERMITTED
        yield Mark(
            task_id=task_id,
            family_id=family.family_id,
            blueprint=family.blueprint,
            sibling=sibling,
            permitted=permitted,
            right=None if answer.permitted is None else answer.permitted == permitted,
            answer=answer,
        )


def score(marks: Sequence[Mark]) -> Score:
    """Count marks."""
    return Score(
        answered=len(marks),
        right=sum(m.right is True for m in marks),
        wrong=sum(m.right is False for m in marks),
        undecided=sum(m.right is None for m in marks),
        colleague=sum(m.answer.colleague is True for m in marks),
    )
