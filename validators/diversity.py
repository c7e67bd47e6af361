"""How different the texts of a set are, by measures that can be laid beside those of other data sets.

TF-IDF over words and word pairs (scikit-learn's words, sublinear) with the nearest neighbour outside the own group, distinct-2 (the share of word pairs
that are distinct) and the ratio by which zlib compresses the texts laid end to end.
"""

from __future__ import annotations

import itertools
import re
import zlib
from collections.abc import Sequence
from typing import Any, Final

from agentbound.data.records import Record

NEAR: Final = 0.8
"""Similarity from which a nearest neighbour counts as near."""

_BATCH: Final = 500


class Diversity(Record):
    """`texts` how many; nearest-neighbour similarity `mean`, `p95` and `near` (the share above .8); `distinct_2`; `zlib_ratio`."""

    texts: int
    mean: float
    p95: float
    near: float
    distinct_2: float
    zlib_ratio: float


def diversity(texts: Sequence[str], groups: Sequence[str]) -> Diversity:
    """Measure texts; neighbours of the same group (a family's siblings) do not count. Needs two groups or more."""
    import numpy as np

    similarities = nearest(texts, groups)
    pairs = [p for text in texts for p in _pairs(text)]
    joined = "\n".join(texts).encode()
    return Diversity(
        texts=len(texts),
        mean=round(float(np.mean(similarities)), 4),
        p95=round(float(np.percentile(similarities, 95)), 4),
        near=round(float(np.mean([s > NEAR for s in similarities])), 4),
        distinct_2=round(len(set(pairs)) / max(1, len(pairs)), 4),
        zlib_ratio=round(len(joined) / len(zlib.compress(joined, 9)), 3),
    )


def nearest(texts: Sequence[str], groups: Sequence[str]) -> list[float]:
    """For each text the similarity of its nearest neighbour outside its group, 0 to 1."""
    import numpy as np

    matrix = vectors(texts)
    codes = np.unique(np.asarray(groups), return_inverse=True)[1]
    best: list[float] = []
    for start in range(0, len(texts), _BATCH):
        block = (matrix[start : start + _BATCH] @ matrix.T).toarray()
        block[codes[start : start + _BATCH, None] == codes[None, :]] = 0.0
        best.extend(float(x) for x in block.max(axis=1))
    return best


def vectors(texts: Sequence[str]) -> Any:
    """TF-IDF over words and word pairs, one unit row a text (a sparse matrix): a product of rows is their similarity."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    return TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True).fit_transform(texts)


def _pairs(text: str) -> list[tuple[str, str]]:
    words = re.findall(r"\w+", text.lower())
    return list(itertools.pairwise(words))
