"""The reading side of a run: what came of its slots, from any process, also while the run is being written."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, Self

from agentbound.data.records import Record
from agentbound.data.store.disk import reading
from agentbound.data.store.history import OBJECTS
from agentbound.data.store.index import open_index
from agentbound.data.store.lock import writer_pid
from agentbound.data.store.plan import Slot, read_plan
from agentbound.data.store.run import LOCK_FILE, RUN_FILE
from agentbound.data.store.segments import Place, read_body
from agentbound.errors import UsageError

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


class SlotRow(Record):
    """A slot and what came of it; the fields after `outcome` are as in `Accepted` and `Rejected`."""

    slot: str
    category: str
    risk_class: str
    outcome: Literal["accepted", "rejected", "pending"]
    stage: str | None
    attempts: int | None
    family_id: str | None
    family: str | None
    certificate: str | None
    draft: str | None
    reasons: list[str]


class StoredFamily(Record):
    """An accepted family: `record` and `certificate` are the objects as they were put."""

    slot: str
    family_id: str
    digest: str
    record: Any
    certificate: Any = None


class StoredDraft(Record):
    """A rejected candidate: `raw` as it came, `findings` as JSON; `final` where the slot ended with it."""

    slot: str
    stage: str
    attempt: int
    digest: str
    raw: Any
    findings: list[Any]
    final: bool


class FindingCount(Record):
    """How often a code was found on the way to the outcomes of a category's slots that ended in `stage`."""

    stage: str
    category: str
    code: str
    outcome: Literal["accepted", "rejected"]
    count: int


class RunView:
    """A run open for reading. `RunView(path)` raises `UsageError`, `RunVersionError` or `StoreCorrupt`."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.plan = read_plan(path / RUN_FILE)
        with reading(path):
            self._index: DuckDBPyConnection = open_index(path, self.plan)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        self._index.close()

    @property
    def writer(self) -> int | None:
        """The process that is writing to the run, if one is."""
        return writer_pid(self.path / LOCK_FILE)

    def query(self, sql: str, parameters: Sequence[Any] = ()) -> list[dict[str, Any]]:
        """Rows of an SQL query over the tables of `agentbound.data.store.index.TABLES`, by column name.

        May be called from any thread.
        """
        cursor = self._index.cursor()
        try:
            result = cursor.execute(sql, list(parameters))
            names = [column[0] for column in result.description]
            return [dict(zip(names, row, strict=True)) for row in result.fetchall()]
        finally:
            cursor.close()

    def slots(self) -> list[SlotRow]:
        """Every slot in the plan's order, with what came of it."""
        rows = self.query(
            "SELECT s.slot, category, risk_class, coalesce(outcome, 'pending') AS outcome, stage, attempts, family_id,"
            " family, certificate, draft, coalesce(reasons, []) AS reasons"
            " FROM slots s LEFT JOIN outcomes o ON o.slot = s.slot ORDER BY position"
        )
        return [SlotRow(**row) for row in rows]

    def outcomes(self) -> list[SlotRow]:
        """The slots that are settled, in the plan's order."""
        return [row for row in self.slots() if row.outcome != "pending"]

    def slot(self, slot: str) -> Slot:
        """Raises `UsageError` when the run was not asked for it."""
        for known in self.plan.slots:
            if known.id == slot:
                return known
        raise UsageError(f"{self.path} was not asked for a slot {slot}; name one of its plan, in {RUN_FILE}")

    def family(self, name: str) -> StoredFamily:
        """An accepted family by its slot, its id or the beginning of its id that is no other's.

        Raises `UsageError` when there is none, or more than one.
        """
        columns = "SELECT slot, family_id, family, certificate FROM outcomes WHERE outcome = 'accepted'"
        found = self.query(f"{columns} AND (slot = ? OR family_id = ?)", [name, name]) or self.query(
            f"{columns} AND starts_with(family_id, ?) ORDER BY family_id LIMIT 6", [name]
        )
        if len(found) != 1 or not name:
            raise UsageError(self._not_one(name, [row["family_id"] for row in found]))
        (row,) = found
        certificate = row["certificate"]
        return StoredFamily(
            slot=row["slot"],
            family_id=row["family_id"],
            digest=row["family"],
            record=self.get(row["family"]),
            certificate=None if certificate is None else self.get(certificate),
        )

    def drafts(self, slot: str) -> list[StoredDraft]:
        """The rejected candidates of a slot, in the order they were recorded, the one it ended with last."""
        self.slot(slot)
        rows = self.query(
            "SELECT slot, stage, attempt, draft, false AS final FROM drafts WHERE slot = ? ORDER BY position", [slot]
        )
        final = self.query(
            "SELECT slot, stage, attempts AS attempt, draft, true AS final FROM outcomes WHERE slot = ? AND draft IS NOT NULL",
            [slot],
        )
        ended_with = {(row["draft"], row["attempt"]) for row in final}
        on_the_way = [row for row in rows if (row["draft"], row["attempt"]) not in ended_with]
        return [self._draft(row) for row in [*on_the_way, *final]]

    def counts(self) -> list[FindingCount]:
        """Findings by stage, category, code and outcome, the commonest first."""
        rows = self.query(
            "SELECT stage, category, code, outcome, CAST(sum(count) AS BIGINT) AS count"
            " FROM findings JOIN slots USING (slot) GROUP BY ALL ORDER BY count DESC, stage, category, code, outcome"
        )
        return [FindingCount(**row) for row in rows]

    def get(self, address: str) -> Any:
        """An object by its digest. Raises `UsageError` when there is none, `StoreCorrupt` when it is damaged."""
        rows = self.query("SELECT segment, start, length FROM objects WHERE digest = ?", [address])
        if not rows:
            raise UsageError(f"{self.path} holds no object {address}; take digests from its outcomes and drafts")
        with reading(self.path):
            return json.loads(read_body(self.path / OBJECTS, Place(**rows[0])))

    def _draft(self, row: dict[str, Any]) -> StoredDraft:
        digest = row.pop("draft")
        kept = self.get(digest)
        return StoredDraft(**row, digest=digest, raw=kept["raw"], findings=kept["findings"])

    def _not_one(self, name: str, found: list[str]) -> str:
        if found:
            more = ", …" if len(found) > 5 else ""
            return f"{name!r} is the beginning of several families: {', '.join(found[:5])}{more}; name more of the one you mean"
        return f"{self.path} has no accepted family {name!r}; `agentbound show {self.path}` lists them"
