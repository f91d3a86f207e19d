"""Fetch what others wrote for the page: pinned packages from npm, bundled once, with version, licence and hash.

    python -m scripts.vendor_assets

The results are committed, so nobody needs Node to build, install or use Memolith.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from hashlib import sha256
from pathlib import Path

VENDOR = Path(__file__).parent.parent / "src" / "memolith" / "web" / "static" / "vendor"
MANIFEST = VENDOR / "manifest.json"
PACKAGES = {
    "htmx.org": "4.0.1",
    "uplot": "1.6.32",
    "@codemirror/commands": "6.11.1",
    "@codemirror/lang-markdown": "6.5.2",
    "@codemirror/language": "6.13.1",
    "@codemirror/merge": "6.12.2",
    "@codemirror/state": "6.7.6",
    "@codemirror/view": "6.43.15",
    "@lezer/highlight": "1.2.3",
}
BUNDLER = {"esbuild": "0.28.2"}
COPIED = {
    "htmx.js": "htmx.org/dist/htmx.min.js",
    "uplot.js": "uplot/dist/uPlot.iife.min.js",
    "uplot.css": "uplot/dist/uPlot.min.css",
}
EDITOR = """
export {EditorState} from "@codemirror/state"
export {EditorView, keymap, lineNumbers, drawSelection, highlightActiveLine} from "@codemirror/view"
export {defaultKeymap, history, historyKeymap} from "@codemirror/commands"
export {markdown} from "@codemirror/lang-markdown"
export {syntaxHighlighting} from "@codemirror/language"
export {classHighlighter} from "@lezer/highlight"
export {MergeView} from "@codemirror/merge"
"""


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        wanted = {"private": True, "dependencies": PACKAGES | BUNDLER}
        (place / "package.json").write_text(json.dumps(wanted))
        (place / "editor.js").write_text(EDITOR)
        subprocess.run(["npm", "install", "--no-audit", "--no-fund"], cwd=place, check=True)
        modules = place / "node_modules"
        VENDOR.mkdir(parents=True, exist_ok=True)
        for name, source in COPIED.items():
            text = (modules / source).read_text("utf-8")
            # A map would be a request for a file that is not there.
            lines = [line for line in text.splitlines() if "sourceMappingURL" not in line]
            (VENDOR / name).write_text("\n".join(lines) + "\n", "utf-8")
        subprocess.run(
            [
                modules / ".bin" / "esbuild", "editor.js", "--bundle", "--minify", "--format=esm",
                "--legal-comments=none", f"--outfile={VENDOR / 'codemirror.js'}",
            ],
            cwd=place,
            check=True,
        )  # fmt: skip
        MANIFEST.write_text(json.dumps(manifest(modules), indent=2) + "\n", "utf-8")


def manifest(modules: Path) -> dict[str, object]:
    """Version and licence of every package whose code is in the files, and the hash of each file."""
    skipped = ("esbuild", "@esbuild/")
    packages = {}
    for file in sorted((*modules.glob("*/package.json"), *modules.glob("@*/*/package.json"))):
        about = json.loads(file.read_text("utf-8"))
        if not about["name"].startswith(skipped):
            packages[about["name"]] = {"version": about["version"], "licence": about["license"]}
    files = {path.name: sha256(path.read_bytes()).hexdigest() for path in assets()}
    licences = [
        f"{about.parent.name}\n\n{licence.read_text('utf-8')}"
        for about in sorted((*modules.glob("*/package.json"), *modules.glob("@*/*/package.json")))
        if not about.parent.name.startswith("esbuild") and about.parent.parent.name != "@esbuild"
        for licence in sorted(about.parent.glob("LICENSE*"))
    ]
    (VENDOR / "LICENSES.txt").write_text("\n\n".join(licences), "utf-8")
    return {"packages": packages, "sha256": files}


def assets() -> list[Path]:
    """The files that a browser gets."""
    return sorted((*VENDOR.glob("*.js"), *VENDOR.glob("*.css")))


if __name__ == "__main__":
    sys.exit(main())
