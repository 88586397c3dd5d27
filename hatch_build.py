"""The README as the page of a package shows it: without pictures and links into the repository."""

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface


class PackagePage(MetadataHookInterface):
    def update(self, metadata: dict[str, Any]) -> None:
        page = Path(self.root, "README.md").read_text(encoding="utf-8")
        page = re.sub(r"^!\[.*\]\((?!https?:).*\)\n+", "", page, flags=re.MULTILINE)
        page = re.sub(r"\[([^\]]*)\]\((?!https?:)[^)]*\)", r"\1", page)
        metadata["readme"] = {"content-type": "text/markdown", "text": page}
