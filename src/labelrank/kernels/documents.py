"""Documents of a synthetic thesaurus, each from its number alone.

Problem   document i has labels drawn around one or two themes of a hierarchy, and words drawn
          from the vocabularies of its labels, of their parents, and from Zipf's law
Given     seed, i           integers >= 0
          names   int32 (K,): the labels by falling popularity
          roots, children   labels 0..roots-1 have no parent; that of k is (k - roots) // children
Changes   labels  int32 (n, most labels), words int32 (n, most words): sorted, counts in n_labels,
          n_words int64 (n,); occurrences float32 (n, most words)
Cost      O(words log words) a document
See       the shape of PubMed with its subject headings: about 12 of 28,333 per document
"""

import numpy as np

from labelrank.kernels._compile import kernel
from labelrank.kernels.random import uniform

FEWEST_LABELS, LABEL_SPAN = 5, 18
FEWEST_WORDS, WORD_SPAN = 80, 80
_FLAT = 10.0
_COMPANIONS, _OWN_WORDS = 64, 40
_LABELS, _WORDS, _RELATIONS, _VOCABULARY = 0, 1, 2, 3
_STREAMS = 4


@kernel
def _number(seed, stream, a, b):
    return uniform(_STREAMS * seed + stream, a, b)


@kernel
def _zipf(u, size):
    """A rank in 0..size-1 whose probability falls about as 1 / (rank + 10)."""
    return min(size - 1, int(_FLAT * ((size + _FLAT) / _FLAT) ** u - _FLAT))


@kernel
def parent(label, roots, children):
    return label if label < roots else (label - roots) // children


@kernel
def _related(theme, how, u, names, roots, children, seed):
    """The theme's parent, a sibling, a companion that often comes with it, or any label."""
    if how < 0.15:
        return parent(theme, roots, children)
    if how < 0.35:
        above = parent(theme, roots, children)
        return min(names.shape[0] - 1, roots + above * children + int(u * children))
    if how < 0.75:
        slot = _zipf(u, _COMPANIONS)
        return names[_zipf(_number(seed, _RELATIONS, theme, slot), names.shape[0])]
    return names[_zipf(u, names.shape[0])]


@kernel
def _insert(sorted_values, size, value):
    """Put the value in its place unless it is there; returns the new size."""
    place = size
    while place > 0 and sorted_values[place - 1] >= value:
        place -= 1
    if place < size and sorted_values[place] == value:
        return size
    for p in range(size, place, -1):
        sorted_values[p] = sorted_values[p - 1]
    sorted_values[place] = value
    return size + 1


@kernel
def write_labels(seed, first, names, roots, children, labels, n_labels):
    for d in range(labels.shape[0]):
        i = first + d
        wanted = FEWEST_LABELS + int(_number(seed, _LABELS, i, 0) * LABEL_SPAN)
        wanted = min(wanted, labels.shape[1])
        one = names[_zipf(_number(seed, _LABELS, i, 1), names.shape[0])]
        other = names[_zipf(_number(seed, _LABELS, i, 2), names.shape[0])]
        size = _insert(labels[d], 0, one)
        for draw in range(1, wanted):
            theme = one if _number(seed, _LABELS, i, 3 * draw) < 0.7 else other
            how = _number(seed, _LABELS, i, 3 * draw + 1)
            u = _number(seed, _LABELS, i, 3 * draw + 2)
            chosen = _related(theme, how, u, names, roots, children, seed)
            size = _insert(labels[d], size, chosen)
        n_labels[d] = size


@kernel
def write_words(
    seed, first, roots, children, n_features, labels, n_labels, words, occurrences, n_words
):  # fmt: skip
    drawn = np.empty(words.shape[1], np.int32)
    for d in range(words.shape[0]):
        i = first + d
        length = FEWEST_WORDS + int(_number(seed, _WORDS, i, 0) * WORD_SPAN)
        for w in range(length):
            kind, u = _number(seed, _WORDS, i, 2 * w + 1), _number(seed, _WORDS, i, 2 * w + 2)
            if kind < 0.45:
                drawn[w] = _zipf(u, n_features)
                continue
            label = labels[d, int(u * n_labels[d])]
            slot = _zipf((kind - 0.45) / 0.55, _OWN_WORDS)
            if slot % 4 == 3:
                label = parent(label, roots, children)
            rarity = _number(seed, _VOCABULARY, label, slot)
            drawn[w] = int(rarity * rarity * n_features)
        ordered = np.sort(drawn[:length])
        size = 0
        for w in range(length):
            if w == 0 or ordered[w] != ordered[w - 1]:
                words[d, size], occurrences[d, size] = ordered[w], 0.0
                size += 1
            occurrences[d, size - 1] += 1.0
        n_words[d] = size
