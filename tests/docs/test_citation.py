"""CITATION.cff keeps the rules of its format (version 1.2.0) and agrees with the package."""

from pathlib import Path

import yaml

import labelrank

ROOT = Path(__file__).parents[2]
CITATION = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
KNOWN = {
    "abstract", "authors", "cff-version", "commit", "contact", "date-released", "doi",
    "identifiers", "keywords", "license", "license-url", "message", "preferred-citation",
    "references", "repository", "repository-artifact", "repository-code", "title", "type",
    "url", "version",
}  # fmt: skip


def test_the_citation_has_the_keys_that_the_format_asks_for():
    assert {"authors", "cff-version", "message", "title"} <= set(CITATION) <= KNOWN
    assert CITATION["cff-version"] == "1.2.0"
    assert CITATION["type"] in ("software", "dataset")


def test_authors_and_papers_are_named_as_the_format_asks():
    assert all({"name"} == set(author) for author in CITATION["authors"])
    for paper in CITATION["references"]:
        assert {"type", "title", "authors"} <= set(paper)
        assert isinstance(paper["year"], int)
        for author in paper["authors"]:
            assert set(author) == {"family-names", "given-names"}


def test_the_citation_agrees_with_the_package():
    assert CITATION["version"] == labelrank.__version__
    assert CITATION["license"] in (ROOT / "pyproject.toml").read_text(encoding="utf-8")


def test_the_readme_says_how_to_cite():
    assert "CITATION.cff" in (ROOT / "README.md").read_text(encoding="utf-8")
