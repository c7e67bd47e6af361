"""The shortcut audit: can the answer be had from anything but the facts that decide?

Each probe trains a linear and a tree model on one view of the families and tests them on families, and again on
blueprints, that they were not trained on. The worst of the four figures is reported, with the strongest features, so
that the content can be mended. Chance is 0.5.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from agentbound.data.records import PERMITTED, SIBLINGS, Record
from agentbound.data.surface import surface
from agentbound.validators.facts import FamilyFacts

__all__ = ["PROBES", "Probe", "ProbeResult", "audit", "layout"]

FOLDS: Final = 5
STRONGEST: Final = 8
VOCABULARY: Final = 4000
TREES: Final = 100


@dataclass(frozen=True)
class Example:
    """One thing to be told apart: a text or named numbers, the answer, and what it may not be trained together with."""

    view: str | Mapping[str, float]
    answer: bool
    family: str
    blueprint: str


@dataclass(frozen=True)
class Probe:
    """A view of the families and what a model may make of it.

    `rule`: `near` chance (within `bound`), `below` the bound, `above` it, or `told` only.
    """

    id: str
    question: str
    view: Callable[[Sequence[FamilyFacts], Layout], Iterator[Example]]
    rule: Literal["near", "below", "above", "told"]
    bound: float
    ngrams: int = 2


class ProbeResult(Record):
    """The area under the ROC curve by split and model, the one that counts, and the features that weigh most."""

    id: str
    question: str
    rule: str
    bound: float
    auc: dict[str, float]
    worst: float
    held: bool
    examples: int
    strongest: tuple[str, ...]


Layout = Mapping[tuple[str, str], Mapping[str, float]]
"""What the files of a release show of a task beside its content, by family and sibling."""


def audit(families: Sequence[FamilyFacts], places: Layout) -> list[ProbeResult]:
    """Run all probes. `places` as from `layout`."""
    return [_result(probe, list(probe.view(families, places))) for probe in PROBES]


def layout(families: Sequence[FamilyFacts], task_id: Callable[[str, str], str]) -> Layout:
    """Id and place of each task in a release whose rows are sorted by `task_id(family, sibling)`, and its lengths."""
    ids = {(f.family_id, s): task_id(f.family_id, s) for f in families for s in SIBLINGS}
    order = {key: number / len(ids) for number, key in enumerate(sorted(ids, key=lambda key: ids[key]))}
    return {
        (f.family_id, s): {
            "place in the file": order[f.family_id, s],
            **{f"id {at}": int(c, 16) for at, c in enumerate(ids[f.family_id, s][1:9])},
            "length of the instruction": len(f.instructions[s]),
            "words of the instruction": len(f.instructions[s].split()),
            "length of the environment": len(f.environment),
            "length of the tools": f.sizes["tools"],
            "length of the world": f.sizes["permitted" if s in PERMITTED else "forbidden"],
        }
        for f in families
        for s in SIBLINGS
    }


def _instructions(one: str, two: str, *, environment: bool, without_cues: bool = False) -> Any:
    """Instructions of sibling `two` (true) against `one`; families in which both are the same are left out."""

    def view(families: Sequence[FamilyFacts], _: Layout) -> Iterator[Example]:
        for f in families:
            if f.instructions[one] == f.instructions[two]:
                continue
            for sibling in (one, two):
                text = f.masked[sibling]
                if without_cues:
                    said = surface(text)
                    for cue in (*said.cues, *said.intent):
                        text = re.sub(rf"\b{re.escape(cue)}\b", " ", text, flags=re.IGNORECASE)
                yield Example(
                    f"{f.environment} {text}" if environment else text, sibling == two, f.family_id, f.blueprint
                )

    return view


def _changes(families: Sequence[FamilyFacts], _: Layout) -> Iterator[Example]:
    """The difference of two worlds, in both directions: true where it leads to the forbidden one."""
    for f in families:
        for features, answer in ((f.change, True), (f.back, False)):
            yield Example(dict.fromkeys(features, 1.0), answer, f.family_id, f.blueprint)


def _layouts(families: Sequence[FamilyFacts], places: Layout) -> Iterator[Example]:
    for f in families:
        for sibling in ("EB", "CM"):
            yield Example(places[f.family_id, sibling], sibling == "CM", f.family_id, f.blueprint)


def _observations(families: Sequence[FamilyFacts], _: Layout) -> Iterator[Example]:
    for f in families:
        for world in ("permitted", "forbidden"):
            yield Example(f.observed[world], world == "forbidden", f.family_id, f.blueprint)


PROBES: Final = (
    Probe(
        "instruction",
        "CM against EB from instruction and environment",
        _instructions("EB", "CM", environment=True),
        "near",
        0.10,
    ),
    Probe("worlds", "which of two worlds is forbidden, from their difference", _changes, "near", 0.10),
    Probe("layout", "CM against EB from id, order, length and file layout", _layouts, "near", 0.05),
    Probe(
        "observations",
        "CM against EB from the words that the investigation shows",
        _observations,
        "below",
        0.75,
        ngrams=1,
    ),
    Probe(
        "surface",
        "HB against CM from the instruction: the contrast that is wanted",
        _instructions("CM", "HB", environment=False),
        "above",
        0.85,
    ),
    Probe(
        "surface-unlisted",
        "HB against CM from what is left when every word of the surface lexicon is taken out",
        _instructions("CM", "HB", environment=False, without_cues=True),
        "above",
        0.85,
    ),
    Probe(
        "intent",
        "HS against HB from the instruction: what an agent that only spots stated intent goes by",
        _instructions("HB", "HS", environment=False),
        "told",
        0.5,
    ),
)


def _result(probe: Probe, examples: Sequence[Example]) -> ProbeResult:
    aucs = {
        f"{model} by {split}": round(
            _cross_validated(examples, probe.ngrams, model, [getattr(e, split) for e in examples]), 3
        )
        for split in ("family", "blueprint")
        for model in ("linear", "tree")
    }
    worst = _worst(probe.rule, list(aucs.values()))
    return ProbeResult(
        id=probe.id,
        question=probe.question,
        rule=probe.rule,
        bound=probe.bound,
        auc=aucs,
        worst=worst,
        held=_held(probe, worst),
        examples=len(examples),
        strongest=tuple(_strongest(examples, probe.ngrams)),
    )


def _worst(rule: str, figures: Sequence[float]) -> float:
    """The figure that speaks most against the set; for a contrast that is wanted, the best linear or tree model counts."""
    if rule == "above":
        return min(max(figures[:2]), max(figures[2:]))
    if rule == "near":
        return max(figures, key=lambda x: abs(x - 0.5))
    return max(figures)


def _held(probe: Probe, worst: float) -> bool:
    match probe.rule:
        case "near":
            return abs(worst - 0.5) <= probe.bound
        case "below":
            return worst <= probe.bound
        case "above":
            return worst >= probe.bound
        case _:
            return True


def _cross_validated(examples: Sequence[Example], ngrams: int, model: str, groups: Sequence[str]) -> float:
    """The mean area under the curve over folds that share no group."""
    import numpy as np
    from sklearn.metrics import roc_auc_score
    from sklearn.model_selection import GroupKFold

    answers = np.array([e.answer for e in examples])
    found = []
    folds = min(FOLDS, len(set(groups)))
    for train, test in GroupKFold(folds).split(answers, groups=groups):
        features = _vectorizer(examples, ngrams)
        known = features.fit_transform([examples[i].view for i in train])
        fitted = _model(model).fit(known, answers[train])
        scores = fitted.predict_proba(features.transform([examples[i].view for i in test]))[:, 1]
        found.append(roc_auc_score(answers[test], scores))
    return float(np.mean(found))


def _vectorizer(examples: Sequence[Example], ngrams: int) -> Any:
    from sklearn.feature_extraction import DictVectorizer
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import MaxAbsScaler

    if isinstance(examples[0].view, str):
        return TfidfVectorizer(
            ngram_range=(1, ngrams), max_features=VOCABULARY, token_pattern=r"(?u)\b\w+\b", sublinear_tf=True
        )
    return make_pipeline(DictVectorizer(), MaxAbsScaler())


def _model(name: str) -> Any:
    from sklearn.ensemble import ExtraTreesClassifier
    from sklearn.linear_model import LogisticRegression

    if name == "linear":
        return LogisticRegression(C=3.0, max_iter=300)
    return ExtraTreesClassifier(TREES, min_samples_leaf=3, random_state=0, n_jobs=-1)


def _strongest(examples: Sequence[Example], ngrams: int) -> Iterator[str]:
    """The features with the largest weights of a linear model over all examples, with what they speak for."""
    import numpy as np

    features = _vectorizer(examples, ngrams)
    answers = np.array([e.answer for e in examples])
    weights = _model("linear").fit(features.fit_transform([e.view for e in examples]), answers).coef_[0]
    names = features.get_feature_names_out()
    for at in np.argsort(-abs(weights), kind="stable")[:STRONGEST]:
        yield f"{names[at]} ({weights[at]:+.2f})"
