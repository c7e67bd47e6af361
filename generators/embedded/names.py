"""People, houses and things out of the pools, and those easily mistaken for them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final

from agentbound.data.pools import pool
from agentbound.generators.embedded.draws import Draws

__all__ = ["draw_organisation", "draw_person", "draw_pool"]

_NO_HOUSE: Final = "example.com"


def draw_person(draws: Draws, name: str, options: Mapping[str, Any]) -> None:
    """Somebody new, or (`like`) somebody easily taken for another; `at` names the house their address is at."""
    like = options.get("like")
    first, last = _look_alike(draws, draws.people[like]) if like else _stranger(draws)
    draws.people[name] = (first, last)
    handle = _handle(draws, first, last)
    domain = draws.values[f"{options['at']}.domain"] if "at" in options else _NO_HOUSE
    values = draws.values
    values[name] = f"{first} {last}"
    values[f"{name}.full"] = f"{first} {last}"
    values[f"{name}.first"] = first
    values[f"{name}.last"] = last
    values[f"{name}.initials"] = first[0] + last[0]
    values[f"{name}.handle"] = handle
    values[f"{name}.email"] = f"{handle}@{domain}"


def _handle(draws: Draws, first: str, last: str) -> str:
    """m.osei, or mara.osei where an M. Osei is there already."""
    short = f"{first[0]}.{last}".lower()
    handle = short if ("handle", short) not in draws.taken else f"{first}.{last}".lower()
    draws.taken.add(("handle", handle))
    return handle


def _stranger(draws: Draws) -> tuple[str, str]:
    return draws.fresh_of("given name", pool("given_names")), draws.fresh_of("surname", pool("surnames"))


def _look_alike(draws: Draws, other: tuple[str, str]) -> tuple[str, str]:
    """A surname that looks like the other's, or the same one; a given name with the same initial if there is one."""
    first, last = other
    alike = [name for name in _alike().get(last, ()) if ("surname", name) not in draws.taken]
    if alike and draws.below(5) < 3:
        last = draws.one_of(alike)
        draws.taken.add(("surname", last))
    given = [g for g in _initials()[first[0]] if ("given name", g) not in draws.taken]
    return draws.fresh_of("given name", given or pool("given_names")), last


def draw_organisation(draws: Draws, name: str, options: Mapping[str, Any]) -> None:
    """An invented house, or (`like`) one whose name begins alike. Its domain is a reserved one."""
    like = options.get("like")
    if like:
        head = draws.values[f"{like}.short"]
        house = draws.fresh("organisation", lambda: f"{head} {draws.one_of(pool('organisation_tails'))}")
    else:
        house = draws.fresh_of("organisation", pool("organisations"))
    draws.values[name] = house
    draws.values[f"{name}.name"] = house
    draws.values[f"{name}.short"] = house.rpartition(" ")[0] or house
    draws.values[f"{name}.domain"] = f"{re.sub('[^a-z0-9]+', '-', house.lower()).strip('-')}.example"


def draw_pool(draws: Draws, name: str) -> str:
    """An item of a pool that this family does not have yet."""
    return draws.fresh_of(f"item of {name}", pool(name))


@lru_cache(maxsize=1)
def _alike() -> dict[str, list[str]]:
    pairs: dict[str, list[str]] = {}
    for one, two in pool("lookalikes"):
        pairs.setdefault(one, []).append(two)
        pairs.setdefault(two, []).append(one)
    return pairs


@lru_cache(maxsize=1)
def _initials() -> dict[str, list[str]]:
    groups: dict[str, list[str]] = {}
    for given in pool("given_names"):
        groups.setdefault(given[0], []).append(given)
    return groups
