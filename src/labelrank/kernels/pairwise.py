"""Learning one perceptron per pair of labels, sixteen pairs at once.

Problem   for each instance in the given order and each pair u < v of which it prefers one:
              s = x.w_uv;  if the rule finds s wrong: w_uv += step x
          and, if averaged, U_uv += t step x, t the examples the pair had seen before, so that
          W - U / T is the mean of the weights after each of its T examples
Given     X        rows: int64 pointers, int32 columns, float32 values
          tiles    groups of four labels; tile (g, h), g <= h, has number h (h + 1) / 2 + g and
                   holds the pairs of label a of g over label b of h in lane 4a + b
          mentions for each group the positions of `order` that mention (as relevant or unknown)
                   one of its labels, ascending, and the levels of its labels there: 0 irrelevant,
                   larger is better, NaN takes no part
Changes   W        float32 (tiles, d, 16), flat: one cache line for a feature of a tile, whichever
                   of its eight labels is relevant; U likewise, or empty
          seen     int64 (tiles, 16), flat: examples shown to each pair, if averaged
Returns   pairs shown, and those that moved
Cost      one vector operation a non-zero for a tile of which a label is relevant, two if wrong;
          tiles without a relevant label are not visited
Order     instances as given; tiles share nothing: any split over threads gives the same bits
See       Loza Mencía & Fürnkranz 2008, Fig. 3 (MLPP); Crammer et al. 2006 (PA-I)
"""

from typing import NamedTuple

import numpy as np

from labelrank.kernels._compile import inner_kernel, kernel
from labelrank.kernels.random import normal
from labelrank.kernels.simd16 import (
    above,
    add,
    at_most,
    count,
    fill,
    load,
    load_as_columns,
    load_as_rows,
    multiply,
    multiply_add,
    prefetch,
    smaller,
    store,
    subtract,
    zeros,
)

PERCEPTRON, PASSIVE_AGGRESSIVE = range(2)
WIDTH, SIDE = 16, 4
_AHEAD = 3


class Mentions(NamedTuple):
    """Who mentions a group of labels, in the order of presentation."""

    order: np.ndarray
    start: np.ndarray
    position: np.ndarray
    level: np.ndarray
    blank: np.ndarray


class Tiles(NamedTuple):
    """The groups of each tile, and 1.0 in the lanes that hold a pair u < v < K."""

    row: np.ndarray
    column: np.ndarray
    allowed: np.ndarray


class Weights(NamedTuple):
    """Weights, running sums for averages, examples seen."""

    W: np.ndarray
    U: np.ndarray
    seen: np.ndarray
    n_features: int


class Update(NamedTuple):
    """A preference u > v is wrong at s <= low, v > u at s >= high; C limits the step of PA-I."""

    step: int
    low: np.float32
    high: np.float32
    C: np.float32


@kernel
def count_mentions(yptr, yidx, order, width, counts):
    for i in order:
        last = -1
        for q in range(yptr[i], yptr[i + 1]):
            group = yidx[q] // width
            counts[group] += group != last
            last = group


@kernel
def list_mentions(yptr, yidx, yval, ordered, width, free, mentions):
    """Fill positions and levels; `free[g]` is the next free entry of group g."""
    for t in range(mentions.order.shape[0]):
        start, stop = yptr[mentions.order[t]], yptr[mentions.order[t] + 1]
        last, entry = -1, -1
        for q in range(start, stop):
            group = yidx[q] // width
            if group != last:
                last, entry = group, free[group]
                free[group] += 1
                mentions.position[entry] = t
                for lane in range(width):
                    mentions.level[entry * width + lane] = mentions.blank[group * width + lane]
            level = _level(yval, start, stop, q, ordered)
            mentions.level[entry * width + yidx[q] % width] = level


@inner_kernel
def _level(yval, start, stop, q, ordered):
    """1, or one more than the labels of lower grade, which orders like the grades."""
    level = np.float32(1.0)
    if np.isnan(yval[q]):
        return np.float32(np.nan)
    if ordered:
        for other in range(start, stop):
            if yval[other] < yval[q]:
                level += np.float32(1.0)
    return level


@inner_kernel
def row_scores(xidx, xval, start, stop, W, base):
    """The sixteen inner products of a row with the tile that begins at `base`."""
    total = zeros()
    for p in range(np.uint64(start), np.uint64(stop)):  # unsigned: no index counts from the end
        total = multiply_add(xval[p], load(W, base + WIDTH * np.int64(xidx[p])), total)
    return total


@inner_kernel
def _row_add(xidx, xval, start, stop, steps, W, base):
    for p in range(np.uint64(start), np.uint64(stop)):
        at = base + WIDTH * np.int64(xidx[p])
        store(W, at, multiply_add(xval[p], steps, load(W, at)))


@inner_kernel
def _perceptron_steps(s, over, under, update):
    up = multiply(over, at_most(s, fill(update.low)))
    down = multiply(under, at_most(fill(update.high), s))
    return multiply(fill(np.float32(2.0)), subtract(up, down))


@inner_kernel
def _aggressive_steps(s, over, under, update, xval, start, stop):
    gain = np.float32(0.0)
    for p in range(start, stop):
        gain += xval[p] * xval[p]
    if gain == 0.0:
        return zeros()
    y = subtract(over, under)
    loss = subtract(add(over, under), multiply(y, s))
    step = smaller(fill(update.C), multiply(loss, fill(np.float32(1.0) / gain)))
    return multiply(multiply(y, step), above(loss, zeros()))


