"""Assembling a release: two directories, one version, written whole or not at all."""

from __future__ import annotations

import errno
import filecmp
import io
import json
import os
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any, Final

from agentbound.data.records import SCHEMA_VERSION, Record
from agentbound.data.releases import card, rows
from agentbound.data.releases.read import MANIFEST, SECRET, commitment, hash_file, read_manifest
from agentbound.data.releases.secrets import canary, derive
from agentbound.data.releases.tables import Rows, check_public, content_hash, write_table
from agentbound.errors import ReleaseError, StoreFull

BUNDLE: Final = "evaluation.age"
SECRET_BYTES: Final = 32
LIBRARIES: Final = ("agentbound", "huggingface-hub", "pandera", "polars", "pyarrow", "pyrage")
"""What has a part in the bytes; their versions stand in the manifest."""


class Assembled(Record):
    """Where a release stands and what identifies it."""

    path: Path
    tasks: int
    families: int
    public_hash: str
    evaluation_hash: str


def assemble(
    out: Path,
    entries: Iterable[rows.Entry],
    secret: bytes,
    version: str,
    facts: card.RunFacts,
    claims: Mapping[str, str],
    recipients: Sequence[str] = (),
    replace: bool = False,
) -> Assembled:
    """Write `out/public` and `out/evaluation`.

    `secret` is 32 bytes. A release that stands there already is left alone where it is the same; where it is not, it is
    replaced with `replace` and refused with `ReleaseError` without. `recipients` are age public keys that the
    evaluation part is encrypted for. Raises `StoreFull` for a disk that
    does not take it; nothing half written is left.
    """
    if len(secret) != SECRET_BYTES:
        raise ReleaseError(f"a release secret has {SECRET_BYTES} bytes, this one {len(secret)}; give the run's secret")
    guid = canary(secret)
    public, evaluation, certificates = _tables(entries, secret, guid)
    if not public["tasks"]:
        raise ReleaseError("there is no accepted family to release; see `agentbound status` for the findings")
    for config, table in public.items():
        check_public(config, table, rows.PUBLIC_COLUMNS[config])
    made = out.with_name(f"{out.name}.new")
    try:
        shutil.rmtree(made, ignore_errors=True)
        hashes = _write(made, public, evaluation, certificates, secret, version, guid, facts, claims, recipients)
        _settle(made, out, replace)
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EPERM):
            raise StoreFull(f"{out} cannot be written: {error.strerror}; make room or choose another place") from None
        raise
    finally:
        shutil.rmtree(made, ignore_errors=True)
    return Assembled(
        path=out,
        tasks=len(public["tasks"]),
        families=len(evaluation["families"]),
        public_hash=hashes[0],
        evaluation_hash=hashes[1],
    )


def _tables(
    entries: Iterable[rows.Entry], secret: bytes, guid: str
) -> tuple[dict[str, Rows], dict[str, Rows], dict[str, int]]:
    public: dict[str, Rows] = {"tasks": [], "worlds": []}
    evaluation: dict[str, Rows] = {"tasks": [], "families": []}
    runs: dict[str, int] = {}
    for entry in entries:
        if entry.family.family_id in runs:
            raise ReleaseError(f"family {entry.family.family_id} comes twice; release each family once")
        runs[entry.family.family_id] = int(entry.certificate.get("runs", 0))
        evaluation["families"].append(rows.evaluation_family(entry, guid))
        public["tasks"] += rows.public_tasks(entry.family, secret, guid)
        public["worlds"] += rows.public_worlds(entry.family, secret, guid)
        evaluation["tasks"] += rows.evaluation_tasks(entry, secret, guid)
    for table in (*public.values(), evaluation["tasks"]):
        table.sort(key=lambda row: str(row["task_id"]))
    evaluation["families"].sort(key=lambda row: str(row["family_id"]))
    return public, evaluation, runs


