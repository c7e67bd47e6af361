"""A script: `kill -9` a writer at random moments; what it has confirmed has to be there each time.

    python killed.py RUN ROUNDS SEED

Forks a writer for each round, kills it after a random number of confirmations and a random while, and checks the run.
Prints how many slots were confirmed and how many kills left a torn end.
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

MOST = 8
"""A writer has leave for at most so many batches before it is killed."""


def write(run: Path, leave: int, confirmed: int) -> None:
    """For each byte of leave settle a batch, and tell each slot's id once it is on the disk."""
    with open_run(run, make_plan(SLOTS), SECRET, segment_bytes=200_000) as store:
        while os.read(leave, 1):
            slots = [slot.id for slot in store.pending()[:BATCH]]
            settle_many(store, slots, SIZE)
            os.write(confirmed, "".join(f"{slot}\n" for slot in slots).encode())


def killed_writer(run: Path, rng: random.Random) -> list[str]:
    """What a writer confirmed before it was killed: during a batch, or while it waits for leave to begin another."""
    leave, give = os.pipe()
    reader, confirmed = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(give)
        write(run, leave, confirmed)
        os._exit(1)  # it had leave for ever
    os.close(leave)
    os.close(confirmed)
    batches = rng.randrange(MOST)
    os.write(give, b"." * (batches + 1))
    heard = b""
    while heard.count(b"\n") < batches * BATCH:
        heard += os.read(reader, 4096)
    for _ in range(rng.randrange(30_000)):  # somewhere within the next batch
        pass
    os.kill(pid, signal.SIGKILL)
    _, status = os.waitpid(pid, 0)
    assert os.WIFSIGNALED(status), "a writer that was done before it was killed proves nothing"
    while more := os.read(reader, 4096):
        heard += more
    os.close(give)
    os.close(reader)
    return heard.decode().splitlines()


def main(run: Path, rounds: int, seed: int) -> None:
    rng = random.Random(seed)
    known: set[str] = set()
    torn = 0
    for _ in range(rounds):
        known |= set(killed_writer(run, rng))
        with open_run(run, make_plan(SLOTS), SECRET, segment_bytes=200_000) as store:
            torn += len(store.notices)
            settled = store.outcomes().keys()
            assert known <= settled, f"confirmed and lost: {sorted(known - settled)}"
            assert len(settled) + len(store.pending()) == SLOTS
    print(len(known), torn)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
