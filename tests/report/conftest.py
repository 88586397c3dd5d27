"""A page with every section, full of hostile names, and a browser to open it in."""

import re
import shutil
import subprocess

import numpy as np
import pytest

from labelrank.report import Document, LearningCurve, RankedLabel, Reason, gather, write

_BROWSERS = ("chromium", "chromium-browser", "google-chrome")


@pytest.fixture(scope="session")
def full_page(tmp_path_factory):
    draw = np.random.default_rng(0)
    Y = (draw.random((80, 6)) < [0.6, 0.5, 0.4, 0.3, 0.2, 0.1]).astype(float)
    scores = draw.normal(size=Y.shape) + Y
    names = ["b", "c", "<script>throw 1</script>", "d", "'\"&", "a"]
    reason = Reason("a", 1.0, [("word", 0.5), ("</p><b>", -0.5)])
    ranked = [RankedLabel(names[2], 1.0, True, True), RankedLabel("b", -1.0, False, True)]
    results = gather(
        "<i>Title</i>", {"learner": "BR", "settings": "epochs=5"}, Y, scores, label_names=names,
        probabilities=1 / (1 + np.exp(-scores)), name="one", beside={},
        learning=LearningCurve("Note.", [1, 2], {"micro_f1": [0.1, 0.2]}),
        documents=[Document("<d>", "a word <img src=x onerror=alert(1)>", ranked, [reason])],
    )  # fmt: skip
    return write(results, tmp_path_factory.mktemp("page") / "page.html")


@pytest.fixture
def browse(tmp_path):
    """Open a page, with a script of the test at its end; return the document and the console."""
    program = next(filter(None, map(shutil.which, _BROWSERS)), None)
    if program is None:
        pytest.skip(f"needs a browser to open the page in: one of {', '.join(_BROWSERS)}")

    def dump(page, script="", *options):
        copy = tmp_path / "copy.html"
        html = page.read_text(encoding="utf-8")
        copy.write_text(html.replace("</body>", f"<script>{script}</script></body>"), "utf-8")
        done = subprocess.run(
            [program, "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run",
             "--enable-logging=stderr", f"--user-data-dir={tmp_path / 'profile'}", *options,
             "--dump-dom", copy.as_uri()],
            capture_output=True, timeout=240, check=True,
        )  # fmt: skip
        said = [line for line in done.stderr.decode().splitlines() if "CONSOLE" in line]
        return re.sub(r"<script>.*?</script>", "", done.stdout.decode(), flags=re.S), said

    return dump
