"""One perceptron per pair of labels, sixteen pairs at once: learning, margins, votes.

Problem   for each instance in the given order and each pair u < v of which it prefers one:
              s = x.w_uv;  if the rule finds s wrong: w_uv += step x
          and, if averaged, U_uv += t step x, t the examples the pair had seen before, so that
          W - U / T is the mean of the weights after each of its T examples.
          In a prediction u wins if s_uv >= 0, else v; count wins and sum margins of each label
Given     tiles    groups of four labels; tile (g, h), g <= h, has number h (h + 1) / 2 + g and
                   holds the pairs of label a of g over label b of h in lane 4a + b
          mentions for each group the positions of `order` that mention (as relevant or unknown)
                   one of its labels, ascending, and the levels of its labels there: 0 irrelevant,
                   larger is better, NaN takes no part;  shrink: 1 / T of each pair
Changes   W        float32 (tiles, d, 16), flat: one cache line for a feature of a tile, whichever
                   of its eight labels is relevant; U likewise, or empty
          seen     int64 (tiles, 16), flat: examples shown to each pair, if averaged
          votes    float32 (groups, n, 4), flat, for rows begin ... begin + n - 1; sums likewise
Returns   learning: pairs shown, and those that moved
Cost      one vector operation a non-zero for a tile of which a label is relevant, two if wrong;
          tiles without a relevant label are not visited. Votes: one a non-zero for every tile
Order     instances as given; tiles and predicted rows share nothing: any split gives the same bits
See       Loza Mencía & Fürnkranz 2008, Fig. 3 (MLPP); Crammer et al. 2006 (PA-I)
"""

from typing import NamedTuple

import numpy as np

from labelrank.kernels import simd16 as v16
from labelrank.kernels._compile import inner_kernel, kernel
from labelrank.kernels.random import RANDOM_SCALE, normal

PERCEPTRON, PASSIVE_AGGRESSIVE = range(2)
WIDTH, SIDE = 16, 4
_AHEAD = 3


class Mentions(NamedTuple):
    """Who mentions a group of labels, in the order of presentation; see the contract above."""

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
    """Weights; for averages running sums, examples seen, and 1 over these, by pair."""

    W: np.ndarray
    U: np.ndarray
    seen: np.ndarray
    shrink: np.ndarray
    n_features: int


class Update(NamedTuple):
    """A preference u > v is wrong at s <= low, v > u at s >= high; C limits the step of PA-I."""

    step: int
    low: np.float32
    high: np.float32
    C: np.float32


@kernel
def count_mentions(yptr, yidx, order, width, counts):
    """counts[g] += the rows of `order` that mention a label of group g, of `width` labels."""
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
            # 1, or one more than the labels of lower grade, which orders like the grades.
            level = np.float32(np.nan if np.isnan(yval[q]) else 1.0)
            if ordered:
                for other in range(start, stop):
                    level += yval[other] < yval[q]
            mentions.level[entry * width + yidx[q] % width] = level


@inner_kernel
def row_scores(xidx, xval, start, stop, W, base):
    """The sixteen inner products of a row with the tile that begins at `base`."""
    total = v16.zeros()
    for p in range(np.uint64(start), np.uint64(stop)):  # unsigned: no index counts from the end
        total = v16.multiply_add(xval[p], v16.load(W, base + WIDTH * np.int64(xidx[p])), total)
    return total


@inner_kernel
def _row_add(xidx, xval, start, stop, steps, W, base):
    for p in range(np.uint64(start), np.uint64(stop)):
        at = base + WIDTH * np.int64(xidx[p])
        v16.store(W, at, v16.multiply_add(xval[p], steps, v16.load(W, at)))


@inner_kernel
def _aggressive_steps(s, over, under, update, xval, start, stop):
    gain = np.float32(0.0)
    for p in range(start, stop):
        gain += xval[p] * xval[p]
    if gain == 0.0:
        return v16.zeros()
    y = v16.subtract(over, under)
    loss = v16.subtract(v16.add(over, under), v16.multiply(y, s))
    step = v16.smaller(v16.fill(update.C), v16.multiply(loss, v16.fill(np.float32(1.0) / gain)))
    return v16.multiply(v16.multiply(y, step), v16.above(loss, v16.zeros()))


