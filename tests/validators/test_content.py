"""What may not stand in a text, and what looks like it and may."""

from __future__ import annotations

import pytest

from agentbound.validators.content import real_things


@pytest.mark.parametrize(
    "text",
    [
        "write to mira.osei@freemail.com today",
        "see https://intranet.acme.co/login for the form",
        "the file is on files.acme.io now",
        "the switch at 10.20.30.40 is down",
        "call 020 7946 0018 or 212 555 2368",
        "charge 4539 1488 0343 6467 once",
        "key AKIAIOSFODNN7EXAMPLE works",
        "token ghp_abcdefghijklmnopqrstuvwx",
        "-----BEGIN RSA PRIVATE KEY-----",
        "from 2a00:1450:4009:81f::200e this morning",
    ],
)
def test_real_things_are_found(text: str) -> None:
    assert list(real_things(text))


@pytest.mark.parametrize(
    "text",
    [
        "write to mira.osei@example.org or desk@harbour.example",
        "see https://portal.test/login for the form",
        "the switch at 192.0.2.17, and 2001:db8::7 behind it",
        "call 555-0142 before 10:20:30",
        "charge 4111 1111 1111 1111 once",
        "order O-7714 of 2026-03-14T09:00:00Z, 12,400 packs, version 1.2.3",
        "ticket RQ-418: 20260314 to 20260630",
    ],
)
def test_reserved_things_are_left_alone(text: str) -> None:
    assert list(real_things(text)) == []
