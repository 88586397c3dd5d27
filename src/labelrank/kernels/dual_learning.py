"""Learning pairwise perceptrons in the dual representation: one pass, and the loser index.

Problem   for every instance x, in order, and every preference u > v it states: on a mistake
          w_uv += 2 x, which is written down as "x erred on (u, v)" (see `labelrank.kernels.dual`).
Given     X, the grades Y, `order` int64: the rows to visit from position `at` on.
          Kernel values are known to be finite: the caller bounds them before the first row.
Changes   Documents, Entries and the counters `used` grow; `known` maps rows of X to documents.
Returns   the position in `order` at which room ran out or an index fell due.
Cost      for each relevant label (and Θ) one row of duels.
See       Loza Mencía & Fürnkranz 2008
"""

import math
from typing import NamedTuple

import numpy as np

from labelrank._types import Array, Float64, Int32
from labelrank.kernels import dual
from labelrank.kernels._compile import kernel


class Training(NamedTuple):
    """Which preferences train, and when one is a mistake (margin NaN: by the sign, sgn(0) = +1)."""

    calibrated: bool
    ordered: bool
    margin: float


class Grades(NamedTuple):
    """Working memory by label; `candidates` (n, k): irrelevant labels in the duels of each row.

    `rest` is then NaN; with k = 0 all labels take part, and it is -1.
    """

    grade: Float64
    lost: Array
    candidates: Int32
    rest: float


@kernel
def find_mistakes(u, row, grade, n_labels, training, factor, lost):
    """Mark the labels v graded below u that it fails to beat; returns (trained, mistakes)."""
    before, after = np.int64(0), np.int64(-1)
    if not math.isnan(training.margin):
        before = np.int64(math.floor(max(-4e18, min(4e18, 0.5 * training.margin * factor))))
        after = before
    trained, mistakes = 0, 0
    for v in range(n_labels):
        below = grade[v] < grade[u]
        wrong = below and row[v] <= (before if v < u else after)
        lost[v] = wrong
        trained += below
        mistakes += wrong
    return trained, mistakes


