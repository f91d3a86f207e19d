"""README as a package index shows it: links lead to the repository, or are plain text.

A relative link is broken outside of the repository. With `Source` in `[project.urls]` every one becomes absolute; as long
as there is no public address, the text of the link stays and the picture is left out.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

_LINK = re.compile(r"(?P<image>!?)\[(?P<text>[^\]]*)\]\((?P<target>[^):\s]+)\)")


def package_page(readme: str, source: str) -> str:
    """The README with no relative link left in it."""

    def replace(link: re.Match[str]) -> str:
        if source and link["image"]:
            return f"![{link['text']}]({source}/raw/main/{link['target']})"
        if source:
            return f"[{link['text']}]({source}/blob/main/{link['target']})"
        return "" if link["image"] else link["text"]

    return _LINK.sub(replace, readme)


class PackagePage(MetadataHookInterface):
    """The hook that hatchling calls for the metadata of sdist and wheel."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Set `readme`, which pyproject.toml declares as dynamic."""
        readme = Path(self.root, "README.md").read_text(encoding="utf-8")
        source = metadata.get("urls", {}).get("Source", "").rstrip("/")
        text = package_page(readme, source)
        metadata["readme"] = {"content-type": "text/markdown", "text": text}
