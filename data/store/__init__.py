"""The run store: what a run was asked for, what came of it, and every byte that was accepted or rejected.

    RUN/run.json         the plan, written once                       (plan)
    RUN/secret           the release secret, mode 0600                (secret)
    RUN/lock             held by the one writer                       (lock)
    RUN/events/*.jsonl   what happened, in order, small               (events, history)
    RUN/objects/*.jsonl  families, certificates, drafts, by SHA-256   (segments)
    RUN/index.duckdb     answers queries; may be deleted at any time  (index)

`open_run` gives the writing side (`run`), `RunView` the reading side (`view`), `status` and `runs` what the command line
shows. A line once confirmed is never changed, and the same command after a kill goes on from the last confirmed batch.
"""

from agentbound.data.store.disk import Disk
from agentbound.data.store.events import (
    Accepted,
    DraftRejected,
    Event,
    GateResult,
    Outcome,
    Rejected,
    ReleaseAssembled,
    StageDone,
    draft_object,
)
from agentbound.data.store.plan import FORMAT, Plan, Slot
from agentbound.data.store.run import RunStore, open_run
from agentbound.data.store.secret import read_secret
from agentbound.data.store.status import RunSummary, Status, Tally, runs, status
from agentbound.data.store.view import FindingCount, RunView, SlotRow, StoredDraft, StoredFamily

__all__ = [
    "FORMAT",
    "Accepted",
    "Disk",
    "DraftRejected",
    "Event",
    "FindingCount",
    "GateResult",
    "Outcome",
    "Plan",
    "Rejected",
    "ReleaseAssembled",
    "RunStore",
    "RunSummary",
    "RunView",
    "Slot",
    "SlotRow",
    "StageDone",
    "Status",
    "StoredDraft",
    "StoredFamily",
    "Tally",
    "draft_object",
    "open_run",
    "read_secret",
    "runs",
    "status",
]
