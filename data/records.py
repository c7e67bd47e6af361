"""The family record: what four sibling tasks share, what takes permission away, and how both are judged.

`docs/record-format.md` explains every field; this module is the format. A record is plain data: it is read from
and written to canonical JSON (`agentbound.data.canonical`) and knows nothing of how it is run.
"""

from __future__ import annotations

from typing import Any, Final, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from agentbound.errors import RecordError

SCHEMA_VERSION: Final = "1"

Cell = str | int | float | None
Row = dict[str, Cell]
Arguments = dict[str, Any]
SiblingName = Literal["HS", "CM", "EB", "HB"]
Protocol = Literal["V1", "V2", "V3"]

SIBLINGS: Final[tuple[SiblingName, ...]] = get_args(SiblingName)
"""In the order they are written in: harmful source, covert malicious, easy benign, hard benign."""

PERMITTED: Final[frozenset[SiblingName]] = frozenset({"EB", "HB"})
"""The siblings that stand in the permitted world."""

ENVIRONMENT: Final = "environment"
"""As a `rule`: the text that states it is the environment, not a row."""


class Record(BaseModel):
    """The base of every record: frozen, and an unknown key is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class RuleText(Record):
    """Where the agent can read a rule: the row of `table` with primary key `key`."""

    table: str
    key: str


Rule = RuleText | Literal["environment"]


class Tool(Record):
    """A tool as the agent sees it; `parameters` is a JSON Schema of type object."""

    name: str
    description: str
    parameters: dict[str, Any]


class Requirement(Record):
    """A condition of existence or shape. When `sql` is false the call is an error that says `error`."""

    sql: str
    error: str


class Observes(Record):
    """Which column (`key`) of a read's rows carries the primary key of `table`.

    `scope` maps columns of the table to the parameters they were filtered by; `{}` is the whole table. A read
    with a scope shows all rows of that scope, so that an empty list is evidence of absence.
    """

    table: str
    key: str
    scope: dict[str, str] | None = None


class Transition(Record):
    """What a tool does: `sql` runs in one savepoint, the rows of the last statement are the observation."""

    kind: Literal["read", "write"]
    requires: list[Requirement] = []
    sql: list[str]
    observes: list[Observes] = []
    incidental: bool = False
    """A write that never matters to permission or success: a note, a draft."""


class WorldSpec(Record):
    """The permitted world: SQLite DDL, rows by table, and what each tool does.

    `clock` is the world's now, `YYYY-MM-DDTHH:MM:SSZ`.
    """

    clock: str = Field(pattern=r"^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z$")
    schema_: list[str] = Field(alias="schema")
    rows: dict[str, list[Row]]
    transitions: dict[str, Transition]

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True, serialize_by_alias=True)


class Grant(Record):
    """A condition on a call that must hold before it takes effect; `rule` is the text that states it."""

    id: str
    sql: str
    because: str
    rule: Rule


class SumLimit(Record):
    """The sum of argument `arg` over the calls that took effect may reach `max` and not pass it."""

    arg: str
    max: int | float


class Quota(Record):
    """At most `calls` calls that took effect, or a limit on a `sum`; one of the two."""

    calls: int | None = Field(default=None, ge=0)
    sum: SumLimit | None = None
    rule: Rule


class Approval(Record):
    """Somebody else's decision: needed where `when` is true (always, where there is none).

    `find` binds it to the call's arguments; what it returns is used once an episode.
    """

    when: str | None = None
    find: str
    rule: Rule


class Contract(Record):
    """Who may call a write tool, and on which conditions."""

    tool: str
    callers: list[str]
    admit: list[Grant] = []
    quota: Quota | None = None
    approval: Approval | None = None


class Budget(Record):
    """`calls`: how many calls an episode may make in all, failed and refused ones too."""

    calls: int = Field(ge=1)


class Authority(Record):
    """The responsibility boundary. A write tool without a contract is not permitted; a read tool without one is."""

    mandate: str
    budget: Budget
    contracts: list[Contract]

    def contract(self, tool: str) -> Contract | None:
        return next((c for c in self.contracts if c.tool == tool), None)


class Change(Record):
    """One row of a flip: `insert` with `row`, `update` with `key` and `set`, `delete` with `key`."""

    op: Literal["insert", "update", "delete"]
    table: str
    key: str | int | None = None
    row: Row | None = None
    set: Row | None = None


class Flip(Record):
    """A change of a row or two that takes permission away; `refused_by` is the grant (or "approval") it fails."""

    id: str
    delta: list[Change] = Field(min_length=1)
    refused_by: str


class Truth(Record):
    """A named predicate over the final state."""

    id: str
    sql: str


class Harm(Truth):
    """A named harm, graded 1 (slight) to 3 (grave); once true it stays."""

    severity: int = Field(ge=1, le=3)


class Touch(Record):
    """What the job changes: `rows` rows of `table` by `op`; nothing else may change."""

    table: str
    op: Literal["insert", "update", "delete"]
    rows: int = Field(ge=1)


class Evidence(Record):
    """A fact bound to its source that must have been observed before an action.

    Either the row of `table` with primary key `key`, or all rows of a `scope` (column to value). `columns` are the
    observation's. `decisive`: it differs between the two worlds.
    """

    id: str
    table: str
    key: str | int | None = None
    scope: dict[str, Cell] | None = None
    columns: list[str] = []
    because: str
    decisive: bool = False


class Step(Record):
    """A consequential action of the plan. An argument is a literal or `{"from": step, "field": column}`.

    Free text stays out of `args`. `after` names earlier steps, `needs` the evidence to have first.
    """

    id: str
    tool: str
    args: Arguments
    after: list[str] = []
    needs: list[str] = []


class Judge(Record):
    """What success, harm, evidence and the plan are, hidden from the agent."""

    success: list[Truth] = Field(min_length=1)
    touches: list[Touch]
    harms: list[Harm] = Field(min_length=1)
    evidence: list[Evidence]
    plan: list[Step] = Field(min_length=1)


class PathCall(Record):
    """A call of a path; an argument as in `Step`, `id` names the step it carries out, `caller` another caller."""

    id: str | None = None
    tool: str
    args: Arguments
    caller: str | None = None


class Paths(Record):
    """`investigation` (reads) and `actions`; together the reference path."""

    investigation: list[PathCall]
    actions: list[PathCall] = Field(min_length=1)


class Sibling(Record):
    """One wording. `claims` are the spans of the instruction that claim permission, in whatever words."""

    instruction: str = Field(min_length=1)
    derived_from: list[SiblingName] = []
    claims: list[str] = []


class Patterns(Record):
    """The named ways in which the family misuses, disguises, authorises and contains."""

    misuse: str
    disguise: str
    authorization: str
    containment: str


class Scaffold(Record):
    """What four siblings share: tools, world, authority, flips, judge and paths. A family without its wordings."""

    schema_version: Literal["1"] = SCHEMA_VERSION
    family_id: str
    category: str
    risk_class: str
    domain: str
    blueprint: str
    theme: str
    patterns: Patterns
    environment: str
    caller: str
    tools: list[Tool] = Field(min_length=1)
    world: WorldSpec
    flips: list[Flip] = Field(min_length=1)
    forbidden: str
    authority: Authority
    judge: Judge
    paths: Paths

    @property
    def flip(self) -> Flip:
        """The flip whose world is HS's and CM's."""
        return next(f for f in self.flips if f.id == self.forbidden)

    @property
    def protocol(self) -> Protocol:
        """V1 one action; V2 a chain with one valid order; V3 two valid orders or more."""
        plan = self.judge.plan
        if len(plan) == 1:
            return "V1"
        done: list[str] = []
        for step in plan:
            ready = [s.id for s in plan if s.id not in done and set(s.after) <= set(done)]
            if len(ready) != 1:
                return "V3"
            done.append(step.id if step.id in ready else ready[0])
        return "V2"


class Family(Scaffold):
    """A scaffold with its four wordings: the unit that is proved, accepted and released."""

    siblings: dict[SiblingName, Sibling]


def parse_family(data: Any, source: str = "record") -> Family:
    """Read a family from decoded JSON.

    Raises `RecordError`, one line a fault, when it does not have the format.
    """
    try:
        family = Family.model_validate(data)
    except ValidationError as error:
        lines = [f"{source}: {'.'.join(map(str, e['loc'])) or 'record'}: {e['msg']}" for e in error.errors()]
        raise RecordError("\n".join(lines)) from error
    missing = [name for name in SIBLINGS if name not in family.siblings]
    if missing:
        raise RecordError(f"{source}: siblings: {', '.join(missing)} missing; a family has four wordings")
    return family
