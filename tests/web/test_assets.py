"""What others wrote and we ship: its versions, licences and hashes; nothing leads to another server."""

from __future__ import annotations

import gzip
import json
import re
from hashlib import sha256

from memolith.web.rendering import assets
from scripts.vendor_assets import MANIFEST, PACKAGES, VENDOR
from scripts.vendor_assets import assets as vendored

FIRST_SCREEN = ("page.css", "page.js", "vendor/htmx.js", "icon.svg")


def test_every_file_is_the_one_of_the_manifest() -> None:
    manifest = json.loads(MANIFEST.read_text("utf-8"))
    hashes = {path.name: sha256(path.read_bytes()).hexdigest() for path in vendored()}
    assert hashes == manifest["sha256"]
    for name, version in PACKAGES.items():
        assert manifest["packages"][name]["version"] == version
    assert all(one["licence"] for one in manifest["packages"].values())
    licences = (VENDOR / "LICENSES.txt").read_text("utf-8")
    assert licences.count("Permission is hereby granted") >= 10
    assert "Zero-Clause BSD" in licences


def test_the_first_screen_is_small() -> None:
    sizes = {name: len(gzip.compress(assets()[name][0])) for name in FIRST_SCREEN}
    assert sum(sizes.values()) < 60_000


def test_scripts_of_our_own_stay_small() -> None:
    own = [
        data for name, (data, _, _) in assets().items() if name.endswith(".js") and "/" not in name
    ]
    assert sum(data.count(b"\n") for data in own) <= 600


def test_what_we_wrote_names_no_other_server() -> None:
    own = [data.decode() for name, (data, _, _) in assets().items() if "/" not in name]
    found = {one for text in own for one in re.findall(r"https?://[^\s\"']+", text)}
    assert found <= {"http://www.w3.org/2000/svg"}
