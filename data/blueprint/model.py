"""The format of a blueprint file and of a part, once its conditions are settled and before its values are drawn.

`docs/blueprints.md` explains the keys. A number that may be drawn is written as a placeholder, so where the record
has a number there may be a text here.
"""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from agentbound.data.blueprint.placeholders import PLACEHOLDER

__all__ = ["BlueprintFile", "PartFile", "ToolSpec", "Use"]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


def _placeholder(text: str) -> str:
    if not PLACEHOLDER.fullmatch(text):
        raise ValueError("write a number, or one placeholder like <cap>")
    return text


def _name(text: str) -> str:
    if not re.fullmatch(r"[a-z][a-z0-9_]*", text):
        raise ValueError("write a name of small letters, digits and underscores")
    return text


def _touch(text: str) -> str:
    if not re.fullmatch(r"(insert|update|delete) \S+ (\d+|<[a-z0-9_.]+>)", text):
        raise ValueError("write `insert TABLE N`, `update TABLE N` or `delete TABLE N`")
    return text


def _rule(text: str) -> str:
    if text != "environment" and not re.fullmatch(r"[^/\s]+/\S.*", text):
        raise ValueError("write `table/key` or `environment`")
    return text


def _observes(text: str) -> str:
    if not re.fullmatch(r"[^.\s]+\.[^.\s]+", text):
        raise ValueError("write `table.column`, the column of the read's rows that holds the table's key")
    return text


Name = Annotated[str, AfterValidator(_name)]
Placeholder = Annotated[str, AfterValidator(_placeholder)]
Cell = str | int | float | bool | None
Whole = int | Placeholder
RuleName = Annotated[str, AfterValidator(_rule)]


class RequirementSpec(_Strict):
    sql: str
    error: str


class ObservesSpec(_Strict):
    table: str
    key: str
    scope: dict[str, str] | None = None


class ToolSpec(_Strict):
    about: str
    params: dict[str, str | list[str] | dict[str, Any]] = {}
    known: dict[str, tuple[str, str]] = {}
    requires: list[RequirementSpec] = []
    read: str | None = None
    write: str | list[str] | None = None
    observes: list[Annotated[str, AfterValidator(_observes)] | ObservesSpec] = []
    incidental: bool = False

    @model_validator(mode="after")
    def _one_kind(self) -> ToolSpec:
        if (self.read is None) == (self.write is None):
            raise ValueError("a tool has either `read` or `write`")
        if self.write is not None and self.observes:
            raise ValueError("a write observes nothing: drop `observes`")
        return self


class GrantSpec(_Strict):
    id: str
    sql: str
    because: str
    rule: RuleName


class SumSpec(_Strict):
    arg: str
    max: float | Placeholder


class QuotaSpec(_Strict):
    calls: Whole | None = None
    sum: SumSpec | None = None
    rule: RuleName

    @model_validator(mode="after")
    def _one_limit(self) -> QuotaSpec:
        if (self.calls is None) == (self.sum is None):
            raise ValueError("a quota has either `calls` or `sum`")
        return self


class ApprovalSpec(_Strict):
    when: str | None = None
    find: str
    rule: RuleName


class ContractSpec(_Strict):
    tool: str
    callers: list[str] | None = None
    admit: list[GrantSpec] = []
    quota: QuotaSpec | None = None
    approval: ApprovalSpec | None = None


class ChangeSpec(_Strict):
    op: Literal["insert", "update", "delete"]
    table: str
    key: str | int | None = None
    row: dict[str, Cell] | None = None
    set: dict[str, Cell] | None = None
    elsewhere: dict[str, Cell] | None = Field(None, min_length=1)

    @model_validator(mode="after")
    def _as_op_says(self) -> ChangeSpec:
        given = (self.key is not None, self.row is not None, self.set is not None)
        wanted = {"insert": (False, True, False), "update": (True, False, True), "delete": (True, False, False)}
        if given != wanted[self.op]:
            raise ValueError("an insert has `row`, an update `key` and `set`, a delete `key`, and nothing else")
        if self.elsewhere and self.op == "update":
            raise ValueError("`elsewhere` turns an insert or a delete into an update; this is one")
        if self.elsewhere and self.row is not None and not self.elsewhere.keys() <= self.row.keys():
            raise ValueError("`elsewhere` names columns that the row does not have")
        return self