def _write(
    out: Path,
    public: dict[str, Rows],
    evaluation: dict[str, Rows],
    runs: dict[str, int],
    secret: bytes,
    version: str,
    guid: str,
    facts: card.RunFacts,
    claims: Mapping[str, str],
    recipients: Sequence[str],
) -> tuple[str, str]:
    inside, outside = out / "evaluation", out / "public"
    hashes = content_hash(public), content_hash(evaluation)
    for name, table in public.items():
        write_table(outside / "data" / f"{name}.parquet", table, rows.PUBLIC_COLUMNS[name], guid)
    for name, table in evaluation.items():
        write_table(inside / "data" / f"{name}.parquet", table, rows.EVALUATION_COLUMNS[name], guid)
    _text(outside / "README.md", card.public_card(public["tasks"], version, guid, facts))
    counted = [{**t, "certificate_runs": runs[t["family_id"]]} for t in evaluation["tasks"]]
    _text(inside / "README.md", card.evaluation_card(counted, claims, version, guid, facts))
    salt = derive(secret, "commitment salt").hex()
    _text(inside / SECRET, json.dumps({"canary": guid, "salt": salt, "secret": secret.hex()}, indent=1) + "\n")
    for part in (outside, inside):
        _text(part / "CITATION.cff", _citation(version, guid))
        _text(part / "CHANGELOG.md", f"# Changelog\n\n## {version}\n- First release.\n\n<!-- canary {guid} -->\n")
    if recipients:
        _bundle(inside, recipients)
    _manifest(outside, "public", version, guid, hashes[0], public, {"commitment": commitment(secret, hashes[1])})
    _manifest(
        inside,
        "evaluation",
        version,
        guid,
        hashes[1],
        evaluation,
        {"public_content_hash": hashes[0], "recipients": sorted(recipients)},
    )
    return hashes


def _manifest(
    part: Path, name: str, version: str, guid: str, content: str, tables: dict[str, Rows], more: dict[str, Any]
) -> None:
    files = sorted(p for p in part.rglob("*") if p.is_file())
    manifest = {
        "part": name,
        "version": version,
        "schema_version": SCHEMA_VERSION,
        "canary": guid,
        "content_hash": content,
        "rows": {config: len(table) for config, table in tables.items()},
        "files": {p.relative_to(part).as_posix(): {"sha256": hash_file(p), "bytes": p.stat().st_size} for p in files},
        "written_with": {name: metadata.version(name) for name in LIBRARIES},
        **more,
    }
    _text(part / MANIFEST, json.dumps(manifest, indent=1, sort_keys=True) + "\n")


def _bundle(part: Path, recipients: Sequence[str]) -> None:
    """The evaluation part as one age file, so that no length of a row tells anything."""
    import tarfile

    import pyrage

    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as tar:
        for path in sorted(p for p in part.rglob("*") if p.is_file()):
            info = tarfile.TarInfo(path.relative_to(part).as_posix())
            info.size = path.stat().st_size
            with path.open("rb") as file:
                tar.addfile(info, file)
    try:
        keys = [pyrage.x25519.Recipient.from_str(r) for r in recipients]
    except pyrage.RecipientError as error:
        raise ReleaseError(f"a recipient is no age public key: {error}; give keys that begin with age1") from None
    (part / BUNDLE).write_bytes(pyrage.encrypt(packed.getvalue(), keys))


def _citation(version: str, guid: str) -> str:
    return (
        "cff-version: 1.2.0\n"
        "message: If you use this data set, please cite it.\n"
        "title: agentbound, counterfactual safety tasks for agents with tools\n"
        "type: dataset\n"
        f'version: "{version}"\n'
        "license: Apache-2.0\n"
        "authors:\n  - name: The agentbound authors\n"
        f"# canary {guid}\n"
    )


def _text(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def _settle(made: Path, out: Path, replace: bool) -> None:
    """Put the new release in place, or find that it stands there already."""
    old = out.with_name(f"{out.name}.old")
    if old.exists() and not out.exists():
        old.rename(out)  # a replacement was stopped between its two renames
    if out.exists():
        different = next(_differences(made, out), None)
        if different is None:
            return
        if not replace:
            raise ReleaseError(f"{out} holds another release ({different} differs); choose another place or version")
    for path in sorted([made, *made.rglob("*")]):
        _sync(path)
    if out.exists():
        shutil.rmtree(old, ignore_errors=True)
        out.rename(old)
    made.rename(out)
    _sync(out.parent)
    shutil.rmtree(old, ignore_errors=True)


def _differences(made: Path, out: Path) -> Iterator[str]:
    names = {p.relative_to(d).as_posix() for d in (made, out) for p in d.rglob("*") if p.is_file()}
    for name in sorted(names):
        one, two = made / name, out / name
        if not (one.is_file() and two.is_file() and (_same(one, two) or filecmp.cmp(one, two, shallow=False))):
            yield name


def _same(one: Path, two: Path) -> bool:
    """Whether two files are the same but for the encrypted bundle, which is never the same twice."""
    if one.name == BUNDLE:
        return True
    if one.name != MANIFEST:
        return False
    manifests = [read_manifest(path.parent) for path in (one, two)]
    for manifest in manifests:
        manifest["files"].pop(BUNDLE, None)
    return manifests[0] == manifests[1]


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
