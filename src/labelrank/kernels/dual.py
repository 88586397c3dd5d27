"""Pairwise perceptrons in their dual representation: who erred on which duel, not weights.

Problem   one perceptron w_uv per pair of labels (w_vu = -w_uv), moved by 2 x_i on each mistake, so
          m_uv(x) = 2 (sum of k(x, x_i) over the mistakes on u > v, less those on v > u).
Layout    A *document* is a stored instance (`Documents`; `Inverted` lists those that hold a
          feature). An *entry* is (document, better label u, the labels v it failed to beat): the
          v's are a bit mask of n_words uint32, or, where that is shorter, their sorted list.
          Within a block of BLOCK entries they are sorted by u; `Index` says where those of u are,
          and in which ones u lost. Documents and entries not yet in the two indices are
          searched directly, so both grow in blocks.
Changes   only the working memory and the results it is given. Indices are cast to unsigned where
          it counts: Numba then spares the check for a negative one, which doubles the speed.
Exactness Kernel values are made 64-bit integers, scaled by a power of two so that no sum can
          overflow. Sums are then exact in any order: rows equal full matrices, pieces the whole,
          and a margin that cancels is exactly 0. Integer data loses nothing at all.
Cost      a row of duels: one vector addition over labels an entry of u, plus u's losses.
See       Loza Mencía & Fürnkranz 2008 (pairwise perceptrons in the dual, EUR-Lex)
"""

import math
from typing import NamedTuple

import numpy as np

from labelrank._types import Array, Float32, Float64, Int32, Int64
from labelrank.kernels._compile import kernel

LINEAR, POLY, RBF = range(3)
BLOCK = 1024
BITS = 32
TILE = 64
OPEN, SEEN, TAKEN = range(3)
# Places in `Store.used`.
N_DOCUMENTS, N_ENTRIES, N_WORDS, MOST_VISITS, N_TRAINED, N_MISTAKES = range(6)


class Documents(NamedTuple):
    """CSR rows of the instances that ever erred, their squared norms, visits with an error."""

    indptr: Int64
    indices: Int32
    data: Float32
    norms: Float64
    visits: Int32


class Inverted(NamedTuple):
    """The documents that hold each feature, among the first `n_documents`; anew at `n_due`."""

    indptr: Int64
    documents: Int32
    values: Float32
    n_documents: int
    n_due: int


class Entries(NamedTuple):
    """Mistakes: words[start[e]:start[e+1]] (uint32) are the labels `label[e]` failed to beat."""

    document: Int32
    label: Int32
    start: Int64
    words: Array


class Index(NamedTuple):
    """Who won and who lost in the first `n_blocks` blocks of BLOCK entries.

    The entries of label u in block b are first[u, b]:first[u+1, b]; those in which it lost are
    at offset[start[u, b]:start[u+1, b]] (uint16) from the beginning of the block.
    """

    first: Int32
    start: Int64
    offset: Array
    n_blocks: int


class Store(NamedTuple):
    """What was learned; `used` counts what of the arrays is in use, and the work done."""

    documents: Documents
    inverted: Inverted
    entries: Entries
    index: Index
    used: Int64


class Similarity(NamedTuple):
    """k(x, z): LINEAR x.z, POLY (gamma x.z + coef0)^degree, RBF exp(-gamma |x - z|^2)."""

    code: int
    gamma: float
    coef0: float
    degree: int


class Scratch(NamedTuple):
    """Working memory of one thread: by feature, by document (twice), by label (padded)."""

    x: Float64
    similarity: Float64
    fixed: Int64
    row: Int64


@kernel
def dot_products(indices, data, documents, inverted, n_documents, x, out):
    """x.z for every document z; both ways add in feature order, so they agree to the bit."""
    out[:n_documents] = 0.0
    for p in range(indices.shape[0]):
        j, value = indices[p], np.float64(data[p])
        x[j] = value
        span = slice(inverted.indptr[j], inverted.indptr[j + 1])
        holders, values = inverted.documents[span], inverted.values[span]
        for r in range(holders.shape[0]):
            out[np.uint32(holders[r])] += value * values[r]
    for i in range(inverted.n_documents, n_documents):
        total = 0.0
        for p in range(documents.indptr[i], documents.indptr[i + 1]):
            total += x[documents.indices[p]] * documents.data[p]
        out[i] = total
    for p in range(indices.shape[0]):
        x[indices[p]] = 0.0


@kernel
def squared_norm(data):
    """x.x in float64."""
    total = 0.0
    for p in range(data.shape[0]):
        total += np.float64(data[p]) * data[p]
    return total


@kernel
def to_fixed_point(values, n, copies, fixed):
    """Integers fixed = values * factor whose sums, each taken `copies` times, stay below 2^61."""
    total = 0.0
    for i in range(n):
        total += abs(values[i])
    total *= copies
    if total == 0.0 or not math.isfinite(total):
        fixed[:n] = 0
        return 1.0 if total == 0.0 else math.nan
    factor = math.ldexp(1.0, min(61 - math.frexp(total)[1], 1000))
    for i in range(n):
        fixed[i] = np.int64(np.rint(values[i] * factor))
    return factor


