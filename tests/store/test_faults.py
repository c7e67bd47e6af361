"""A disk that is full, read-only or broken: a clear error, nothing lost, nothing half written."""

from __future__ import annotations

import errno
import os
import resource
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from agentbound.data.store import Disk, RunStore, RunView, open_run
from agentbound.errors import StoreCorrupt, StoreError, StoreFull
from store.samples import SECRET, content, finish, logs, make_plan, settle_many


class FailingDisk(Disk):
    """Takes `calls` calls and then refuses each with `error`; the write that meets the end is taken in half."""

    def __init__(self, calls: int, error: int = errno.ENOSPC, mends: bool = True) -> None:
        self.left = calls
        self.error = error
        self.mends = mends
        """Whether the disk still lets a file be cut."""

    def _count(self) -> None:
        self.left -= 1
        if self.left < 0:
            raise OSError(self.error, os.strerror(self.error))

    def open(self, path: Path, flags: int, mode: int = 0o644) -> int:
        self._count()
        return super().open(path, flags, mode)

    def write(self, descriptor: int, data: memoryview) -> int:
        if self.left == 0 and len(data) > 1:
            self.left = -1
            return super().write(descriptor, data[: len(data) // 2])
        self._count()
        return super().write(descriptor, data)

    def sync(self, descriptor: int) -> None:
        self._count()
        super().sync(descriptor)

    def truncate(self, descriptor: int, size: int) -> None:
        if self.left < 0 and not self.mends:
            raise OSError(self.error, os.strerror(self.error))
        super().truncate(descriptor, size)

    def make_directory(self, path: Path) -> None:
        self._count()
        super().make_directory(path)


def build(run: Path, disk: Disk, confirmed: list[str] | None = None) -> None:
    """A run from beginning to end in segments of a few batches; notes the slots that are settled."""
    with open_run(run, make_plan(), SECRET, disk=disk, segment_bytes=1500) as store:
        while store.pending():
            settle_many(store, [slot.id for slot in store.pending()[:2]])
            if confirmed is not None:
                confirmed[:] = store.outcomes()


@pytest.mark.parametrize("mends", [True, False], ids=["mends", "cannot be cut"])
def test_a_disk_that_fills_at_any_call(tmp_path: Path, mends: bool) -> None:
    counting = FailingDisk(10**6)
    build(tmp_path / "whole", counting)
    calls = 10**6 - counting.left
    assert calls > 30
    assert len(logs(tmp_path / "whole")) > 3
    for number in range(calls):
        run = tmp_path / f"run{number}"
        confirmed: list[str] = []
        with pytest.raises(StoreFull, match=r"disk is full: .* run the same command again"):
            build(run, FailingDisk(number, mends=mends), confirmed)
        with open_run(run, make_plan(), SECRET, segment_bytes=1500) as store:
            found = list(store.outcomes())
            if mends:
                assert found == confirmed
                assert store.notices == []
            assert found[: len(confirmed)] == confirmed
        build(run, Disk())
        assert content(run) == content(tmp_path / "whole")


def test_after_a_failed_write_the_store_takes_no_other(tmp_path: Path) -> None:
    disk = FailingDisk(10**6)
    with open_run(tmp_path / "run", make_plan(), disk=disk) as store:
        settle_many(store, ["s0"])
        disk.left = 0
        with pytest.raises(StoreFull):
            settle_many(store, ["s1"])
        disk.left = 10**6
        with pytest.raises(StoreError, match="did not come to its end; run the same command again"):
            settle_many(store, ["s1"])
        assert list(store.outcomes()) == ["s0"]


class Interrupting(Disk):
    """An interrupt from the keyboard arrives while the disk is confirming."""

    armed = False

    def sync(self, descriptor: int) -> None:
        if self.armed:
            raise KeyboardInterrupt
        super().sync(descriptor)


def test_an_interrupted_batch_is_taken_back(tmp_path: Path) -> None:
    disk = Interrupting()
    with open_run(tmp_path / "run", make_plan(), disk=disk) as store:
        settle_many(store, ["s0"])
        before = logs(tmp_path / "run")
        disk.armed = True
        with pytest.raises(KeyboardInterrupt):
            settle_many(store, ["s1"])
    assert logs(tmp_path / "run") == before


@pytest.mark.parametrize(
    ("code", "kind", "says"),
    [
        (errno.EDQUOT, StoreFull, "disk is full"),
        (errno.EROFS, StoreFull, "cannot be written .*Read-only.*choose another place with --out"),
        (errno.EACCES, StoreFull, "cannot be written .*Permission denied"),
        (errno.EFBIG, StoreFull, "raise the limit on file sizes"),
        (errno.EIO, StoreError, "could not be written .*see to the disk"),
    ],
)
def test_each_refusal_has_its_sentence(tmp_path: Path, code: int, kind: type[StoreError], says: str) -> None:
    with pytest.raises(kind, match=says) as caught:
        open_run(tmp_path / "run", make_plan(), disk=FailingDisk(0, code))
    assert type(caught.value) is kind


def test_a_limit_on_file_sizes_is_met_for_real(tmp_path: Path) -> None:
    """The kernel takes the part of a write that fits and refuses the rest, as a full disk does; no rights are needed."""
    script = """
import resource, sys
from pathlib import Path
from agentbound.data.store import open_run
from agentbound.errors import StoreFull
from store.samples import finish, make_plan
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, resource.RLIM_INFINITY))
try:
    with open_run(Path(sys.argv[1]), make_plan(30)) as store:
        finish(store, size=500)
except StoreFull as error:
    print("refused:", error)
"""
    run = tmp_path / "run"
    done = subprocess.run(
        [sys.executable, "-c", script, str(run)],
        env=os.environ | {"PYTHONPATH": str(Path(__file__).parent.parent)},
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert "refused:" in done.stdout
    assert "may not grow any further" in done.stdout
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] != 20_000
    with open_run(run, make_plan(30)) as store:
        assert 0 < len(store.outcomes()) < 30
        assert store.notices == []
        finish(store, size=500)
        assert store.pending() == []


@contextmanager
def mounted(where: Path, options: str) -> Iterator[Path]:
    """A small file system of our own; the test is skipped where this user may not mount one."""
    where.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(where)]
    try:
        done = subprocess.run(command, capture_output=True, check=False, timeout=20)
    except FileNotFoundError:
        pytest.skip("there is no mount")
    if done.returncode:
        pytest.skip("this user may not mount a file system")
    try:
        yield where
    finally:
        subprocess.run(["umount", "-l", str(where)], check=True, timeout=20)


def settle_one_by_one(store: RunStore, confirmed: list[str]) -> None:
    for slot in store.pending():
        settle_many(store, [slot.id], size=800)
        confirmed.append(slot.id)


def test_a_full_disk_for_real(tmp_path: Path) -> None:
    with mounted(tmp_path / "disk", "size=128k") as disk:
        confirmed: list[str] = []
        with open_run(disk / "run", make_plan(60), SECRET) as store, pytest.raises(StoreFull, match="disk is full"):
            settle_one_by_one(store, confirmed)
        assert len(confirmed) > 3
        subprocess.run(["mount", "-o", "remount,size=4m", str(disk)], check=True, timeout=20)
        with open_run(disk / "run", make_plan(60)) as store:
            assert list(store.outcomes()) == confirmed
            finish(store, batch=1, size=800)
        resumed = content(disk / "run")
    with open_run(tmp_path / "whole", make_plan(60), SECRET) as store:
        finish(store, batch=1, size=800)
    assert resumed == content(tmp_path / "whole")


def test_a_read_only_disk_for_real(tmp_path: Path) -> None:
    with mounted(tmp_path / "disk", "size=1m") as disk:
        with open_run(disk / "run", make_plan()) as store:
            finish(store)
        subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True, timeout=20)
        for path in (disk / "run", disk / "new"):
            with pytest.raises(StoreFull, match="cannot be written"):
                open_run(path, make_plan())
        with RunView(disk / "run") as view:
            assert len(view.outcomes()) == 6


def test_what_cannot_be_read_is_named(tmp_path: Path) -> None:
    run = tmp_path / "run"
    open_run(run, make_plan()).close()
    (run / "events" / "000001.jsonl").mkdir()
    with pytest.raises(StoreError, match=r"000001\.jsonl cannot be read .*Is a directory") as caught:
        open_run(run, make_plan())
    assert not isinstance(caught.value, StoreCorrupt)
