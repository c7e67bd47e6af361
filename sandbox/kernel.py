"""The kernel: what checks a call against the authority before it takes effect."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from agentbound.data.records import Authority, Cell, Contract, Quota
from agentbound.sandbox.cells import StatementFailed, is_true
from agentbound.sandbox.state import Call, Outcome, State
from agentbound.sandbox.world import World

BUDGET: Final = "budget"
UNLISTED: Final = "unlisted"
CALLER: Final = "caller"
QUOTA: Final = "quota"
APPROVAL: Final = "approval"
VERDICTS: Final = frozenset({BUDGET, UNLISTED, CALLER, QUOTA, APPROVAL})
"""Names of verdicts beside the ids of grants."""


@dataclass(frozen=True, slots=True)
class Decision:
    """`verdict` is None where the call is admitted, else the name of the first condition that fails.

    `approval` is the id of the approval the call relies on, used up when it takes effect.
    """

    verdict: str | None
    approval: Cell = None


ADMITTED: Final = Decision(None)


@dataclass(slots=True)
class Ledger:
    """What an episode has used so far: all calls, and the calls of each tool that took effect."""

    calls: int = 0
    effective: dict[str, int] = field(default_factory=dict)
    sums: dict[tuple[str, str], int | float] = field(default_factory=dict)
    approvals: set[Cell] = field(default_factory=set)

    def copy(self) -> Ledger:
        return Ledger(self.calls, self.effective.copy(), self.sums.copy(), self.approvals.copy())


class Kernel:
    """Decides calls in the order of the design: budget, unlisted tool, caller, grants, quota, approval."""

    def __init__(self, world: World, authority: Authority) -> None:
        self._world = world
        self._budget = authority.budget.calls
        self._contracts: dict[str, Contract] = {c.tool: c for c in authority.contracts}

    def decide(self, state: State, ledger: Ledger, call: Call) -> Decision:
        """The decision on a call that has passed its schema, in a state, after what `ledger` holds."""
        if ledger.calls >= self._budget:
            return Decision(BUDGET)
        contract = self._contracts.get(call.tool)
        if contract is None:
            return ADMITTED if self._world.transitions[call.tool].kind == "read" else Decision(UNLISTED)
        if call.caller not in contract.callers:
            return Decision(CALLER)
        failed = self._failed_grant(state, contract, call)
        if failed:
            return Decision(failed)
        if contract.quota and _exhausted(contract.quota, ledger, call):
            return Decision(QUOTA)
        return self._approve(state, contract, ledger, call)

    def count(self, ledger: Ledger, call: Call, decision: Decision, outcome: Outcome | None) -> None:
        """Enter a call into the ledger, with its outcome where it was let through to the world."""
        ledger.calls += 1
        if outcome is None or outcome.status != "ok":
            return
        ledger.effective[call.tool] = ledger.effective.get(call.tool, 0) + 1
        if decision.approval is not None:
            ledger.approvals.add(decision.approval)
        contract = self._contracts.get(call.tool)
        if contract and contract.quota and contract.quota.sum:
            place = (call.tool, contract.quota.sum.arg)
            ledger.sums[place] = ledger.sums.get(place, 0) + _number(call, contract.quota.sum.arg)

    def _failed_grant(self, state: State, contract: Contract, call: Call) -> str | None:
        if not contract.admit:
            return None
        memo = ("grant", call.tool, call.key, call.caller)
        if memo not in state.facts:
            bound, key = self._world.bound(call), (call.key, call.caller)
            grants = contract.admit
            state.facts[memo] = next((g.id for g in grants if not self._world.holds(state, g.sql, bound, key)), None)
        failed: str | None = state.facts[memo]
        return failed

    def _approve(self, state: State, contract: Contract, ledger: Ledger, call: Call) -> Decision:
        approval = contract.approval
        if approval is None:
            return ADMITTED
        bound, key = self._world.bound(call), (call.key, call.caller)
        if approval.when is not None and not self._needed(state, approval.when, bound, key):
            return ADMITTED
        try:
            found = self._world.ask(state, approval.find, bound, key)
        except StatementFailed:
            found = ()
        offered: Sequence[Cell] = [next(iter(row.values())) for row in found]
        unused = next((a for a in offered if a is not None and a not in ledger.approvals), None)
        return Decision(APPROVAL) if unused is None else Decision(None, unused)

    def _needed(self, state: State, when: str, bound: dict[str, object], key: tuple[str, str]) -> bool:
        try:
            return is_true(self._world.ask(state, when, bound, key))
        except StatementFailed:
            return True  # a condition that cannot be reckoned waives nothing


def _exhausted(quota: Quota, ledger: Ledger, call: Call) -> bool:
    if quota.calls is not None and ledger.effective.get(call.tool, 0) >= quota.calls:
        return True
    limit = quota.sum
    return limit is not None and ledger.sums.get((call.tool, limit.arg), 0) + _number(call, limit.arg) > limit.max


def _number(call: Call, argument: str) -> int | float:
    value = call.args.get(argument)
    return value if isinstance(value, int | float) else 0
