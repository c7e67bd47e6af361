"""Validators of content: what CONTENT rules can be checked by machine, and nothing real in any text.

The world is invented: only reserved domains (RFC 2606, 6761), documentation addresses (RFC 5737, 3849), telephone
numbers 555-0100 to 555-0199 and public test cards may stand in it.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Iterator
from typing import Any, Final

from agentbound.data.findings import Finding, Part
from agentbound.data.records import Scaffold
from agentbound.validators.registry import Siblings, validator

_KNOW_HOW: Final = {
    "a command": re.compile(
        r"\b(?:rm -rf|sudo |chmod |curl -|wget |powershell|/bin/(?:ba)?sh|cmd\.exe|nc -[el])|\$\(|&&|`[^`]+`",
        re.IGNORECASE,
    ),
    "code": re.compile(r"<script|\bimport os\b|\beval\(|\bexec\(|\bunion select\b|' or '?1'?='?1", re.IGNORECASE),
    "a known weakness": re.compile(r"\bCVE-\d{4}-\d+", re.IGNORECASE),
    "a dose": re.compile(r"\b\d+(?:\.\d+)? ?(?:mg|mcg|µg|micrograms?|milligrams?)\b", re.IGNORECASE),
}
_REAL_NAMES: Final = re.compile(
    r"\b(?:Microsoft|Google|Gmail|Amazon|AWS|Azure|Facebook|Instagram|WhatsApp|TikTok|Twitter|YouTube|LinkedIn|Reddit|Telegram"
    r"|Apple|iPhone|PayPal|Visa|Mastercard|Netflix|Spotify|Dropbox|Slack|Zoom|Salesforce|Oracle|Siemens|Pfizer|Reuters|BBC|CNN"
    r"|OpenAI|Anthropic|GitHub|GitLab|Cisco|Fortinet|Okta|Xanax|Oxycontin|Valium|Ritalin|Adderall)\b"
)
_MINORS: Final = re.compile(
    r"\b(?:minors?|child(?:ren)?|kids?|teen(?:age)?(?:rs?)?|schoolgirl|schoolboy|underage|pupils?)\b", re.IGNORECASE
)
_RESERVED: Final = re.compile(r"(?:^|\.)(?:example(?:\.(?:com|net|org))?|test|invalid|localhost|local)$", re.IGNORECASE)
_EMAIL: Final = re.compile(r"[\w.+-]+@([\w-]+(?:\.[\w-]+)*)")
_URL: Final = re.compile(r"\b[a-z][a-z0-9+.-]*://([^\s/:]+)", re.IGNORECASE)
_HOST: Final = re.compile(
    r"\b(?:[a-z0-9-]+\.)+(?:com|net|org|io|co|uk|de|fr|ru|cn|eu|info|biz|dev|app|gov|edu|ai|xyz)\b", re.IGNORECASE
)
_ADDRESS: Final = re.compile(
    r"(?<![\d.])(?:\d{1,3}\.){3}\d{1,3}(?![\d.])|(?<![\w:])[0-9a-f]*:[0-9a-f:]*:[0-9a-f]*(?![\w:])", re.IGNORECASE
)
_PHONE: Final = re.compile(r"(?<![\w-])(?:\+\d{1,3}[ -]?)?(?:\(?\d{3}\)?[ -])?\d{3}[ -]\d{4}(?![\w-])")
_CARD: Final = re.compile(r"(?<![\w-])\d(?:[ -]?\d){12,18}(?![\w-])")
_SECRET: Final = re.compile(
    r"\b(?:AKIA[0-9A-Z]{12,}|gh[pousr]_\w{20,}|sk-[\w-]{16,}|xox[abpr]-\w+|hf_\w{20,}|eyJ[\w-]{10,}\.[\w-]+)|-----BEGIN [A-Z ]*PRIVATE KEY"
)
_DOCUMENTATION: Final = [
    ipaddress.ip_network(n)
    for n in ("192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24", "2001:db8::/32", "127.0.0.0/8", "::1/128")
]
_TEST_CARDS: Final = frozenset(
    {"4111111111111111", "5555555555554444", "378282246310005", "4242424242424242", "6011111111111117"}
)


@validator("content", "no know-how, no real name, nothing the content rules exclude")
def check_content(scaffold: Scaffold, siblings: Siblings) -> Iterator[Finding]:
    for part, where, text in texts(scaffold, siblings):
        for what, pattern in _KNOW_HOW.items():
            match = pattern.search(text)
            if match:
                yield _finding(
                    "content", part, where, f"{what}: {match[0]!r}", "let the harm be what is done to records", match[0]
                )
        name = _REAL_NAMES.search(text)
        if name:
            yield _finding("content", part, where, f"a real name: {name[0]}", "use an invented one", name[0])
        if scaffold.category == "sexual":
            word = _MINORS.search(text)
            if word:
                yield _finding(
                    "content",
                    part,
                    where,
                    f"{word[0]!r} in a family of this category",
                    "write a family in which no minor appears",
                    word[0],
                )


@validator("screening", "no secret, no personal data, no real destination")
def check_screening(scaffold: Scaffold, siblings: Siblings) -> Iterator[Finding]:
    for part, where, text in texts(scaffold, siblings):
        for what, seen in real_things(text):
            yield _finding(
                "screening", part, where, f"{what}: {seen!r}", "use a reserved domain, range or number", seen
            )


def real_things(text: str) -> Iterator[tuple[str, str]]:
    """What in a text may be real: kind and span."""
    for kind, pattern, harmless in _REAL:
        yield from ((kind, match[0]) for match in pattern.finditer(text) if not harmless(match))


def texts(scaffold: Scaffold, siblings: Siblings) -> Iterator[tuple[Part, str, str]]:
    """Every text of a candidate that somebody will read: part to rewrite, place, text."""
    for name, sibling in siblings.items():
        yield name, f"siblings.{name}.instruction", sibling.instruction
    yield "scaffold", "environment", scaffold.environment
    yield "scaffold", "theme", scaffold.theme
    yield "scaffold", "authority.mandate", scaffold.authority.mandate
    for tool in scaffold.tools:
        yield "scaffold", f"tools.{tool.name}", tool.description
    for place, value in (
        ("world.rows", scaffold.world.rows),
        ("flips", [f.model_dump() for f in scaffold.flips]),
        ("paths", scaffold.paths.model_dump()),
    ):
        yield from (("scaffold", where, text) for where, text in _strings(place, value))


def _strings(place: str, value: Any) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield place, value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from _strings(f"{place}.{key}", inner)
    elif isinstance(value, list | tuple):
        for i, inner in enumerate(value):
            yield from _strings(f"{place}.{i}", inner)


def _reserved(host: str) -> bool:
    return _RESERVED.search(host.rstrip(".")) is not None or _documentation(host)


def _documentation(text: str) -> bool:
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return False
    return any(address in network for network in _DOCUMENTATION if network.version == address.version)


def _is_address(text: str) -> bool:
    """A time of day (10:20:30) looks like an address and is none."""
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


def _luhn(digits: str) -> bool:
    total = sum(sum(divmod(int(d) * (1 + i % 2), 10)) for i, d in enumerate(reversed(digits)))
    return total % 10 == 0


_REAL: Final[tuple[tuple[str, re.Pattern[str], Callable[[re.Match[str]], bool]], ...]] = (
    ("an address outside the reserved domains", _EMAIL, lambda m: _reserved(m[1])),
    ("an address outside the reserved domains", _URL, lambda m: _reserved(m[1])),
    ("a host outside the reserved domains", _HOST, lambda m: _reserved(m[0])),
    (
        "a network address outside the documentation ranges",
        _ADDRESS,
        lambda m: not _is_address(m[0]) or _documentation(m[0]),
    ),
    (
        "a telephone number outside 555-0100 to 555-0199",
        _PHONE,
        lambda m: re.search(r"555[ -]01\d\d$", m[0]) is not None,
    ),
    ("a card number that is no public test card", _CARD, lambda m: _harmless_digits(re.sub(r"\D", "", m[0]))),
    ("what looks like a credential", _SECRET, lambda m: False),
)
"""Kind, pattern, and what makes a match harmless."""


def _harmless_digits(digits: str) -> bool:
    return not _luhn(digits) or digits in _TEST_CARDS


def _finding(code: str, part: Part, where: str, wrong: str, mend: str, seen: str) -> Finding:
    return Finding(code=code, part=part, where=where, wrong=wrong, mend=mend, seen=seen)
