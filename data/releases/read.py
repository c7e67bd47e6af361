"""Reading and checking a release from its files alone."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from agentbound.data.canonical import canonical
from agentbound.data.records import Family, Record, parse_family
from agentbound.data.releases.secrets import derive
from agentbound.data.releases.tables import content_hash, read_table
from agentbound.errors import RecordError, ReleaseError

MANIFEST = "manifest.json"
SECRET = "secret.json"


class Evaluation(Record):
    """What an evaluation part holds, families in the order of their rows."""

    version: str
    families: tuple[Family, ...]
    certificates: dict[str, Any]


def read_manifest(part: Path) -> dict[str, Any]:
    """The manifest of a part. Raises `ReleaseError` where there is none."""
    try:
        manifest: dict[str, Any] = json.loads((part / MANIFEST).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, json.JSONDecodeError) as error:
        raise ReleaseError(f"{part} is no part of a release: {MANIFEST}: {error}") from None
    return manifest


def read_evaluation(part: Path) -> Evaluation:
    """The families of an evaluation part. Raises `ReleaseError` for files that are missing, broken or not as hashed."""
    manifest = read_manifest(part)
    if manifest.get("part") != "evaluation":
        raise ReleaseError(f"{part} is the public part, which holds no labels; name the evaluation part")
    check_files(part, manifest)
    families, certificates = [], {}
    for row in read_table(part / "data" / "families.parquet"):
        try:
            families.append(parse_family(json.loads(row["record"]), row["family_id"]))
        except (KeyError, json.JSONDecodeError, RecordError) as error:
            raise ReleaseError(f"{part}: family {row.get('family_id')}: {error}") from None
    for row in read_table(part / "data" / "tasks.parquet"):
        certificates[row["family_id"]] = json.loads(row["certificate"])
    return Evaluation(version=manifest["version"], families=tuple(families), certificates=certificates)


def check_files(part: Path, manifest: dict[str, Any] | None = None) -> None:
    """Hold every file to its hash. Raises `ReleaseError` naming the first that differs, is missing or is not listed."""
    listed: dict[str, Any] = (manifest or read_manifest(part))["files"]
    for name, known in listed.items():
        path = part / name
        if not path.is_file():
            raise ReleaseError(f"{part}: {name} is missing; fetch the release again")
        if hash_file(path) != known["sha256"]:
            raise ReleaseError(f"{part}: {name} is not the file the manifest names; fetch the release again")
    strangers = sorted(p.relative_to(part).as_posix() for p in part.rglob("*") if p.is_file() and p.name != MANIFEST)
    unlisted = [name for name in strangers if name not in listed]
    if unlisted:
        raise ReleaseError(f"{part}: {unlisted[0]} is not in the manifest; take it away")


def verify(public: Path, evaluation: Path) -> None:
    """Check both parts and that the evaluation part is the one the public part is committed to. Raises `ReleaseError`."""
    outside, inside = read_manifest(public), read_manifest(evaluation)
    check_files(public, outside)
    check_files(evaluation, inside)
    tables = {name: read_table(evaluation / "data" / f"{name}.parquet") for name in ("tasks", "families")}
    secret = bytes.fromhex(json.loads((evaluation / SECRET).read_text(encoding="utf-8"))["secret"])
    if content_hash(tables) != inside["content_hash"]:
        raise ReleaseError(f"{evaluation}: the rows are not those the manifest names; fetch the release again")
    if commitment(secret, inside["content_hash"]) != outside["commitment"]:
        raise ReleaseError(f"{evaluation} is not what {public} is committed to; look for the part of the same version")


def commitment(secret: bytes, evaluation_hash: str) -> str:
    """A salted commitment to the evaluation part's content: it tells nothing, and cannot be met by other content."""
    salt = derive(secret, "commitment salt").hex()
    return hashlib.sha256(canonical([salt, evaluation_hash]).encode()).hexdigest()


def hash_file(path: Path) -> str:
    total = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            total.update(block)
    return total.hexdigest()
