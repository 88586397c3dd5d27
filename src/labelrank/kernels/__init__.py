"""Compiled loops: arrays and scalars in, arrays and scalars out. See `_compile` for how.

What a kernel is given in an order it visits in that order, and no sum depends on the threads: the
same input gives the same bits. X and Y are rows as in `labelrank.rows`: pointers int64, columns
int32, values (of X float32, of Y float64, where nothing else is said), number of columns; in Y a
value > 0 is relevant, NaN unknown.
"""
