"""Checking content: statements with their lines, samples drawn and proved, every wording tried."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from agentbound.data.blueprint import Blueprint, Turn, flip_shapes, sql_leaves
from agentbound.data.chance import rng_of
from agentbound.data.findings import Finding
from agentbound.data.records import SIBLINGS, Family, Sibling, SiblingName
from agentbound.errors import ContentError, Fault, SqlRefused
from agentbound.flows.gaps import blueprint_gaps
from agentbound.generators.embedded.draws import Undrawable
from agentbound.generators.embedded.render import compile_node
from agentbound.generators.embedded.scaffold import Drawn, draw_scaffold
from agentbound.generators.embedded.wording import POOL_OF, draw_wording
from agentbound.sandbox.database import Database
from agentbound.sandbox.guard import Purpose
from agentbound.validators.candidate import certify, validate
from agentbound.validators.facts import FamilyFacts, facts_of

_PURPOSES: dict[str, Purpose] = {"read": "read", "write": "write", "judge": "judge", "grant": "read"}
_SECRET = b"content check"


def statement_faults(blueprint: Blueprint, drawn: Drawn) -> list[Fault]:
    """Statements of a blueprint that the sandbox will not run, each with its line."""
    spec = drawn.scaffold.world
    faults: list[Fault] = []
    try:
        database = Database(spec.schema_, spec.rows)
    except SqlRefused as error:
        return [blueprint.fault(("tables",), str(error), "mend the table, the view or the row")]
    for leaf in sql_leaves(blueprint):
        if leaf.mode == "ddl":
            continue
        try:
            sql = str(compile_node(leaf.template)(drawn.draws))
            database.statement(sql, _PURPOSES[leaf.mode])
        except Undrawable:
            continue  # it belongs to a condition that does not hold in this draw
        except SqlRefused as error:
            if "no such table" in str(error) and not _always(blueprint, leaf.loc):
                continue
            faults.append(blueprint.fault(leaf.loc, str(error), "write one statement that SQLite and the sandbox run"))
    return faults


def _always(blueprint: Blueprint, loc: Sequence[str | int]) -> bool:
    """Whether no condition stands on the way to a place."""
    node: Any = blueprint.raw
    for step in loc:
        if isinstance(node, dict) and "if" in node:
            return False
        node = node[step]
    return "then" not in loc and "else" not in loc


@dataclass
class Report:
    """What a check of one blueprint found.

    `problems` counts findings by what a writer has to mend, `gaps` are what the gates of a data set will want.
    """

    blueprint: str
    path: str
    samples: int = 0
    proved: int = 0
    runs: list[int] = field(default_factory=list)
    flips: Counter[str] = field(default_factory=Counter)
    protocols: Counter[str] = field(default_factory=Counter)
    wordings: dict[str, int] = field(default_factory=dict)
    faults: list[Fault] = field(default_factory=list)
    problems: dict[str, tuple[Finding, int]] = field(default_factory=dict)
    facts: list[FamilyFacts] = field(default_factory=list)
    gaps: list[str] = field(default_factory=list)

    @property
    def clean(self) -> bool:
        return not self.faults and not self.problems and self.proved == self.samples

    def fault(self, faults: Sequence[Fault]) -> None:
        self.faults += [f for f in faults if f not in self.faults]

    def note(self, finding: Finding) -> None:
        key = f"{finding.code}|{finding.part}|{finding.wrong}|{finding.where}"
        first, count = self.problems.get(key, (finding, 0))
        self.problems[key] = (first, count + 1)


def check_blueprint(blueprint: Blueprint, samples: int) -> Report:
    """Draw samples, each flip in turn and in each of its forms the forbidden one, prove them, and try every wording in the draws it fits."""
    report = Report(blueprint.name, blueprint.file)
    tried: dict[tuple[str, int], int] = {}
    forms = [Turn(flip, False) for flip in blueprint.flips]
    forms += [Turn(flip, True) for flip, shape in flip_shapes(blueprint).items() if shape.movable]
    for number in range(samples):
        report.samples += 1
        try:
            _check_sample(blueprint, number, forms[number % len(forms)], report, tried)
        except ContentError as error:
            report.fault(error.faults)
    report.wordings = {pool: len(blueprint.raw["texts"][pool]) for pool in ("HS", "plain", "HB")}
    report.gaps = list(blueprint_gaps(blueprint, report.facts))
    return report


def _check_sample(
    blueprint: Blueprint, number: int, turn: Turn, report: Report, tried: dict[tuple[str, int], int]
) -> None:
    rng = rng_of(_SECRET, blueprint.name, number)
    drawn = draw_scaffold(blueprint, rng, f"sample-{number}", forbidden=turn.flip, elsewhere=turn.elsewhere)
    report.fault(statement_faults(blueprint, drawn))
    report.protocols[drawn.scaffold.protocol] += 1
    findings = validate(drawn.scaffold, {})
    for finding in findings:
        report.note(finding)
    if findings:
        return
    report.flips[f"{turn.flip} elsewhere" if turn.elsewhere else turn.flip] += 1
    for name, sibling in _wordings(blueprint, drawn, number, tried):
        for finding in validate(drawn.scaffold, {name: sibling}):
            report.note(_with_text(finding, sibling))
    family = draw_family(blueprint, drawn, lambda name: rng_of(_SECRET, blueprint.name, number, name))
    certificate, findings = certify(family)
    for finding in findings:
        report.note(_with_text(finding, family.siblings[finding.part] if finding.part != "scaffold" else None))
    if certificate is not None:
        report.proved += 1
        report.facts.append(facts_of(family))
        report.runs.append(certificate.runs)


def draw_family(blueprint: Blueprint, drawn: Drawn, rng: Callable[[SiblingName], random.Random]) -> Family:
    """A family over a scaffold, each wording drawn by its own generator. Raises `ContentError` where none fits."""
    siblings: dict[SiblingName, Sibling] = {}
    taken: set[int] = set()
    for name in SIBLINGS:
        written = draw_wording(blueprint, drawn, name, rng(name), taken if name == "EB" else ())
        if written is None:
            place, what = ("texts", POOL_OF[name]), f"no wording for {name} fits flip {drawn.scaffold.forbidden}"
            raise ContentError([blueprint.fault(place, what, "add one without a condition")])
        siblings[name] = written[0]
        if name == "CM":
            taken.add(written[1])
    return Family.model_validate({**drawn.scaffold.model_dump(), "siblings": siblings})


def _wordings(
    blueprint: Blueprint, drawn: Drawn, number: int, tried: dict[tuple[str, int], int]
) -> Iterator[tuple[SiblingName, Sibling]]:
    """Every wording that fits this draw and has been tried fewer than three times."""
    for name in SIBLINGS:
        pool = POOL_OF[name]
        for index in range(len(blueprint.raw["texts"][pool])):
            if tried.get((name, index), 0) >= 3:
                continue
            others = set(range(len(blueprint.raw["texts"][pool]))) - {index}
            written = draw_wording(blueprint, drawn, name, rng_of(_SECRET, name, number, index), others)
            if written is not None:
                tried[name, index] = tried.get((name, index), 0) + 1
                yield name, written[0]


def _with_text(finding: Finding, sibling: Sibling | None) -> Finding:
    return finding.model_copy(update={"seen": sibling.instruction}) if sibling is not None else finding