@inner_kernel
def _correct(xidx, xval, start, stop, over, under, update, W, base, U, seen, at, scratch):
    """Show one row to a tile: `over` are the pairs in which it prefers u, `under` v."""
    s = row_scores(xidx, xval, start, stop, W, base)
    if update.step == PERCEPTRON:
        up = v16.multiply(over, v16.at_most(s, v16.fill(update.low)))
        down = v16.multiply(under, v16.at_most(v16.fill(update.high), s))
        steps = v16.multiply(v16.fill(np.float32(2.0)), v16.subtract(up, down))
    else:
        steps = _aggressive_steps(s, over, under, update, xval, start, stop)
    wrong = v16.count(steps)
    if wrong:
        _row_add(xidx, xval, start, stop, steps, W, base)
    if U.shape[0]:
        v16.store(scratch, 0, steps)
        v16.store(scratch, WIDTH, v16.add(over, under))  # which of the pairs are shown
        for lane in range(WIDTH):
            scratch[lane] *= seen[at + lane]
            seen[at + lane] += scratch[WIDTH + lane] != 0.0
        if wrong:
            _row_add(xidx, xval, start, stop, v16.load(scratch, 0), U, base)
    return wrong


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
        allowed = v16.load(tiles.allowed, tile * WIDTH)
        n_visits = _merge(order, mentions.start, mentions.position, g, h, visits)
        for v in range(n_visits):
            if v + _AHEAD < n_visits:
                soon = visits[v + _AHEAD, 0]
                for p in range(xptr[soon], xptr[soon + 1], WIDTH):
                    v16.prefetch(xidx, p, allowed)
                    v16.prefetch(xval, p, allowed)
            row, i, j = visits[v, 0], visits[v, 1], visits[v, 2]
            rows = (
                v16.load_as_rows(level, SIDE * i) if i >= 0 else v16.load_as_rows(blank, SIDE * g)
            )
            columns = (
                v16.load_as_columns(level, SIDE * j)
                if j >= 0
                else v16.load_as_columns(blank, SIDE * h)
            )
            over = v16.multiply(allowed, v16.above(rows, columns))
            under = v16.multiply(allowed, v16.above(columns, rows))
            stated = v16.count(over) + v16.count(under)
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
    threshold = v16.fill(np.float32(0.5))
    blank = v16.load(mentions.blank, WIDTH * block)
    at, base = block * WIDTH, np.int64(block) * weights.n_features * WIDTH
    for t in range(order.shape[0]):
        levels = blank
        if entry < last and position[entry] == t:
            levels = v16.load(level, WIDTH * entry)
            entry += 1
        over, under = v16.above(levels, threshold), v16.above(threshold, levels)
        start, stop = xptr[order[t]], xptr[order[t] + 1]
        shown += v16.count(over) + v16.count(under)
        moved += _correct(
            xidx, xval, start, stop, over, under, update, W, base, U, seen, at, scratch
        )
    return shown, moved


