"""Programs that run agents: whether those on this machine know of Memolith."""

from __future__ import annotations

import os
import re
import sys
import tomllib
from collections.abc import Iterator
from importlib import resources

from memolith.jobs.checks.subject import Subject, found
from memolith.jobs.reports import Check
from memolith.text.wording import root_option

_MOST_BYTES = 64_000_000  # some hosts keep chats beside their settings
# The name of a server, a plugin or a started program; not that of somebody's folder.
_OURS = re.compile(
    rb"""["']memolith["'@]|\.memolith\]|\bmemolith:|command["']?\s*[:=]\s*["'][^"'\n]*/memolith["']"""
)


def check_hosts(subject: Subject) -> Iterator[Check]:
    """Whether each host on this machine names us in its settings; `memolith doctor` asks more of our own entries."""
    # Where the usual rules find the memory, a host need not name its folder.
    is_named = subject.store.profile.found_by in ("argument", "environment")
    option = root_option(subject.root) if is_named else ""
    table = (resources.files("memolith.hosts") / "hosts.toml").read_text("utf-8")
    titles = []
    for name, host in tomllib.loads(table).items():
        is_mac = sys.platform == "darwin"
        folder = (is_mac and host.get("mac_folder")) or host["folder"]
        folder = os.path.join(os.path.expanduser("~"), folder)
        if not os.path.isdir(folder):
            continue
        titles.append(host["title"])
        files = (host["servers"], *host.get("also", ()))
        if not any(_names_us(os.path.join(folder, file)) for file in files):
            yield found("hosts.unknown", title=host["title"], host=name, option=option)
    yield found("hosts.ok", titles=", ".join(titles)) if titles else found("hosts.none")


def _names_us(path: str) -> bool:
    if not os.path.isfile(path):
        return False
    with open(path, "rb") as file:
        return bool(_OURS.search(file.read(_MOST_BYTES)))
