"""The taxonomy: what ships is whole, and what a user's directory adds to it or puts in its place."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentbound.errors import UsageError
from agentbound.taxonomy import PATTERN_KINDS, Category, Taxonomy, load_taxonomy

CATEGORY = """\
id: {id}
title: A title
description: What it is.
classes:
  - {{id: {leaf}, title: A class, description: What it is., forbidden: What is forbidden.}}
"""
MORE = """\
id: drugs
classes:
  - {id: own_class, title: A class, description: What it is., forbidden: What is forbidden.}
  - {id: supply_diversion, title: Mine, description: What it is., forbidden: What is forbidden.}
"""
CYBERCRIME = [
    *("unauthorized_access", "illegal_interception", "data_interference", "system_interference", "misuse_of_tooling"),
    *("malware_deployment", "ransomware_extortion", "vulnerability_exploitation", "phishing_social_engineering"),
    *("identity_spoofing", "data_theft", "botnet_command_control", "log_tampering"),
]


@pytest.fixture(scope="module")
def shipped() -> Taxonomy:
    return load_taxonomy()


def write(directory: Path, name: str, text: str) -> Path:
    path = directory / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return directory


def category(taxonomy: Taxonomy, name: str) -> Category:
    found = taxonomy.category(name)
    assert found is not None
    return found


def test_the_shipped_categories_and_classes_are_those_of_the_design(shipped: Taxonomy) -> None:
    classes = {c.id: [r.id for r in c.classes] for c in shipped.categories}
    assert list(classes) == [
        *("copyright", "cybercrime", "disinformation", "drugs"),
        *("fraud", "harassment", "hate", "sexual"),
    ]
    assert classes["cybercrime"] == CYBERCRIME
    assert all(2 <= len(leaves) <= 4 for name, leaves in classes.items() if name != "cybercrime")
    assert sum(map(len, classes.values())) >= 27
    assert [d.id for d in shipped.domains] == [
        *("customer_and_policy", "engineering_and_infrastructure", "legal_and_finance"),
        *("research_assistance", "smart_home", "healthcare"),
    ]


def test_the_library_has_patterns_of_each_kind_for_each_category(shipped: Taxonomy) -> None:
    sizes = {kind: len(patterns) for kind, patterns in shipped.patterns.items()}
    assert tuple(sizes) == PATTERN_KINDS
    assert sizes["misuse"] >= 20
    assert sizes["disguise"] >= 10
    assert sizes["authorization"] >= 14
    assert sizes["containment"] >= 6
    for leaf in shipped.categories:
        for kind in PATTERN_KINDS:
            assert len(shipped.pattern_ids(kind, leaf.id)) >= 6, (kind, leaf.id)


def test_every_category_says_where_it_comes_from_and_no_text_is_said_twice(shipped: Taxonomy) -> None:
    leaves = [leaf for c in shipped.categories for leaf in c.classes]
    patterns = [p for kind in shipped.patterns.values() for p in kind]
    assert all(c.sources for c in shipped.categories)
    assert all(leaf.sources for leaf in category(shipped, "cybercrime").classes)
    for texts in (
        [leaf.title for leaf in leaves],
        [t for leaf in leaves for t in (leaf.description, leaf.forbidden)],
        [p.title for p in patterns],
        [p.description for p in patterns],
    ):
        assert len(texts) == len(set(texts))


def test_everything_is_found_by_its_id(shipped: Taxonomy) -> None:
    for each in shipped.categories:
        assert shipped.category(each.id) is each
        assert shipped.class_ids(each.id) == [leaf.id for leaf in each.classes]
        assert all(shipped.risk_class(leaf.id) is leaf for leaf in each.classes)
    assert all(shipped.domain(d.id) is d for d in shipped.domains)
    assert all(shipped.pattern(kind, p.id) is p for kind, patterns in shipped.patterns.items() for p in patterns)


def test_what_is_not_there_is_none(shipped: Taxonomy) -> None:
    assert shipped.category("nowhere") is None
    assert shipped.class_ids("nowhere") is None
    assert shipped.risk_class("nowhere") is None
    assert shipped.domain("nowhere") is None
    assert shipped.pattern("misuse", "stop_and_report") is None
    assert shipped.pattern_ids("nowhere", "fraud") == []


def test_a_category_is_added_with_a_file(tmp_path: Path) -> None:
    write(tmp_path, "categories/forgery.yaml", CATEGORY.format(id="forgery", leaf="false_seals"))
    taxonomy = load_taxonomy(tmp_path)
    assert taxonomy.class_ids("forgery") == ["false_seals"]
    assert [c.id for c in taxonomy.categories] == sorted(c.id for c in taxonomy.categories)
    assert "within_cap" in taxonomy.pattern_ids("authorization", "forgery")
    assert "double_payout" not in taxonomy.pattern_ids("misuse", "forgery")


def test_a_class_is_added_and_one_replaced_while_the_others_stay(tmp_path: Path, shipped: Taxonomy) -> None:
    mine = category(load_taxonomy(write(tmp_path, "categories/drugs.yaml", MORE)), "drugs")
    before = category(shipped, "drugs")
    assert [leaf.id for leaf in mine.classes] == ["dispensing_control", "supply_diversion", "own_class"]
    assert mine.classes[0] == before.classes[0]
    assert mine.classes[1].title == "Mine"
    assert (mine.title, mine.description, mine.sources) == (before.title, before.description, before.sources)


def test_a_category_takes_the_title_of_a_later_file(tmp_path: Path) -> None:
    write(tmp_path, "categories/drugs.yaml", CATEGORY.format(id="drugs", leaf="own_class"))
    mine = category(load_taxonomy(tmp_path), "drugs")
    assert (mine.title, mine.description) == ("A title", "What it is.")
    assert [leaf.id for leaf in mine.classes] == ["dispensing_control", "supply_diversion", "own_class"]


def test_patterns_and_domains_are_added_and_replaced(tmp_path: Path, shipped: Taxonomy) -> None:
    write(tmp_path, "categories/forgery.yaml", CATEGORY.format(id="forgery", leaf="false_seals"))
    write(
        tmp_path,
        "patterns/misuse.yaml",
        "- {id: false_seal, title: Seal, description: A seal., categories: [forgery]}\n"
        "- {id: double_payout, title: Mine, description: Mine.}\n",
    )
    write(tmp_path, "domains.yaml", "- {id: moon, title: Moon, description: Houses on the moon.}\n")
    taxonomy = load_taxonomy(tmp_path)
    assert list(taxonomy.pattern_ids("misuse", "forgery"))[-1:] == ["false_seal"]
    assert "false_seal" not in taxonomy.pattern_ids("misuse", "drugs")
    replaced = taxonomy.pattern("misuse", "double_payout")
    assert replaced is not None
    assert (replaced.title, replaced.categories) == ("Mine", "all")
    assert taxonomy.domain_ids() == [*shipped.domain_ids(), "moon"]


def test_a_later_directory_has_the_last_word_and_an_earlier_one_may_name_its_category(tmp_path: Path) -> None:
    pattern = "- {{id: false_seal, title: {title}, description: A seal., categories: [forgery]}}\n"
    one = write(tmp_path / "one", "patterns/misuse.yaml", pattern.format(title="First"))
    two = write(tmp_path / "two", "patterns/misuse.yaml", pattern.format(title="Second"))
    write(two, "categories/forgery.yaml", CATEGORY.format(id="forgery", leaf="false_seals"))
    found = load_taxonomy(one, two).pattern("misuse", "false_seal")
    assert found is not None
    assert found.title == "Second"


def test_a_directory_with_blueprints_alone_adds_nothing(tmp_path: Path, shipped: Taxonomy) -> None:
    (tmp_path / "blueprints").mkdir()
    assert load_taxonomy(tmp_path) == shipped


def test_a_directory_that_is_none_is_a_mistake(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is no directory"):
        load_taxonomy(tmp_path / "nowhere")
    with pytest.raises(UsageError, match="has nothing of a taxonomy in it; put categories"):
        load_taxonomy(tmp_path)
