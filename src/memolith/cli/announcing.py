"""What a server says when it can be called: where it is, and where its token is."""

from __future__ import annotations

import os
import socket
import sys

from memolith.cli import output
from memolith.memory import Memory


def announce(memory: Memory, sock: socket.socket, *, as_json: bool, path: str = "") -> None:
    """Say where `memory` is served; people are warned if that is not this machine alone."""
    from memolith.jobs.server_files import TOKEN, note_address

    host, port = sock.getsockname()[:2]
    note_address(memory.root, host, port)
    url = f"http://{f'[{host}]' if ':' in host else host}:{port}{path}"
    token_file = os.path.join(memory.root, TOKEN)
    if as_json:
        output.say_json({"url": url, "token_file": token_file, "pid": os.getpid()})
    else:
        output.say(output.bold("Serving"), f"  {memory.root}  at  {url}")
        output.say(f"  token   {token_file}")
        if not host.startswith("127.") and host != "::1":
            output.note("memolith: Others on the network can reach this, unencrypted.")
    sys.stdout.flush()
