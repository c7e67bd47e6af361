"""The loop, with a writer that says what it is told to say."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from agentbound.data.blueprint import Blueprint, load_blueprint
from agentbound.data.findings import Finding, Part
from agentbound.data.records import SIBLINGS, Family, Scaffold, Sibling, SiblingName
from agentbound.data.seeds import Seed, plan_seeds
from agentbound.errors import UsageError
from agentbound.generators.embedded import EmbeddedWriter
from agentbound.generators.loop import LoopBudget, Outcome, make_family
from agentbound.generators.writer import Attempt, Declined, Draft, Written

MODEL = Path(__file__).resolve().parents[2] / "data" / "blueprints" / "fraud" / "refund_abuse" / "refund_desk.yaml"
SECRET = bytes(32)


@pytest.fixture(scope="module")
def blueprint() -> Blueprint:
    return load_blueprint(MODEL)


@pytest.fixture
def seed(blueprint: Blueprint) -> Seed:
    return plan_seeds([blueprint], [("fraud", "refund_abuse", 1)], SECRET)[0]


@dataclass
class Scribe:
    """A writer that numbers what it writes and notes what it was given."""

    embedded: EmbeddedWriter
    calls: list[tuple[str, list[str], int]] = field(default_factory=list)
    say: Callable[[SiblingName, int], str] = lambda name, number: f"{name} {number}"
    declines: str = ""

    def scaffold(self, seed: Seed, attempt: int, findings: Sequence[Finding]) -> Draft | Declined:
        self.calls.append(("scaffold", [f.code for f in findings], attempt))
        return self.embedded.scaffold(seed, attempt, findings)

    def write(
        self,
        sibling: SiblingName,
        seed: Seed,
        draft: Draft,
        earlier: Mapping[SiblingName, Written],
        findings: Sequence[Finding],
        attempts: Sequence[Attempt],
    ) -> Written | Declined | None:
        self.calls.append((sibling, [f.code for f in findings], len(attempts)))
        if sibling == self.declines:
            return Declined("I would rather not.")
        return Written(Sibling(instruction=self.say(sibling, len(self.calls)), derived_from=list(earlier)))

    @property
    def parts(self) -> list[str]:
        return [part for part, _, _ in self.calls]


def finding(part: Part, wrong: str = "not so") -> Finding:
    return Finding(code="test", part=part, where="here", wrong=wrong, mend="mend it")


class Critic:
    """Finds, at the n-th look, what it was told to find there."""

    def __init__(self, *told: tuple[int, Part], wrong: str = "") -> None:
        self.told, self.looks, self.wrong = dict(told), 0, wrong

    def __call__(self, scaffold: Scaffold, siblings: Mapping[SiblingName, Sibling]) -> list[Finding]:
        self.looks += 1
        part = self.told.get(self.looks)
        return [finding(part, self.wrong or f"at look {self.looks}")] if part else []


@pytest.fixture
def scribe(blueprint: Blueprint) -> Scribe:
    return Scribe(EmbeddedWriter([blueprint]))


def test_parts_are_written_in_order(scribe: Scribe, seed: Seed) -> None:
    outcome = make_family(scribe, Critic(), seed)
    assert scribe.parts == ["scaffold", "HS", "CM", "EB", "HB"]
    assert outcome.family is not None
    assert outcome.family.family_id == seed.id
    assert {n: s.derived_from for n, s in outcome.family.siblings.items()} == {
        "HS": [],
        "CM": ["HS"],
        "EB": ["HS", "CM"],
        "HB": ["CM", "EB"],
    }


@pytest.mark.parametrize(
    ("look", "part", "rewritten"),
    [
        (2, "HS", ["HS"]),
        (5, "HB", ["HB"]),
        (5, "EB", ["EB", "HB"]),
        (5, "CM", ["CM", "EB", "HB"]),
        (5, "HS", ["HS", "CM", "EB", "HB"]),
        (5, "scaffold", ["scaffold", "HS", "CM", "EB", "HB"]),
        (1, "scaffold", ["scaffold"]),
    ],
)
def test_what_depends_on_a_part_is_written_again(
    scribe: Scribe, seed: Seed, look: int, part: Part, rewritten: list[str]
) -> None:
    outcome = make_family(scribe, Critic((look, part)), seed)
    assert outcome.accepted
    again = scribe.calls[look:]
    order = ["scaffold", *SIBLINGS]
    assert [p for p, _, _ in again][: len(rewritten)] == rewritten
    assert [p for p, _, _ in again] == rewritten + order[max(look, order.index(rewritten[-1]) + 1) :]
    assert [codes for _, codes, _ in again] == [["test"]] + [[] for _ in again[1:]]
    assert again[0][2] == 1  # the attempt is remembered


def test_the_first_part_that_is_wrong_comes_first(scribe: Scribe, seed: Seed) -> None:
    def critic(scaffold: Scaffold, siblings: Mapping[SiblingName, Sibling]) -> list[Finding]:
        return [finding("HB"), finding("CM")] if len(siblings) == 4 and len(scribe.calls) == 5 else []

    assert make_family(scribe, critic, seed).accepted
    assert scribe.parts[5:] == ["CM", "EB", "HB"]


def test_findings_that_come_back_end_the_candidate(scribe: Scribe, seed: Seed) -> None:
    critic = Critic((2, "HS"), (3, "HS"), (4, "HS"), wrong="the same")
    outcome = make_family(scribe, critic, seed)
    assert outcome.accepted
    assert scribe.parts == ["scaffold", "HS", "HS", "HS", "scaffold", "HS", "CM", "EB", "HB"]
    assert [call for call in scribe.calls if call[0] == "scaffold"] == [("scaffold", [], 0), ("scaffold", [], 1)]
    assert {kept.candidate for kept in outcome.drafts} == {0, 1}


def test_the_same_attempt_again_ends_the_candidate(scribe: Scribe, seed: Seed) -> None:
    scribe.say = lambda name, number: f"{name} says the same"
    assert make_family(scribe, Critic((2, "HS")), seed).accepted
    assert scribe.parts == ["scaffold", "HS", "HS", "scaffold", "HS", "CM", "EB", "HB"]


def test_the_budget_ends_it(scribe: Scribe, seed: Seed) -> None:
    critic = Critic(*((look, "HS") for look in range(2, 100) if look != 5 and look != 9))
    outcome = make_family(scribe, critic, seed, LoopBudget(rewrites=2, candidates=3))
    assert not outcome.accepted
    assert outcome.reason == "budget"
    assert scribe.parts.count("scaffold") == 3
    assert outcome.findings


def test_a_refusal_is_not_tried_around(scribe: Scribe, seed: Seed) -> None:
    scribe.declines = "CM"
    outcome = make_family(scribe, Critic(), seed)
    assert outcome.reason == "declined"
    assert scribe.parts == ["scaffold", "HS", "CM"]
    assert outcome.drafts[-1].text == "I would rather not."


def test_warnings_do_not_hold_a_family_up(scribe: Scribe, seed: Seed) -> None:
    warning = finding("HS").model_copy(update={"severity": "warning"})
    assert make_family(scribe, lambda scaffold, siblings: [warning], seed).accepted


def test_a_whole_family_is_certified_and_what_is_found_is_mended(scribe: Scribe, seed: Seed) -> None:
    asked: list[Family] = []

    def certify(family: Family) -> tuple[str | None, list[Finding]]:
        asked.append(family)
        return (None, [finding("HB")]) if len(asked) == 1 else ("proved", [])

    outcome = make_family(scribe, Critic(), seed, certify=certify)
    assert (outcome.certificate, outcome.family) == ("proved", asked[1])
    assert scribe.parts[5:] == ["HB"]


def embedded(blueprint: Blueprint, seed: Seed, critic: Critic) -> Outcome:
    return make_family(EmbeddedWriter([blueprint]), critic, seed)


def test_the_embedded_writer_takes_another_template(blueprint: Blueprint, seed: Seed) -> None:
    outcome = embedded(blueprint, seed, Critic((3, "CM"), (4, "CM")))
    tried = [kept.content for kept in outcome.drafts if kept.part in ("CM", "EB")]
    assert len({s.instruction for s in tried if isinstance(s, Sibling)}) == 4
    assert outcome.family is not None
    assert outcome.family.siblings["CM"].instruction != outcome.family.siblings["EB"].instruction


def test_the_embedded_writer_draws_other_values(blueprint: Blueprint, seed: Seed) -> None:
    outcome = embedded(blueprint, seed, Critic((1, "scaffold")))
    scaffolds = [kept.content for kept in outcome.drafts if isinstance(kept.content, Scaffold)]
    assert len(scaffolds) == 2
    assert scaffolds[0].world != scaffolds[1].world
    assert {s.forbidden for s in scaffolds} == {seed.forbidden}


def test_the_embedded_writer_keeps_nothing_between_calls(blueprint: Blueprint, seed: Seed) -> None:
    writer = EmbeddedWriter([blueprint])
    first = make_family(writer, Critic((4, "CM")), seed)
    assert make_family(writer, Critic((4, "CM")), seed).family == first.family


def test_a_seed_of_an_unknown_blueprint_is_an_error(blueprint: Blueprint, seed: Seed) -> None:
    with pytest.raises(UsageError, match="not loaded"):
        EmbeddedWriter([]).scaffold(seed, 0, [])