@kernel
def fill_random(keys, seed, W, n_features):
    """Small normal weights, by (feature, key) alone, in every lane whose key is not negative."""
    for lane in range(keys.shape[0]):
        base = np.int64(lane // WIDTH) * n_features * WIDTH + lane % WIDTH
        if keys[lane] >= 0:
            for j in range(n_features):
                W[base + WIDTH * j] = RANDOM_SCALE * normal(seed, j, keys[lane])


@kernel
def tile_scores(xidx, xval, start, stop, W, U, n_features, shrink, tile):
    """The sixteen margins of one row and one tile; `shrink` is 1 / T of each pair."""
    base = np.int64(tile) * n_features * WIDTH
    s = row_scores(xidx, xval, start, stop, W, base)
    if U.shape[0]:
        late = row_scores(xidx, xval, start, stop, U, base)
        s = v16.subtract(s, v16.multiply(v16.load(shrink, tile * WIDTH), late))
    return s


@kernel
def _cast_votes(s, row, column, allowed, tile, n, i, votes, sums):
    """Votes and margins of the sixteen duels of a tile, for all of its eight labels."""
    lawful = v16.load(allowed, tile * WIDTH)
    wins = v16.multiply(lawful, v16.at_most(v16.zeros(), s))
    margins = v16.multiply(lawful, s)
    as_row = SIDE * (row[tile] * n + i)
    as_column = SIDE * (column[tile] * n + i)
    v16.add_rows(wins, votes, as_row)
    v16.add_columns(v16.subtract(lawful, wins), votes, as_column)
    v16.add_rows(margins, sums, as_row)
    v16.add_columns(v16.subtract(v16.zeros(), margins), sums, as_column)


@kernel
def vote(xptr, xidx, xval, begin, end, tiles, weights, votes, sums):
    """Votes by averages, or by plain weights, of which four tiles share a pass over X."""
    row, column, allowed = tiles.row, tiles.column, tiles.allowed
    W, size = weights.W, np.int64(weights.n_features) * WIDTH
    n, n_tiles = end - begin, W.shape[0] // size
    if weights.U.shape[0]:
        U = weights.U
        for tile in range(n_tiles):
            for i in range(n):
                start, stop = xptr[begin + i], xptr[begin + i + 1]
                s = tile_scores(
                    xidx, xval, start, stop, W, U, weights.n_features, weights.shrink, tile
                )
                _cast_votes(s, row, column, allowed, tile, n, i, votes, sums)
        return
    for tile in range(0, n_tiles, 4):
        b0 = tile * size
        b1 = min(tile + 1, n_tiles - 1) * size
        b2 = min(tile + 2, n_tiles - 1) * size
        b3 = min(tile + 3, n_tiles - 1) * size
        for i in range(n):
            s0, s1, s2, s3 = v16.zeros(), v16.zeros(), v16.zeros(), v16.zeros()
            for p in range(xptr[begin + i], xptr[begin + i + 1]):
                at, x = WIDTH * np.int64(xidx[p]), xval[p]
                s0 = v16.multiply_add(x, v16.load(W, b0 + at), s0)
                s1 = v16.multiply_add(x, v16.load(W, b1 + at), s1)
                s2 = v16.multiply_add(x, v16.load(W, b2 + at), s2)
                s3 = v16.multiply_add(x, v16.load(W, b3 + at), s3)
            _cast_votes(s0, row, column, allowed, tile, n, i, votes, sums)
            _cast_votes(s1, row, column, allowed, tile + 1, n, i, votes, sums)
            _cast_votes(s2, row, column, allowed, tile + 2, n, i, votes, sums)
            _cast_votes(s3, row, column, allowed, tile + 3, n, i, votes, sums)


@kernel
def threshold_margins(xptr, xidx, xval, rows, begin, end, weights, n_blocks, out):
    """out[j, 16 b + lane]: that label over the threshold label in instance `rows[j]`."""
    W, U, _, shrink, n_features = weights
    for block in range(n_blocks):
        for j in range(begin, end):
            start, stop = xptr[rows[j]], xptr[rows[j] + 1]
            s = tile_scores(xidx, xval, start, stop, W, U, n_features, shrink, block)
            v16.store(out, np.int64(j) * n_blocks * WIDTH + block * WIDTH, s)


@kernel
def all_margins(xptr, xidx, xval, tiles, n_tiles, weights, out):
    """out[row, u, v] and out[row, v, u] of all pairs of labels."""
    row, column, allowed = tiles.row, tiles.column, tiles.allowed
    W, U, _, shrink, n_features = weights
    lanes = np.empty(WIDTH, np.float32)
    for i in range(xptr.shape[0] - 1):
        for tile in range(n_tiles):
            start, stop = xptr[i], xptr[i + 1]
            s = tile_scores(xidx, xval, start, stop, W, U, n_features, shrink, tile)
            v16.store(lanes, 0, s)
            for lane in range(WIDTH):
                if allowed[tile * WIDTH + lane]:
                    u = row[tile] * SIDE + lane // SIDE
                    v = column[tile] * SIDE + lane % SIDE
                    out[i, u, v] = lanes[lane]
                    out[i, v, u] = -lanes[lane]


@kernel
def label_margins(xptr, xidx, xval, instances, labels, n_groups, tiles, weights, out):
    """out[j, v]: label `labels[j]` over v in instance `instances[j]`."""
    W, U, _, shrink, n_features = weights
    allowed = tiles.allowed
    lanes = np.empty(WIDTH, np.float32)
    for j in range(instances.shape[0]):
        start, stop = xptr[instances[j]], xptr[instances[j] + 1]
        group, place = labels[j] // SIDE, labels[j] % SIDE
        for other in range(n_groups):
            low, high = min(group, other), max(group, other)
            tile = high * (high + 1) // 2 + low
            s = tile_scores(xidx, xval, start, stop, W, U, n_features, shrink, tile)
            v16.store(lanes, 0, s)
            for lane in range(WIDTH):
                if allowed[tile * WIDTH + lane]:
                    if other >= group and lane // SIDE == place:
                        out[j, SIDE * other + lane % SIDE] = lanes[lane]
                    if other <= group and lane % SIDE == place:
                        out[j, SIDE * other + lane // SIDE] = -lanes[lane]
