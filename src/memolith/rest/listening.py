"""Take the port of a server: quick to import, so that a port that is taken is said at once."""

from __future__ import annotations

import errno
import socket

from memolith.errors import ConfigError


def listen(host: str, port: int) -> socket.socket:
    """Take the port, before anything else is done; raises ConfigError when that is not possible."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # asyncio switches Nagle's algorithm off only where the protocol is named; with it, every answer
    # but the first of a connection waits 40 ms for the acknowledgement of its own headers.
    sock = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        sock.bind((host, port))
        sock.listen()  # until somebody does, the port can be bound by others who start now
    except OSError as error:
        sock.close()
        taken = error.errno in (errno.EADDRINUSE, errno.EACCES)
        other_port = "Choose another port: --port 0 takes any free one."
        raise ConfigError(
            f"Cannot listen on {host} port {port}: {error.strerror or error}.",
            setting="serve.port" if taken else "serve.host",
            origin="serve",
            hint=other_port if taken else "serve.host must be an address of this machine.",
        ) from error
    return sock
