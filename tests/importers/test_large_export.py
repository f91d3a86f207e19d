"""A large export of ChatGPT is read piece by piece."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from tests.importers.test_chat_exports import conversation, node

PEAK = r"""
import json, os, re, resource, sys
from memolith.cli.main import main
code = main(sys.argv[1:])
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
if os.path.exists("/proc/self/status"):  # the figure above includes that of the parent there
    with open("/proc/self/status") as status:
        peak = int(re.search(r"VmHWM:\s+(\d+)", status.read())[1])
print(json.dumps([code, peak]))
"""


def many(count: int) -> Iterator[str]:
    about = {
        "citations": [],
        "model_slug": "gpt",
        "finish_details": {"stop_tokens": [200002] * 600},
    }
    about = {"model_slug": "gpt", "finish_details": {"stop_tokens": [200002] * 600}}
    words = "the heron of Bremen lives by the river and counts the ships that pass it every day "
    for number in range(count):
        one = conversation() | {"conversation_id": f"c-{number}"}
        mapping = dict(one["mapping"])  # type: ignore[call-overload]
        for turn in range(20):
            parent = f"x{turn - 1}" if turn else "a2"
            role = ("user", "assistant")[turn % 2]
            text, at = f"{number} {turn} {words * 8}", 1_700_000_200 + turn
            mapping |= dict([node(f"x{turn}", parent, role, text, at, metadata=about)])
        yield json.dumps(one | {"mapping": mapping, "current_node": "x19"})


def test_an_export_of_200_megabytes_needs_little_memory(tmp_path: Path) -> None:
    path = tmp_path / "conversations.json"
    with path.open("w") as file:
        file.write("[")
        for number, one in enumerate(many(1_900)):
            file.write(("," if number else "") + one)
        file.write("]")
    assert path.stat().st_size > 200_000_000
    command = [
        sys.executable,
        "-c",
        PEAK,
        "--root",
        str(tmp_path / "memory"),
        "import",
        "chatgpt",
        str(path),
        "--json",
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    *_, report, peak = done.stdout.strip().split("\n")
    counts = json.loads(report)["counts"]["turns"]
    assert counts["read"] == 1_900 * 12
    assert counts["read"] == counts["added"] + counts["skipped"]
    code, kilobytes = json.loads(peak)
    print(f"{kilobytes:,} kB")
    assert code == 0
    assert kilobytes < 300_000, f"{kilobytes:,} kB"