@inner_kernel
def _correct(xidx, xval, start, stop, over, under, update, W, base, U, seen, at, scratch):
    """Show one row to a tile: `over` are the pairs in which it prefers u, `under` v."""
    s = row_scores(xidx, xval, start, stop, W, base)
    if update.step == PERCEPTRON:
        steps = _perceptron_steps(s, over, under, update)
    else:
        steps = _aggressive_steps(s, over, under, update, xval, start, stop)
    wrong = count(steps)
    if wrong:
        _row_add(xidx, xval, start, stop, steps, W, base)
    if U.shape[0]:
        store(scratch, 0, steps)
        store(scratch, WIDTH, add(over, under))
        _average(xidx, xval, start, stop, wrong, U, base, seen, at, scratch)
    return wrong


@inner_kernel
def _average(xidx, xval, start, stop, wrong, U, base, seen, at, scratch):
    """`scratch` holds the steps of the sixteen pairs, then which of them were shown."""
    for lane in range(WIDTH):
        scratch[lane] *= seen[at + lane]
        seen[at + lane] += scratch[WIDTH + lane] != 0.0
    if wrong:
        _row_add(xidx, xval, start, stop, load(scratch, 0), U, base)


@kernel
def _merge(order, start, position, g, h, visits):
    """The rows that mention group g or h: (row, entry of g or -1, entry of h or -1)."""
    i, j, m = start[g], start[h], 0
    last_i, last_j = start[g + 1], start[h + 1]
    end = order.shape[0]
    while i < last_i or j < last_j:
        at_i = position[i] if i < last_i else end
        at_j = position[j] if j < last_j else end
        here = min(at_i, at_j)
        visits[m, 0] = order[here]
        visits[m, 1] = i if at_i == here else -1
        visits[m, 2] = j if at_j == here else -1
        i += at_i == here
        j += at_j == here
        m += 1
    return m


@kernel
def learn_pairs(xptr, xidx, xval, mentions, tiles, first, last, update, weights):
    """All visits of tiles first ... last - 1, one tile after the other."""
    # Bound once: reading an array out of a tuple counts its references, which threads share.
    order, level, blank = mentions.order, mentions.level, mentions.blank
    W, U, seen = weights.W, weights.U, weights.seen
    shown, moved = 0, 0
    visits = np.empty((order.shape[0], 3), np.int64)
    scratch = np.empty(2 * WIDTH, np.float32)
    for tile in range(first, last):
        g, h = tiles.row[tile], tiles.column[tile]
        base = np.int64(tile) * weights.n_features * WIDTH
        allowed = load(tiles.allowed, tile * WIDTH)
        n_visits = _merge(order, mentions.start, mentions.position, g, h, visits)
        for v in range(n_visits):
            if v + _AHEAD < n_visits:
                soon = visits[v + _AHEAD, 0]
                for p in range(xptr[soon], xptr[soon + 1], WIDTH):
                    prefetch(xidx, p)
                    prefetch(xval, p)
            row, i, j = visits[v, 0], visits[v, 1], visits[v, 2]
            rows = load_as_rows(level, SIDE * i) if i >= 0 else load_as_rows(blank, SIDE * g)
            columns = (
                load_as_columns(level, SIDE * j) if j >= 0 else load_as_columns(blank, SIDE * h)
            )
            over = multiply(allowed, above(rows, columns))
            under = multiply(allowed, above(columns, rows))
            stated = count(over) + count(under)
            if stated:
                shown += stated
                moved += _correct(
                    xidx, xval, xptr[row], xptr[row + 1], over, under, update, W, base, U, seen,
                    tile * WIDTH, scratch,
                )  # fmt: skip
    return shown, moved


@kernel
def learn_thresholds(xptr, xidx, xval, mentions, block, update, weights):
    """The pairs of a block of sixteen labels with the threshold label, which every row trains."""
    order, position, level = mentions.order, mentions.position, mentions.level
    W, U, seen = weights.W, weights.U, weights.seen
    shown, moved = 0, 0
    entry, last = mentions.start[block], mentions.start[block + 1]
    scratch = np.empty(2 * WIDTH, np.float32)
    threshold = fill(np.float32(0.5))
    blank = load(mentions.blank, WIDTH * block)
    base = np.int64(block) * weights.n_features * WIDTH
    for t in range(order.shape[0]):
        levels = blank
        if entry < last and position[entry] == t:
            levels = load(level, WIDTH * entry)
            entry += 1
        over, under = above(levels, threshold), above(threshold, levels)
        row = order[t]
        shown += count(over) + count(under)
        moved += _correct(
            xidx, xval, xptr[row], xptr[row + 1], over, under, update, W, base, U, seen,
            block * WIDTH, scratch,
        )  # fmt: skip
    return shown, moved


@kernel
def fill_pairs(tiles, first_tile, last_tile, first_label, scale, seed, weights):
    """Small normal weights, by (feature, u, v) alone, for the pairs of labels >= first_label."""
    for tile in range(first_tile, last_tile):
        base = np.int64(tile) * weights.n_features * WIDTH
        for lane in range(WIDTH):
            u = tiles.row[tile] * SIDE + lane // SIDE
            v = tiles.column[tile] * SIDE + lane % SIDE
            if tiles.allowed[tile * WIDTH + lane] and v >= first_label:
                for j in range(weights.n_features):
                    at = base + WIDTH * j + lane
                    weights.W[at] = scale * normal(seed, j, v * (v - 1) // 2 + u)
