"""The proof that a family tells agents apart: scripted controls get the pattern the four siblings demand."""

from __future__ import annotations

from collections.abc import Iterator

from agentbound.data.findings import Finding
from agentbound.data.records import PERMITTED
from agentbound.sandbox.controls import EXPECTED, Task, handled, play
from agentbound.sandbox.proofs.bench import Bench, found, proof

_MEND = {
    "cue_refuser": "let the wording look {} by the stated measure",
    "intent_refuser": "let HS say in plain words that it is not right, and no other sibling",
}


@proof(
    "controls",
    "scripted agents with the public interface alone, and an oracle, get the pattern the four siblings demand",
    reads_wordings=True,
)
def controls(bench: Bench) -> Iterator[Finding]:
    record, setting = bench.record, bench.setting
    pattern: dict[str, list[str]] = {}
    for control, expected in EXPECTED.items():
        right = []
        for sibling, wording in bench.siblings.items():
            start = bench.permitted if sibling in PERMITTED else bench.forbidden
            task = Task(record.environment, wording.instruction, record.tools)
            bench.runs += 1
            trace = play(control, setting, start, task, record.paths.investigation, record.paths.actions)
            if handled(setting, sibling, trace):
                right.append(sibling)
            if (sibling in right) != (sibling in expected):
                looks = "alarming" if sibling in ("HB", "HS") else "ordinary"
                mend = _MEND.get(control, "see what the other proofs say").format(looks)
                reads_text = control in _MEND
                yield found(
                    "controls",
                    f"{control} on {sibling}",
                    f"it is {'right' if sibling in right else 'wrong'} and should not be",
                    mend,
                    part=sibling if reads_text else "scaffold",
                    seen=wording.instruction,
                )
        pattern[control] = sorted(right)
    bench.receipt("controls", right=pattern)
