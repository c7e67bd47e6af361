"""A finding: one result of a check, in the words of somebody who wants it mended."""

from __future__ import annotations

from typing import Any, Literal

from agentbound.data.records import Record

Part = Literal["scaffold", "HS", "CM", "EB", "HB"]


class Finding(Record):
    """What a validator or a proof found.

    `code` is the proof's or validator's name, `part` what has to be written again, `where` a path into the record
    or the call that failed, `seen` and `wanted` short renderings of what was there and what should be.
    """

    code: str
    part: Part
    severity: Literal["error", "warning"] = "error"
    where: str
    wrong: str
    mend: str
    seen: Any = None
    wanted: Any = None

    def __str__(self) -> str:
        return f"{self.code} [{self.part}] {self.where}: {self.wrong}; {self.mend}"
