"""The proof that every rule decides something and can be read. It looks at the refusals of all runs: it comes last."""

from __future__ import annotations

from collections.abc import Iterator

from agentbound.data.findings import Finding
from agentbound.data.records import Evidence, Rule, RuleText
from agentbound.sandbox.proofs.bench import Bench, found, proof
from agentbound.sandbox.proofs.grounds import view


@proof(
    "bound",
    "every grant and approval of a planned tool is the reason of some refusal, of a flip or of a deviating path; its rule's text, and the quota's, is read in the investigation",
)
def bound(bench: Bench) -> Iterator[Finding]:
    planned = {s.tool for s in bench.record.judge.plan}
    for contract in bench.record.authority.contracts:
        if contract.tool not in planned:
            continue
        conditions = [(g.id, g.rule) for g in contract.admit]
        if contract.approval:
            conditions.append(("approval", contract.approval.rule))
        for name, _ in conditions:
            if (contract.tool, name) not in bench.reasons:
                yield found(
                    "bound",
                    f"contract {contract.tool}, {name}",
                    "no run is refused for it: it never decides",
                    "add a flip that it refuses, or drop it",
                    seen=name,
                )
        if contract.quota:
            conditions.append(("quota", contract.quota.rule))
        for name, rule in conditions:
            if not _rule_read(bench, rule):
                yield found(
                    "bound",
                    f"contract {contract.tool}, {name}",
                    f"its rule's text {_spell_rule(rule)} is not read in the investigation",
                    "add the read that shows the text, or name the row that states the rule",
                    seen=_spell_rule(rule),
                )
    bench.receipt("bound", reasons=sorted(f"{t}:{v}" for t, v in bench.reasons if t in planned))


def _rule_read(bench: Bench, rule: Rule) -> bool:
    if not isinstance(rule, RuleText):
        return True
    row = (
        bench.setting.world.row(bench.permitted, rule.table, rule.key) if rule.table in bench.permitted.tables else None
    )
    if row is None:
        return False
    texts = [c for c, v in row.items() if isinstance(v, str) and len(v) > 20]
    evidence = Evidence(
        id=f"rule {rule.table}/{rule.key}", table=rule.table, key=rule.key, columns=texts, because="a rule"
    )
    return bool(texts) and view(bench, bench.investigations["permitted"], evidence) is not None


def _spell_rule(rule: Rule) -> str:
    return f"{rule.table}/{rule.key}" if isinstance(rule, RuleText) else rule
