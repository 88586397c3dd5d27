"""Sphinx configuration; `make docs` builds the site into docs/_build/html."""

import sys
from pathlib import Path

import labelrank

sys.path.insert(0, str(Path(__file__).parent))

project = "labelrank"
author = "the labelrank developers"
copyright = "2026, the labelrank developers"
version = release = labelrank.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.doctest",
    "sphinx.ext.mathjax",
    "numpydoc",
]
autosummary_generate = True
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False
autodoc_typehints = "none"
autodoc_default_options = {"members": True, "inherited-members": "BaseEstimator"}
exclude_patterns = ["_build"]
html_theme = "furo"
html_title = "labelrank"
html_static_path = ["_static"]
html_css_files = ["labelrank.css"]
smartquotes_action = "qe"  # two hyphens begin an option


def leave_out_what_scikit_learn_generates(app, what, name, obj, skip, options):
    generated = name.endswith("_request") or name in ("get_metadata_routing", "set_output")
    return True if generated else None


def write_the_reference_of_the_command_line(app):
    import commands

    commands.write()


def setup(app):
    app.connect("builder-inited", write_the_reference_of_the_command_line)
    app.connect("autodoc-skip-member", leave_out_what_scikit_learn_generates)
