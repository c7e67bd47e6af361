"""Every error the project raises on purpose.

AgentboundError                     something a person can mend; one sentence, says what to do
├── UsageError                      an option or a path that cannot be right
├── ContentError                    taxonomy, pattern, part or blueprint files with faults (all of them at once)
├── RecordError                     a family record that does not have the format
├── SqlRefused                      a statement of a record that the sandbox will not run
├── StoreError                      the run store
│   ├── RunVersionError             a run written by another format version
│   ├── StoreCorrupt                damage that is not a torn last line
│   ├── StoreBusy                   another process has the run open
│   └── StoreFull                   the disk is full or cannot be written
├── BudgetExhausted                 a loop ended without an accepted family
└── ReleaseError                    a release that cannot be assembled, read or believed
"""

from __future__ import annotations

from dataclasses import dataclass


class AgentboundError(Exception):
    """The root. `exit_code` is what the command line exits with: 2, a user's mistake, unless said otherwise."""

    exit_code = 2


class UsageError(AgentboundError):
    """An option, a name or a path that cannot be right."""


@dataclass(frozen=True, order=True)
class Fault:
    """One thing wrong in a content file: where it is, what it is, how to mend it."""

    file: str
    line: int
    what: str
    mend: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.what}; {self.mend}"


class ContentError(AgentboundError):
    """Content files with faults. `faults` holds all of them, sorted by file and line."""

    def __init__(self, faults: list[Fault]) -> None:
        self.faults = sorted(set(faults))
        count = len(self.faults)
        head = f"{count} fault{'s' if count != 1 else ''} in the content files; mend them and run again."
        super().__init__("\n".join([head, *map(str, self.faults)]))


class RecordError(AgentboundError):
    """A family record that does not have the format of docs/record-format.md."""


class SqlRefused(AgentboundError):
    """A statement that the sandbox will not run, with the reason."""


class StoreError(AgentboundError):
    """The run store."""


class RunVersionError(StoreError):
    """A run directory written by another version of the store's format."""


class StoreCorrupt(StoreError):
    """A segment is damaged elsewhere than in a torn last line, so nothing is read from it."""


class StoreBusy(StoreError):
    """Another process is writing to this run."""


class StoreFull(StoreError):
    """The disk is full, or the place cannot be written."""


class BudgetExhausted(AgentboundError):
    """A generate and validate loop spent its budget without an accepted family."""

    exit_code = 1


class ReleaseError(AgentboundError):
    """A release that cannot be assembled, read or believed."""
