"""A hostile hour: what may come from outside, tried at random against the whole library.

Each campaign makes an input from its number alone and says what came of it. `python -m attack`, run
in `tests/`, prints the table; `--full` takes an hour, `--only models:4711` shows one input.
"""
