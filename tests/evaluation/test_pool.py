"""Processes side by side: order, errors, bounded memory, and nobody left behind."""

import os
import signal
import subprocess
import sys
import textwrap
import time
import warnings
from functools import partial

import numpy as np
import psutil
import pytest

from labelrank.errors import FormatError, InputError, LabelrankError, ModelFileError
from labelrank.evaluation import ordered_map


def slow_at_first(state, item):
    time.sleep(0.2 if item == 0 else 0)
    return state, item, os.getpid()


def refuse(state, item):
    if item == 3:
        raise FormatError("line 3 is broken")
    return item


def stumble(state, item):
    return [][item]


def end_at(state, item):
    if item == state:
        os.kill(os.getpid(), signal.SIGKILL)
    return item


def give_a_function(state, item):
    return lambda: item


def warn(state, item):
    warnings.warn("odd numbers are odd", stacklevel=1)
    return item


def broken_model():
    raise ModelFileError("model.labelrank is damaged")


def of_a_model(state, item):
    return item


def five():
    return 5


class TellingError(Exception):
    """Cannot be made again from what it was made of."""

    def __init__(self, one, other):
        super().__init__(f"{one} and {other}")


def tell(state, item):
    raise TellingError("this", "that")


@pytest.mark.parametrize("jobs", [None, 1, 2, 3])
def test_results_come_in_the_order_of_the_items(jobs):
    found = list(ordered_map(slow_at_first, range(9), jobs=jobs, initial=five))
    assert [(state, item) for state, item, _ in found] == [(5, item) for item in range(9)]
    pids = {pid for *_, pid in found}
    assert (pids == {os.getpid()}) == (jobs in (None, 1))
    assert len(pids) <= (jobs or 1)


def test_few_items_are_under_way_at_once():
    taken = []
    items = (taken.append(item) or item for item in range(1000))
    results = ordered_map(slow_at_first, items, jobs=2)
    assert not taken
    for done in range(1, 20):
        next(results)
        assert len(taken) <= done + 3
    results.close()


@pytest.mark.parametrize("jobs", [1, 2])
def test_an_error_is_raised_as_it_was_after_the_results_before_it(jobs):
    results = ordered_map(refuse, range(9), jobs=jobs)
    assert [next(results) for _ in range(3)] == [0, 1, 2]
    with pytest.raises(FormatError, match=r"^line 3 is broken$"):
        next(results)


@pytest.mark.parametrize("jobs", [1, 2])
def test_items_that_cannot_be_read_end_the_results_but_do_not_swallow_any(jobs):
    def items():
        yield from range(5)
        raise FormatError("line 6 is broken")

    found = []
    with pytest.raises(FormatError, match="line 6"):
        found.extend(ordered_map(slow_at_first, items(), jobs=jobs))
    assert [item for _, item, _ in found] == [0, 1, 2, 3, 4]


def test_a_defect_tells_where_it_was_met():
    with pytest.raises(IndexError) as caught:
        list(ordered_map(stumble, [0], jobs=2))
    assert "in stumble" in "".join(caught.value.__notes__)


@pytest.mark.parametrize(
    ("function", "word"), [(tell, "this and that"), (give_a_function, "give_a_function")]
)
def test_what_cannot_be_sent_is_told(function, word):
    with pytest.raises(Exception, match=word):
        list(ordered_map(function, [0], jobs=2))


def test_a_model_that_cannot_be_loaded_is_one_sentence():
    with pytest.raises(ModelFileError, match=r"^model\.labelrank is damaged$"):
        list(ordered_map(of_a_model, range(4), jobs=2, initial=broken_model))


def test_a_killed_process_is_one_sentence_and_ends_the_others():
    with pytest.raises(LabelrankError, match=r"ended from outside.*; use fewer jobs"):
        list(ordered_map(end_at, range(20), jobs=2, initial=five))
    assert_alone()


def assert_alone():
    """No process works for this one any more; the one that starts others may stay."""
    starters = psutil.Process().children()
    left = [worker for starter in starters for worker in starter.children()]
    _, left = psutil.wait_procs(left, timeout=20)
    assert not left


def test_closing_the_results_ends_the_processes():
    results = ordered_map(slow_at_first, iter(int, 1), jobs=2)
    next(results)
    results.close()
    assert_alone()


def test_warnings_of_other_processes_are_heard_once():
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("default")
        assert list(ordered_map(warn, range(6), jobs=2)) == [0, 1, 2, 3, 4, 5]
    assert [str(one.message) for one in heard] == ["odd numbers are odd"]


def test_large_arrays_go_both_ways():
    items = [np.arange(1e6) + k for k in range(3)]
    for item, found in zip(items, ordered_map(of_a_model, items, jobs=2), strict=True):
        np.testing.assert_array_equal(found, item)


@pytest.mark.parametrize("jobs", [0, -2])
def test_a_strange_number_of_jobs_is_refused(jobs):
    with pytest.raises(InputError, match=f"jobs={jobs}; give at least 1"):
        list(ordered_map(of_a_model, [], jobs=jobs))


def sleeping(seconds, item):
    time.sleep(seconds)
    return item


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_a_run_that_is_interrupted_or_killed_leaves_nobody_behind(tmp_path, how):
    script = tmp_path / "run.py"
    script.write_text(
        textwrap.dedent("""
        import time
        from labelrank.evaluation import ordered_map

        def forever(state, item):
            print("working", flush=True)
            time.sleep(600)

        if __name__ == "__main__":
            try:
                list(ordered_map(forever, range(8), jobs=2))
            except KeyboardInterrupt:
                print("interrupted", flush=True)
    """)
    )
    with subprocess.Popen(
        [sys.executable, script], stdout=subprocess.PIPE, text=True, start_new_session=True
    ) as run:
        assert [run.stdout.readline(), run.stdout.readline()] == ["working\n"] * 2
        started = psutil.Process(run.pid).children(recursive=True)
        assert len(started) >= 2
        if how == signal.SIGINT:
            os.killpg(run.pid, how)  # as a terminal does
        else:
            os.kill(run.pid, how)
        assert run.stdout.read() == ("interrupted\n" if how == signal.SIGINT else "")
    gone, left = psutil.wait_procs(started, timeout=20)
    assert not left


def test_partial_functions_carry_options():
    assert list(ordered_map(partial(sleeping), [1, 2], jobs=2, initial=int)) == [1, 2]
