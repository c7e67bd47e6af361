"""A script: `kill -9` a writer at random moments; what it has confirmed has to be there each time.

    python killed.py RUN ROUNDS SEED

Forks a writer for each round, kills it after a random number of confirmations and a random while, and checks the run.
Prints how many kills hit a writer at work and how many confirmations there were.
"""

from __future__ import annotations

import os
import random
import signal
import sys
from pathlib import Path

from agentbound.data.store import open_run
from store.samples import SECRET, make_plan, settle_many

SLOTS = 400
BATCH = 2
SIZE = 2000


def write(run: Path, confirmed: int) -> None:
    """Settle what is pending and write each slot's id into the pipe once it is on the disk."""
    with open_run(run, make_plan(SLOTS), SECRET, segment_bytes=200_000) as store:
        pending = [slot.id for slot in store.pending()]
        for start in range(0, len(pending), BATCH):
            slots = pending[start : start + BATCH]
            settle_many(store, slots, SIZE)
            os.write(confirmed, "".join(f"{slot}\n" for slot in slots).encode())


def killed_writer(run: Path, rng: random.Random) -> tuple[list[str], bool]:
    """What the writer confirmed, and whether it was killed before its end."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(reader)
        write(run, writer)
        os._exit(0)
    os.close(writer)
    heard = b""
    for _ in range(rng.randrange(8)):
        heard += os.read(reader, 4096)
    for _ in range(rng.randrange(30_000)):  # somewhere within the next batch
        pass
    os.kill(pid, signal.SIGKILL)
    _, status = os.waitpid(pid, 0)
    while more := os.read(reader, 4096):
        heard += more
    os.close(reader)
    return heard.decode().splitlines(), os.WIFSIGNALED(status)


def main(run: Path, rounds: int, seed: int) -> None:
    rng = random.Random(seed)
    known: set[str] = set()
    hits = 0
    for _ in range(rounds):
        confirmed, hit = killed_writer(run, rng)
        hits += hit
        known |= set(confirmed)
        with open_run(run, make_plan(SLOTS), SECRET, segment_bytes=200_000) as store:
            settled = store.outcomes().keys()
            assert known <= settled, f"confirmed and lost: {sorted(known - settled)}"
            assert len(settled) + len(store.pending()) == SLOTS
    print(hits, len(known))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