class FlipSpec(_Strict):
    id: Name
    kind: str
    refused_by: str
    decides: list[str] = []
    forbidden: bool = True
    delta: list[ChangeSpec] = Field(min_length=1)

    @model_validator(mode="after")
    def _decides(self) -> FlipSpec:
        if self.forbidden and not self.decides:
            raise ValueError("`decides` names no evidence; name what the flip changes, or say `forbidden: false`")
        return self


class HarmSpec(_Strict):
    id: str
    severity: Literal[1, 2, 3]
    sql: str


class EvidenceSpec(_Strict):
    table: str
    key: str | int | None = None
    scope: dict[str, Cell] | None = None
    columns: list[str] = []
    because: str

    @model_validator(mode="after")
    def _one_place(self) -> EvidenceSpec:
        if (self.key is None) == (self.scope is None):
            raise ValueError("evidence has either `key` or `scope`")
        return self


class StepSpec(_Strict):
    id: str
    tool: str
    args: dict[str, Any] = {}
    says: dict[str, Any] = {}
    after: list[str] = []
    needs: list[str] = []
    caller: str | None = None


class RepeatSpec(_Strict):
    repeat: Whole | list[int | str]
    with_: dict[Name, Any] = Field({}, alias="with")
    row: dict[str, Cell]


class TextSpec(_Strict):
    text: str


Texts = list[str | TextSpec]


class TextsSpec(_Strict):
    HS: Texts = Field(min_length=1)
    plain: Texts = Field(min_length=2)
    HB: Texts = Field(min_length=1)


class PatternsSpec(_Strict):
    misuse: list[str] = Field(min_length=1)
    disguise: list[str] = Field(min_length=1)
    authorization: list[str] = Field(min_length=1)
    containment: list[str] = Field(min_length=1)


class ClockSpec(_Strict):
    hours: tuple[int, int] = (8, 17)
    weekend: bool = False


class Use(BaseModel):
    """Whatever else it has are the part's parameters."""

    model_config = ConfigDict(extra="allow", frozen=True)
    part: str
    tools: list[str] | None = None
    about: dict[str, str] = {}


class PartFile(_Strict):
    part: Name
    about: str
    params: dict[Name, Any] = {}
    tables: dict[str, str] = {}
    views: dict[str, str] = {}
    tools: dict[str, ToolSpec] = {}


class BlueprintFile(_Strict):
    blueprint: Name
    category: str
    risk_class: str
    domain: str
    pool: Literal["benchmark", "training"] = "benchmark"
    theme: str
    patterns: PatternsSpec
    caller: str
    mandate: str
    environment: Texts = Field(min_length=1)
    budget: int | dict[str, Any]
    clock: ClockSpec = ClockSpec()
    values: dict[Name, Any] = {}
    use: list[Use] = []
    tables: dict[str, str] = {}
    views: dict[str, str] = {}
    rows: dict[str, list[RepeatSpec | dict[str, Cell]]]
    tools: dict[str, ToolSpec] = {}
    contracts: list[ContractSpec] = Field(min_length=1)
    flips: list[FlipSpec] = Field(min_length=1)
    success: dict[str, str] = Field(min_length=1)
    touches: list[Annotated[str, AfterValidator(_touch)]]
    harms: list[HarmSpec] = Field(min_length=1)
    evidence: dict[str, EvidenceSpec] = Field(min_length=1)
    investigation: list[dict[str, dict[str, Any] | None]] = Field(min_length=1)
    plan: list[StepSpec] = Field(min_length=1)
    texts: TextsSpec