@kernel
def compare_row(X, r, store, similarity, scratch):
    """k(x, .) of row r over all documents into scratch.fixed; its factor, or NaN on overflow."""
    indptr, indices, data = X
    span = slice(indptr[r], indptr[r + 1])
    documents, used, values = store.documents, store.used, scratch.similarity
    n = used[N_DOCUMENTS]
    dot_products(indices[span], data[span], documents, store.inverted, n, scratch.x, values)
    if similarity.code == POLY:
        for i in range(n):
            values[i] = (similarity.gamma * values[i] + similarity.coef0) ** similarity.degree
    elif similarity.code == RBF:
        norm, norms = squared_norm(data[span]), documents.norms
        for i in range(n):
            distance = max(0.0, norm + norms[i] - 2.0 * values[i])
            values[i] = math.exp(-similarity.gamma * distance)
    return to_fixed_point(values, n, used[MOST_VISITS], scratch.fixed)


@kernel
def add_losers(row, losers, value):
    """row[v] += value for every label v of an entry, a list or a mask."""
    if losers.shape[0] < row.shape[0] // BITS:
        for p in range(losers.shape[0]):
            row[losers[p]] += value
        return
    for w in range(losers.shape[0]):
        bits = losers[w]
        if bits:
            part = row[BITS * w : BITS * w + BITS]
            for b in range(BITS):
                if bits & np.uint32(1 << b):
                    part[b] += value


