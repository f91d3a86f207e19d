"""A hook for an agent host of your own: what is known about a prompt is printed before it is answered.

The host runs this with a JSON object on standard input and adds what is printed to the prompt. A hook
must never stop the host: whatever goes wrong is said on standard error, and nothing is printed.
For Claude Code, Codex and others there are ready-made hooks: memolith install HOST.

    echo '{"session_id": "1", "prompt": "Who owns the release key?"}' | python hook.py
"""

import json
import os
import sys

from memolith import MemolithError, Memory

# How long the host is kept waiting at most. The first search after a change of many files takes longer.
SECONDS = float(os.environ.get("HOOK_SECONDS", "1"))


def main() -> None:
    """Print what is worth knowing before the prompt is answered."""
    try:
        event = json.load(sys.stdin)
        with Memory(channel="my-host") as memory:
            found = memory.context(str(event["prompt"]), deadline_seconds=SECONDS)
    except (MemolithError, ValueError, KeyError, TypeError) as error:
        print(f"memory: {error}", file=sys.stderr)
        return
    for warning in found.warnings:
        print(f"memory: {warning}", file=sys.stderr)
    print(found.text)


if __name__ == "__main__":
    main()
