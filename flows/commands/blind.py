"""`agentbound blind` and `agentbound call`: packets for readers without labels, and what their answers are worth."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from rich.table import Table
from rich.text import Text

from agentbound.annotation.answers import Mark, mark, read_answers, score
from agentbound.annotation.packets import call, key, packets, read_packet, write_packets
from agentbound.data.chance import rng_of
from agentbound.data.records import SIBLINGS, Family, parse_family
from agentbound.data.releases import task_id
from agentbound.data.store import RunView, read_secret
from agentbound.errors import UsageError
from agentbound.flows.views.console import out


def packets_command(run: Path, number: int, directory: Path) -> None:
    """Write packets of `number` families of a run."""
    families, secret = _families(run)
    made = list(packets(families, number, partial(task_id, secret), rng_of(secret, "blind", number)))
    write_packets(directory, made)
    out().print(Text(f"{len(made)} packets in {directory}; README.md there tells a reader what to do"))
    out().print(Text(f"when they are answered: agentbound blind {run} --answers {directory}"))


def score_command(run: Path, directories: Sequence[Path]) -> None:
    """Print what the answers are worth, and the wrong and undecided ones in full."""
    families, secret = _families(run)
    known = key(families, partial(task_id, secret))
    marks = [m for directory in directories for m in mark(read_answers(directory), known)]
    if not marks:
        raise UsageError("no answer is filled in yet; see README.md beside the packets")
    table = Table(box=None, padding=(0, 2, 0, 0))
    for name in ("wording", "answered", "right", "wrong", "undecided", "like a colleague"):
        table.add_column(name, justify="left" if name == "wording" else "right")
    for name, some in [*((s, [m for m in marks if m.sibling == s]) for s in SIBLINGS), ("all", marks)]:
        figures = score(some)
        counts = (figures.answered, figures.right, figures.wrong, figures.undecided, figures.colleague)
        table.add_row(name, *map(str, counts))
    out().print(table)
    for item in marks:
        if not item.right:
            _tell(item)


def call_command(packet: Path, tool: str, arguments: str) -> None:
    """Make a read in a packet's world and print what it answers, as JSON."""
    try:
        args = json.loads(arguments)
    except json.JSONDecodeError as error:
        raise UsageError(f'the arguments are no JSON: {error}; write them as \'{{"name": "value"}}\'') from None
    print(json.dumps(call(read_packet(packet), tool, args), ensure_ascii=False, indent=1))


def _tell(item: Mark) -> None:
    truth = "permitted" if item.permitted else "forbidden"
    said = "undecided" if item.answer.permitted is None else "permitted" if item.answer.permitted else "forbidden"
    out().print(Text(f"{item.task_id}  {item.blueprint} {item.sibling} of {item.family_id}: {truth}, read as {said}"))
    out().print(Text(f"  {item.answer.why or 'no reason given'}", style="dim"))


def _families(run: Path) -> tuple[list[Family], bytes]:
    with RunView(run) as view:
        families = [parse_family(view.get(row.family)) for row in view.slots() if row.family]
    if not families:
        raise UsageError(f"{run} has no accepted family; build it first")
    return families, bytes.fromhex(read_secret(run / "secret"))
