"""Cut the bundled sample out of debtags.jsonl.xz: same input, same bytes.

    python tools/make_sample.py DATA/debtags.jsonl.xz src/labelrank/datasets/bundled

Which tags are useful: those a reader could guess from the description. The facets that say how
a package is built and packed (role, scope, implemented-in, x11) are left out: role:: alone makes
a quarter of all tags and hides the rest; so is interface::x11 (it repeats interface::graphical)
and what the taggers left open (::TODO). Of packages with at least three of the remaining tags,
the tags of at least 100 packages are kept. The sample is the 5,000 such packages, still with two
tags or more, whose name has the smallest SHA-256; the next byte of the hash puts a quarter of
them in the test part, so that neither choice looks at text or tags.
"""

import hashlib
import json
import lzma
import sys
from collections import Counter
from pathlib import Path

LEFT_OUT = {"role", "scope", "implemented-in", "x11"}
FEWEST_TAGS, FEWEST_PACKAGES, SIZE = 3, 100, 5000


def is_useful(tag: str) -> bool:
    facet, _, value = tag.partition("::")
    return facet not in LEFT_OUT and value != "TODO" and tag != "interface::x11"


def digest(package: dict) -> bytes:
    return hashlib.sha256(package["id"].encode()).digest()


def with_tags(packages: list[dict], wanted, fewest: int) -> list[dict]:
    cut = [{**p, "labels": [tag for tag in p["labels"] if wanted(tag)]} for p in packages]
    return [package for package in cut if len(package["labels"]) >= fewest]


def sample(packages: list[dict]) -> list[dict]:
    packages = with_tags(packages, is_useful, FEWEST_TAGS)
    count = Counter(tag for package in packages for tag in package["labels"])
    packages = with_tags(packages, lambda tag: count[tag] >= FEWEST_PACKAGES, 2)
    chosen = sorted(packages, key=digest)[:SIZE]
    for package in chosen:
        package["split"] = "test" if digest(package)[8] % 4 == 0 else "train"
    return sorted(chosen, key=lambda package: package["id"])


def main(origin: str, folder: str) -> None:
    with lzma.open(origin, "rt", encoding="utf-8") as lines:
        chosen = sample([json.loads(line) for line in lines])
    fields = ("id", "split", "text", "labels")
    text = "".join(
        json.dumps({field: p[field] for field in fields}, ensure_ascii=False) + "\n" for p in chosen
    )
    packed = lzma.compress(text.encode(), preset=9 | lzma.PRESET_EXTREME)
    Path(folder, "debtags-sample.jsonl.xz").write_bytes(packed)


if __name__ == "__main__":
    main(*sys.argv[1:])
