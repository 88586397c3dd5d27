"""Duels of all pairs of labels, and the votes they make.

Problem   s_uv = x.w_uv (less x.U_uv / T_uv if averaged); u wins if s_uv >= 0, else v;
          count the wins of each label and sum its margins
Given     X, tiles, weights as in `kernels.pairwise`
Changes   votes, sums  float32 (groups, n, 4), flat, for rows begin ... begin + n - 1
          out          margins, float32
Returns   nothing
Cost      one vector operation for a non-zero and a tile; four tiles share one pass over X, and a
          tile stays in cache while all rows go by
Order     rows are independent; each adds its tiles in their order: same bits for any split
See       Loza Mencía & Fürnkranz 2008 (full voting)
"""

import numpy as np

from labelrank.kernels._compile import kernel
from labelrank.kernels.pairwise import SIDE, WIDTH, row_scores
from labelrank.kernels.simd16 import (
    add_columns,
    add_rows,
    at_most,
    load,
    multiply,
    multiply_add,
    store,
    subtract,
    zeros,
)


@kernel
def tile_scores(xidx, xval, start, stop, W, U, n_features, shrink, tile):
    """The sixteen margins of one row and one tile; `shrink` is 1 / T of each pair."""
    base = np.int64(tile) * n_features * WIDTH
    s = row_scores(xidx, xval, start, stop, W, base)
    if U.shape[0]:
        late = row_scores(xidx, xval, start, stop, U, base)
        s = subtract(s, multiply(load(shrink, tile * WIDTH), late))
    return s


@kernel
def _cast(s, row, column, allowed, tile, n, i, votes, sums):
    lawful = load(allowed, tile * WIDTH)
    wins = multiply(lawful, at_most(zeros(), s))
    margins = multiply(lawful, s)
    as_row = SIDE * (row[tile] * n + i)
    as_column = SIDE * (column[tile] * n + i)
    add_rows(wins, votes, as_row)
    add_columns(subtract(lawful, wins), votes, as_column)
    add_rows(margins, sums, as_row)
    add_columns(subtract(zeros(), margins), sums, as_column)


@kernel
def vote(xptr, xidx, xval, begin, end, tiles, weights, votes, sums):
    """Votes by plain weights. `tiles` ends in three that allow nothing, so four always go."""
    # Bound once: reading an array out of a tuple counts its references, which threads share.
    row, column, allowed = tiles.row, tiles.column, tiles.allowed
    W, size = weights.W, np.int64(weights.n_features) * WIDTH
    n, n_tiles = end - begin, W.shape[0] // size
    for tile in range(0, n_tiles, 4):
        b0 = tile * size
        b1 = min(tile + 1, n_tiles - 1) * size
        b2 = min(tile + 2, n_tiles - 1) * size
        b3 = min(tile + 3, n_tiles - 1) * size
        for i in range(n):
            s0, s1, s2, s3 = zeros(), zeros(), zeros(), zeros()
            for p in range(xptr[begin + i], xptr[begin + i + 1]):
                at, x = WIDTH * np.int64(xidx[p]), xval[p]
                s0 = multiply_add(x, load(W, b0 + at), s0)
                s1 = multiply_add(x, load(W, b1 + at), s1)
                s2 = multiply_add(x, load(W, b2 + at), s2)
                s3 = multiply_add(x, load(W, b3 + at), s3)
            _cast(s0, row, column, allowed, tile, n, i, votes, sums)
            _cast(s1, row, column, allowed, tile + 1, n, i, votes, sums)
            _cast(s2, row, column, allowed, tile + 2, n, i, votes, sums)
            _cast(s3, row, column, allowed, tile + 3, n, i, votes, sums)


@kernel
def vote_averaged(xptr, xidx, xval, begin, end, tiles, weights, shrink, votes, sums):
    """Votes by averaged weights."""
    row, column, allowed = tiles.row, tiles.column, tiles.allowed
    W, U, n_features = weights.W, weights.U, weights.n_features
    n = end - begin
    for tile in range(W.shape[0] // (n_features * WIDTH)):
        for i in range(n):
            start, stop = xptr[begin + i], xptr[begin + i + 1]
            s = tile_scores(xidx, xval, start, stop, W, U, n_features, shrink, tile)
            _cast(s, row, column, allowed, tile, n, i, votes, sums)


@kernel
def threshold_margins(xptr, xidx, xval, rows, begin, end, weights, shrink, n_blocks, out):
    """out[j, 16 b + lane]: that label over the threshold label in instance `rows[j]`."""
    W, U, n_features = weights.W, weights.U, weights.n_features
    for block in range(n_blocks):
        for j in range(begin, end):
            start, stop = xptr[rows[j]], xptr[rows[j] + 1]
            s = tile_scores(xidx, xval, start, stop, W, U, n_features, shrink, block)
            store(out, np.int64(j) * n_blocks * WIDTH + block * WIDTH, s)


@kernel
def all_margins(xptr, xidx, xval, tiles, n_tiles, weights, shrink, out):
    """out[row, u, v] and out[row, v, u] of all pairs of labels."""
    row, column, allowed = tiles.row, tiles.column, tiles.allowed
    W, U, n_features = weights.W, weights.U, weights.n_features
    lanes = np.empty(WIDTH, np.float32)
    for i in range(xptr.shape[0] - 1):
        for tile in range(n_tiles):
            start, stop = xptr[i], xptr[i + 1]
            s = tile_scores(xidx, xval, start, stop, W, U, n_features, shrink, tile)
            store(lanes, 0, s)
            for lane in range(WIDTH):
                if allowed[tile * WIDTH + lane]:
                    u = row[tile] * SIDE + lane // SIDE
                    v = column[tile] * SIDE + lane % SIDE
                    out[i, u, v] = lanes[lane]
                    out[i, v, u] = -lanes[lane]


@kernel
def label_margins(xptr, xidx, xval, instances, labels, n_groups, tiles, weights, shrink, out):
    """out[j, v]: label `labels[j]` over v in instance `instances[j]`."""
    allowed = tiles.allowed
    W, U, n_features = weights.W, weights.U, weights.n_features
    lanes = np.empty(WIDTH, np.float32)
    for j in range(instances.shape[0]):
        start, stop = xptr[instances[j]], xptr[instances[j] + 1]
        group, place = labels[j] // SIDE, labels[j] % SIDE
        for other in range(n_groups):
            low, high = min(group, other), max(group, other)
            tile = high * (high + 1) // 2 + low
            s = tile_scores(xidx, xval, start, stop, W, U, n_features, shrink, tile)
            store(lanes, 0, s)
            for lane in range(WIDTH):
                if allowed[tile * WIDTH + lane]:
                    if other >= group and lane // SIDE == place:
                        out[j, SIDE * other + lane % SIDE] = lanes[lane]
                    if other <= group and lane % SIDE == place:
                        out[j, SIDE * other + lane // SIDE] = -lanes[lane]