@kernel
def is_loser(words, start, stop, n_words, v):
    """Whether words[start:stop], a mask of n_words or a sorted list, holds label v."""
    if stop - start == n_words:
        return (words[start + v // BITS] >> np.uint32(v % BITS)) & np.uint32(1) != 0
    end = stop
    while start < stop:
        middle = (start + stop) // 2
        if words[middle] < v:
            start = middle + 1
        else:
            stop = middle
    return start < end and words[start] == v


@kernel
def add_wins(row, u, entries, index, n_entries, fixed):
    """row[v] += the evidence for u over v."""
    for block in range(index.n_blocks):
        for e in range(index.first[u, block], index.first[u + 1, block]):
            value = fixed[np.uint32(entries.document[e])]
            add_losers(row, entries.words[entries.start[e] : entries.start[e + 1]], value)
    for e in range(index.n_blocks * BLOCK, n_entries):
        if entries.label[e] == u:
            value = fixed[entries.document[e]]
            add_losers(row, entries.words[entries.start[e] : entries.start[e + 1]], value)


@kernel
def duels_of(u, store, fixed, row):
    """All duels of label u: row[v] > 0 where it beats v, by that margin (times factor / 2)."""
    row[:] = 0
    entries, index, n_entries = store.entries, store.index, store.used[N_ENTRIES]
    add_wins(row, u, entries, index, n_entries, fixed)
    n_words = row.shape[0] // BITS
    for block in range(index.n_blocks):
        span = slice(block * BLOCK, (block + 1) * BLOCK)
        documents, labels = entries.document[span], entries.label[span]
        offset = index.offset[index.start[u, block] : index.start[u + 1, block]]
        for p in range(offset.shape[0]):
            e = offset[p]
            row[np.uint32(labels[e])] -= fixed[np.uint32(documents[e])]
    for e in range(index.n_blocks * BLOCK, n_entries):
        if is_loser(entries.words, entries.start[e], entries.start[e + 1], n_words, u):
            row[entries.label[e]] -= fixed[entries.document[e]]


@kernel
def count_votes(wins, unit, votes, margins):
    """Won duels and summed margins of every label; tiles keep both triangles in the cache."""
    n_labels = wins.shape[0]
    votes[:] = 0.0
    margins[:] = 0.0
    for top in range(0, n_labels, TILE):
        for left in range(top, n_labels, TILE):
            for u in range(top, min(top + TILE, n_labels)):
                won, total = 0, 0.0
                for v in range(max(left, u + 1), min(left + TILE, n_labels)):
                    margin = wins[u, v] - wins[v, u]
                    won += margin >= 0
                    votes[v] += margin < 0
                    total += margin
                    margins[v] -= unit * margin
                votes[u] += won
                margins[u] += unit * total


@kernel
def vote(X, first, last, store, similarity, scratch, votes, margins):
    """Votes and summed margins of rows first..last; False where a kernel value overflows."""
    entries, index, n_entries = store.entries, store.index, store.used[N_ENTRIES]
    wins = np.empty((votes.shape[1], scratch.row.shape[0]), np.int64)  # the evidence for u over v
    for r in range(first, last):
        factor = compare_row(X, r, store, similarity, scratch)
        if math.isnan(factor):
            return False
        wins[:] = 0
        for u in range(wins.shape[0]):
            add_wins(wins[u], u, entries, index, n_entries, scratch.fixed)
        count_votes(wins, 2.0 / factor, votes[r], margins[r])
    return True


@kernel
def vote_among(X, first, last, store, similarity, scratch, labels, votes, margins):
    """As `vote`, in the duels among labels[r] alone, of which the first one wins the draws."""
    entries, index, n_entries = store.entries, store.index, store.used[N_ENTRIES]
    row, size = scratch.row, labels.shape[1]
    wins = np.empty((size, size), np.int64)
    for r in range(first, last):
        factor = compare_row(X, r, store, similarity, scratch)
        if math.isnan(factor):
            return False
        for a in range(size):
            row[:] = 0
            add_wins(row, labels[r, a], entries, index, n_entries, scratch.fixed)
            for b in range(size):
                wins[a, b] = row[labels[r, b]]
        votes[r], margins[r] = 0.0, 0.0
        for a in range(size):
            for b in range(size):
                margin = wins[a, b] - wins[b, a]
                votes[r, a] += margin > 0 or (margin == 0 and a < b)
                margins[r, a] += 2.0 / factor * margin
    return True


@kernel
def list_duels(X, rows, labels, store, similarity, scratch, out):
    """out[j] = the margins of label labels[j] for row rows[j]; False where a value overflows."""
    factor = 1.0
    for j in range(rows.shape[0]):
        if j == 0 or rows[j] != rows[j - 1]:
            factor = compare_row(X, rows[j], store, similarity, scratch)
        if math.isnan(factor):
            return False
        duels_of(labels[j], store, scratch.fixed, scratch.row)
        for v in range(out.shape[1]):
            out[j, v] = scratch.row[v] * (2.0 / factor)
    return True


@kernel
def count_mistakes(u, v, entries, n_entries, n_words, out):
    """out[i] += how often document i erred on u > v, less how often on v > u."""
    for e in range(n_entries):
        better = entries.label[e]
        if better in (u, v):
            worse = v if better == u else u
            if is_loser(entries.words, entries.start[e], entries.start[e + 1], n_words, worse):
                out[entries.document[e]] += 1 if better == u else -1


@kernel
def next_label(losses, state, hint):
    """Quick voting: take what is decided; the label to look at next, or -1 at the end.

    Problem   wanted are the labels with more won duels than Θ (the last label), by falling votes,
              equal votes by index. The losses among the duels seen so far bound those of a label
              from below: one seen whole that no other's bound undercuts is the best of those left
    Given     losses int32 (K',), 0 at first; state uint8 (K',), OPEN at first; hint float64 (K',):
              which of equally promising labels to look at first, which changes no result
    Changes   state
    Cost      O(K') per row of duels: Θ first, then always the least losses
    See       Park & Fürnkranz 2007 (QWeighted); Loza Mencía, Park & Fürnkranz 2010 (calibrated)
    """
    threshold = losses.shape[0] - 1
    while True:
        # The best of those seen whole; Θ wins a tie, then the smaller index.
        best, found = threshold if state[threshold] == SEEN else -1, -1
        for v in range(threshold):
            if state[v] == SEEN and (best < 0 or losses[v] < losses[best]):
                best = v
        for v in range(threshold):
            if state[v] != OPEN or (best >= 0 and losses[v] > losses[best]):
                continue
            if best >= 0 and losses[v] == losses[best] and (v > best or best == threshold):
                continue
            ahead = found < 0 or losses[v] < losses[found]
            if ahead or (losses[v] == losses[found] and hint[v] > hint[found]):
                found = v
        if found >= 0 or best == threshold:
            return found
        state[best] = TAKEN


@kernel
def take_row(u, margins, losses, state, hint):
    """Enter the duels of u (margins[v] > 0 where u beats v); returns how many were new."""
    n_labels, lost, new = losses.shape[0], 0, 0
    for v in range(n_labels):
        if v == u:
            continue
        wins = margins[v] >= 0 if u < v else margins[v] > 0
        lost += not wins
        if state[v] == OPEN:
            new += 1
            losses[v] += wins
    losses[u] = lost
    state[u] = SEEN
    if u == n_labels - 1:
        for v in range(n_labels):
            hint[v] = -margins[v]
    return new


@kernel
def take_rows(active, labels, margins, losses, state, hint, evaluations):
    """`take_row` and `next_label` for each active instance; labels become the next ones or -1."""
    for j in range(active.shape[0]):
        i = active[j]
        evaluations[i] += take_row(labels[j], margins[j], losses[i], state[i], hint[i])
        labels[j] = next_label(losses[i], state[i], hint[i])


@kernel
def quick_dual(X, first, last, store, similarity, scratch, losses, evaluations):
    """Rows first..last in the dual representation; False where a kernel value overflows."""
    n_labels = losses.shape[1]
    state, hint = np.empty(n_labels, np.uint8), np.empty(n_labels)
    for r in range(first, last):
        factor = compare_row(X, r, store, similarity, scratch)
        if math.isnan(factor):
            return False
        losses[r], state[:], evaluations[r] = 0, OPEN, 0
        u = n_labels - 1
        while u >= 0:
            duels_of(u, store, scratch.fixed, scratch.row)
            evaluations[r] += take_row(u, scratch.row, losses[r], state, hint)
            u = next_label(losses[r], state, hint)
    return True
