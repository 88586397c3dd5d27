"""Where the tests find real data, and how they say that it is missing."""

import os
import signal
from pathlib import Path

import pytest

_BESIDE = Path(__file__).resolve().parents[2] / "shared" / "data"


def pytest_configure(config):
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as in the background of a shell
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if "LABELRANK_DATA" not in os.environ and _BESIDE.is_dir():
        os.environ["LABELRANK_DATA"] = str(_BESIDE)


def pytest_runtest_setup(item):
    if item.get_closest_marker("data") is None:
        return
    folder = os.environ.get("LABELRANK_DATA")
    if folder and Path(folder).is_dir():
        return
    reason = "needs the data folder: set LABELRANK_DATA"
    if os.environ.get("CI"):
        pytest.fail(reason)
    pytest.skip(reason)
