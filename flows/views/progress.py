"""Progress of a build: a live table in a terminal, a plain log elsewhere."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping
from types import TracebackType
from typing import Self

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

STAGES = ("start", "seed", "generate and validate", "gate", "assemble")


class Progress:
    """What has happened so far, by stage and category. `requested` is families by category."""

    def __init__(self, console: Console, requested: Mapping[str, int]) -> None:
        self._console = console
        self._requested = dict(requested)
        self._accepted: Counter[str] = Counter()
        self._rejected: Counter[str] = Counter()
        self._findings: dict[str, Counter[str]] = {c: Counter() for c in requested}
        self._stage = STAGES[0]
        self._began = time.monotonic()
        self._live: Live | None = None

    def __enter__(self) -> Self:
        if self._console.is_terminal:
            self._live = Live(console=self._console, get_renderable=self._view, refresh_per_second=4, transient=True)
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._live:
            self._live.stop()

    def stage(self, name: str, note: str = "") -> None:
        """A stage begins."""
        self._stage = name
        self._log(f"{name}{f': {note}' if note else ''}")

    def settled(self, category: str, accepted: bool, findings: Mapping[str, int]) -> None:
        """A family of a category was accepted or rejected, after these findings on the way."""
        (self._accepted if accepted else self._rejected)[category] += 1
        self._findings[category].update(findings)

    def shard(self, name: str) -> None:
        """A shard is through."""
        done = self._accepted.total() + self._rejected.total()
        self._log(
            f"{name}: {done} of {sum(self._requested.values())} families, {self._accepted.total()} accepted, "
            f"{self._rejected.total()} rejected; commonest finding {self._commonest()}"
        )

    def clear(self) -> None:
        """The work ends here: the table goes."""
        if self._live:
            self._live.stop()

    def _commonest(self, category: str | None = None) -> str:
        counts = self._findings[category] if category else sum(self._findings.values(), Counter())
        return "{} ({})".format(*counts.most_common(1)[0]) if counts else "none"

    def _log(self, line: str) -> None:
        if not self._live:
            self._console.print(Text(f"[{time.monotonic() - self._began:6.1f} s] {line}"), soft_wrap=True)

    def _view(self) -> RenderableType:
        head = Text()
        for stage in STAGES:
            here = stage == self._stage
            head.append(f"{'▸ ' if here else '  '}{stage}  ", style="bold cyan" if here else "dim")
        head.append(f"{time.monotonic() - self._began:.0f} s", style="dim")
        table = Table(box=None, padding=(0, 2, 0, 0))
        table.add_column("category")
        table.add_column("", width=24)
        for column in ("accepted", "rejected", "requested"):
            table.add_column(column, justify="right")
        table.add_column("commonest finding")
        for category, requested in self._requested.items():
            done = self._accepted[category] + self._rejected[category]
            table.add_row(
                category,
                ProgressBar(total=requested, completed=done, width=24),
                str(self._accepted[category]),
                str(self._rejected[category]),
                str(requested),
                self._commonest(category),
            )
        return Group(head, table)
