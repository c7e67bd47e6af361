"""Reading and checking a release from its files alone."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any, Final, Literal

from pydantic import ConfigDict, ValidationError

from agentbound.data.canonical import canonical
from agentbound.data.records import Family, Record, parse_family
from agentbound.data.releases.secrets import derive
from agentbound.data.releases.tables import Rows, content_hash, read_table
from agentbound.errors import RecordError, ReleaseError

MANIFEST = "manifest.json"
SECRET = "secret.json"


CONFIGS: Final[dict[str, tuple[str, ...]]] = {"public": ("tasks", "worlds"), "evaluation": ("families", "tasks")}
"""The tables of each part."""


class _File(Record):
    sha256: str
    bytes: int


class _Manifest(Record):
    """What the manifest of either part must hold; what else it holds is kept."""

    part: Literal["public", "evaluation"]
    version: str
    canary: str
    content_hash: str
    files: dict[str, _File]
    commitment: str = ""
    public_content_hash: str = ""

    model_config = ConfigDict(extra="allow", frozen=True)


class Evaluation(Record):
    """What an evaluation part holds, families in the order of their rows."""

    version: str
    families: tuple[Family, ...]
    certificates: dict[str, Any]


def read_manifest(part: Path) -> dict[str, Any]:
    """The manifest of a part. Raises `ReleaseError` where there is none, or one without what a manifest holds."""
    try:
        manifest: dict[str, Any] = _Manifest.model_validate_json((part / MANIFEST).read_bytes()).model_dump()
    except OSError as error:
        raise ReleaseError(f"{part} is no part of a release: {MANIFEST}: {error}") from None
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"])) or "the whole"
        raise ReleaseError(f"{part}: {MANIFEST}: {where}: {first['msg']}; fetch the release again") from None
    return manifest


def read_evaluation(part: Path) -> Evaluation:
    """The families of an evaluation part. Raises `ReleaseError` for files that are missing, broken or not as hashed."""
    manifest = read_manifest(part)
    if manifest["part"] != "evaluation":
        raise ReleaseError(f"{part} is the public part, which holds no labels; name the evaluation part")
    check_files(part, manifest)
    tables = check_content(part, manifest)
    families, certificates = [], {}
    for row in tables["families"]:
        try:
            families.append(parse_family(json.loads(row["record"]), row["family_id"]))
        except (KeyError, json.JSONDecodeError, RecordError) as error:
            raise ReleaseError(f"{part}: family {row.get('family_id')}: {error}") from None
    for row in tables["tasks"]:
        try:
            certificates[row["family_id"]] = json.loads(row["certificate"])
        except (KeyError, json.JSONDecodeError) as error:
            raise ReleaseError(
                f"{part}: task {row.get('task_id')}: certificate: {error}; fetch the release again"
            ) from None
    return Evaluation(version=manifest["version"], families=tuple(families), certificates=certificates)


def check_files(part: Path, manifest: dict[str, Any] | None = None) -> None:
    """Hold every file to its hash. Raises `ReleaseError` naming the first that differs, is missing or is not listed."""
    listed: dict[str, Any] = (manifest or read_manifest(part))["files"]
    for name, known in listed.items():
        if Path(name).is_absolute() or ".." in Path(name).parts:
            raise ReleaseError(f"{part}: {MANIFEST} names {name}, which is outside; fetch the release again")
        path = part / name
        if not path.is_file():
            raise ReleaseError(f"{part}: {name} is missing; fetch the release again")
        if hash_file(path) != known["sha256"]:
            raise ReleaseError(f"{part}: {name} is not the file the manifest names; fetch the release again")
    strangers = sorted(p.relative_to(part).as_posix() for p in part.rglob("*") if p.is_file())
    unlisted = [name for name in strangers if name not in listed and name != MANIFEST]
    if unlisted:
        raise ReleaseError(f"{part}: {unlisted[0]} is not in the manifest; take it away")


def check_content(part: Path, manifest: dict[str, Any]) -> dict[str, Rows]:
    """The tables of a part, their rows held to the content hash. Raises `ReleaseError`."""
    configs = CONFIGS[manifest["part"]]
    tables = {name: read_table(part / "data" / f"{name}.parquet") for name in configs}
    if content_hash(tables) != manifest["content_hash"]:
        raise ReleaseError(f"{part}: the rows are not those the manifest names; fetch the release again")
    return tables


def verify(public: Path, evaluation: Path) -> None:
    """Check both parts and that the evaluation part is the one the public part is committed to. Raises `ReleaseError`."""
    outside, inside = read_manifest(public), read_manifest(evaluation)
    if (outside["part"], inside["part"]) != ("public", "evaluation"):
        raise ReleaseError(
            f"{public} and {evaluation} are not a public and an evaluation part; name them in this order"
        )
    for part, manifest in ((public, outside), (evaluation, inside)):
        check_files(part, manifest)
        check_content(part, manifest)
    if commitment(_secret(evaluation), inside["content_hash"]) != outside["commitment"]:
        raise ReleaseError(f"{evaluation} is not what {public} is committed to; look for the part of the same version")
    if outside["content_hash"] != inside["public_content_hash"]:
        raise ReleaseError(f"{public} is not what {evaluation} belongs to; look for the part of the same version")


def _secret(evaluation: Path) -> bytes:
    try:
        return bytes.fromhex(json.loads((evaluation / SECRET).read_text(encoding="utf-8"))["secret"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ReleaseError(
            f"{evaluation}: {SECRET} holds no secret ({type(error).__name__}); fetch the release again"
        ) from None


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