@kernel
def write_losers(lost, n_labels, n_losers, words, at, n_words):
    """Append the marked labels as the shorter of list and mask; returns the new end."""
    if n_losers < n_words:
        for v in range(n_labels):
            if lost[v]:
                words[at] = v
                at += 1
        return at
    words[at : at + n_words] = 0
    for v in range(n_labels):
        if lost[v]:
            words[at + v // dual.BITS] |= np.uint32(1 << (v % dual.BITS))
    return at + n_words


@kernel
def learn_labels(columns, i, factor, training, store, scratch, grades):
    """Train all duels of the better labels of document i; returns the number of mistakes."""
    n_labels, used, entries = store.index.first.shape[0] - 1, store.used, store.entries
    before, end = used[dual.N_MISTAKES], used[dual.N_ENTRIES]
    n_words = (n_labels + dual.BITS - 1) // dual.BITS
    for p in range(columns.shape[0] + int(training.calibrated)):
        u = columns[p] if p < columns.shape[0] else n_labels - 1
        if math.isnan(grades.grade[u]):
            continue
        dual.duels_of(u, store, scratch.fixed, scratch.row)
        trained, mistakes = find_mistakes(
            u, scratch.row, grades.grade, n_labels, training, factor, grades.lost
        )
        used[dual.N_TRAINED] += trained
        used[dual.N_MISTAKES] += mistakes
        if mistakes:
            entries.document[end], entries.label[end] = i, u
            at = entries.start[end]
            used[dual.N_WORDS] = write_losers(
                grades.lost, n_labels, mistakes, entries.words, at, n_words
            )
            end += 1
            entries.start[end] = used[dual.N_WORDS]
    used[dual.N_ENTRIES] = end
    return used[dual.N_MISTAKES] - before


@kernel
def is_full(n_better, store):
    """Whether the next instance could overrun the room, or an index has fallen due."""
    used, entries, index = store.used, store.entries, store.index
    n_words = (index.first.shape[0] - 1 + dual.BITS - 1) // dual.BITS
    return (
        used[dual.N_WORDS] + n_better * n_words > entries.words.shape[0]
        or used[dual.N_ENTRIES] >= (index.n_blocks + 1) * dual.BLOCK
        or used[dual.N_DOCUMENTS] >= store.inverted.n_due
    )


@kernel
def add_document(i, indices, data, documents, used):
    """Append a document without visits."""
    start = documents.indptr[i]
    stop = start + indices.shape[0]
    documents.indices[start:stop] = indices
    documents.data[start:stop] = data
    documents.indptr[i + 1] = stop
    documents.norms[i] = dual.squared_norm(data)
    documents.visits[i] = 0
    used[dual.N_DOCUMENTS] += 1


@kernel
def learn_pass(X, Y, order, at, training, known, store, similarity, scratch, grades):
    """Learn rows order[at:] until one does not fit any more; returns where to go on."""
    n_labels, used, visits = store.index.first.shape[0] - 1, store.used, store.documents.visits
    while at < order.shape[0]:
        r = order[at]
        span, spread = slice(X[0][r], X[0][r + 1]), slice(Y[0][r], Y[0][r + 1])
        columns, values, grade = Y[1][spread], Y[2][spread], grades.grade
        if is_full(columns.shape[0] + 1, store):
            return at
        factor = dual.compare_row(X, r, store, similarity, scratch)
        # Relevant labels by their grade (all 1 if not ordered), Θ 0, irrelevant -1, unknown NaN.
        grade[grades.candidates[r]] = -1.0
        for p in range(columns.shape[0]):
            known_grade = values[p] if training.ordered else 1.0
            grade[columns[p]] = known_grade if values[p] > 0.0 else math.nan
        if training.calibrated:
            grade[n_labels - 1] = 0.0
        i = known[r] if known[r] >= 0 else used[dual.N_DOCUMENTS]
        if learn_labels(columns, i, factor, training, store, scratch, grades):
            if known[r] < 0:
                known[r] = i
                add_document(i, X[1][span], X[2][span], store.documents, used)
            visits[i] += 1
            used[dual.MOST_VISITS] = max(used[dual.MOST_VISITS], visits[i])
        grade[grades.candidates[r]] = grades.rest
        grade[columns] = grades.rest
        at += 1
    return at


@kernel
def sort_block(entries, begin, first):
    """Sort a block of entries by label, stably; first[u] is where those of u begin."""
    order = np.argsort(entries.label[begin : begin + dual.BLOCK], kind="mergesort") + begin
    document, label = entries.document[order], entries.label[order]
    origin = entries.start[begin]
    words = entries.words[origin : entries.start[begin + dual.BLOCK]].copy()
    lengths = (entries.start[order + 1] - entries.start[order]).copy()
    froms = entries.start[order] - origin
    at, u = origin, 0
    for k in range(dual.BLOCK):
        entries.document[begin + k], entries.label[begin + k] = document[k], label[k]
        entries.words[at : at + lengths[k]] = words[froms[k] : froms[k] + lengths[k]]
        entries.start[begin + k] = at
        at += lengths[k]
        while u <= label[k]:
            first[u] = begin + k
            u += 1
    first[u:] = begin + dual.BLOCK


@kernel
def index_losers(entries, begin, n_labels, fill, offset, is_counting):
    """Count the losses of each label in the block (fill[v] += 1), or list them from fill[v] on."""
    n_words = (n_labels + dual.BITS - 1) // dual.BITS
    for e in range(begin, begin + dual.BLOCK):
        origin, end = entries.start[e], entries.start[e + 1]
        is_list = end - origin < n_words
        for p in range(origin, end):
            bits = np.uint32(1) if is_list else entries.words[p]
            v = np.int64(entries.words[p]) if is_list else (p - origin) * dual.BITS
            while bits:
                if bits & np.uint32(1):
                    if not is_counting:
                        offset[fill[v]] = e - begin
                    fill[v] += 1
                bits >>= np.uint32(1)
                v += 1


@kernel
def are_losers(start, words, n_words, n_labels):
    """Whether every entry is an ascending list of labels, or a mask with no bit past the last."""
    for e in range(start.shape[0] - 1):
        losers = words[start[e] : start[e + 1]]
        if losers.shape[0] > n_words:
            return False
        if losers.shape[0] == n_words:
            spare = n_words * dual.BITS - n_labels
            if n_words and np.uint64(losers[n_words - 1]) >> np.uint64(dual.BITS - spare):
                return False
            continue
        for p in range(losers.shape[0]):
            if losers[p] >= n_labels or (p > 0 and losers[p] <= losers[p - 1]):
                return False
    return True


@kernel
def rewrite_losers(start, words, n_words, names, new_start, new_words, n_labels):
    """Entries over more labels: label v is now called names[v]."""
    lost = np.zeros(n_labels, np.uint8)
    wider = (n_labels + dual.BITS - 1) // dual.BITS
    for e in range(start.shape[0] - 1):
        lost[:] = 0
        n_losers = 0
        for v in range(names.shape[0]):
            if dual.is_loser(words, start[e], start[e + 1], n_words, v):
                lost[names[v]] = 1
                n_losers += 1
        new_start[e + 1] = write_losers(lost, n_labels, n_losers, new_words, new_start[e], wider)
