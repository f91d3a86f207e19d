"""A real server that embeds, as well or as badly as it is told to."""

from __future__ import annotations

import json
import threading
import time
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    # What to do with a request: its texts → status and body, or None to hang up.
    Behaviour = Callable[[list[str]], tuple[int, bytes] | None]

DIMENSIONS = 8
_DRIPS = 1_200


def vector_of(text: str) -> list[float]:
    """The hash embedder of the originals: the same words, the same vector."""
    numbers = [0.0] * DIMENSIONS
    for word in text.lower().split():
        numbers[sum(word.encode()) % DIMENSIONS] += 1.0
    return numbers


def openai_answer(texts: list[str]) -> tuple[int, bytes]:
    items = [{"index": at, "embedding": vector_of(text)} for at, text in enumerate(texts)]
    return 200, json.dumps({"data": items[::-1]}).encode()


def ollama_answer(texts: list[str]) -> tuple[int, bytes]:
    return 200, json.dumps({"embeddings": [vector_of(text) for text in texts]}).encode()


class ModelServer:
    """Its address, what it was asked, and how it behaves from now on."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.batches: list[list[str]] = []
        self.keys: list[str | None] = []
        self.paths: list[str] = []
        self.behave: Behaviour = openai_answer
        self.drips = False  # headers that come byte by byte, for a minute
        self.dripped: list[bool] = []  # whether the asker waited for the last drop


@contextmanager
def model_server() -> Iterator[ModelServer]:
    """A server in a thread, on a free port of this machine."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            content = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            served.batches.append(content["input"])
            served.keys.append(self.headers["Authorization"])
            served.paths.append(self.path)
            if served.drips:
                served.dripped.append(False)
                served.dripped[-1] = self.drip()
                return
            answer = served.behave(content["input"])
            if answer is None:
                self.close_connection = True
                return
            self.send_response(answer[0])
            self.send_header("Content-Length", str(len(answer[1])))
            self.end_headers()
            self.wfile.write(answer[1])

        def drip(self) -> bool:
            with suppress(OSError):  # whoever asked has gone
                self.wfile.write(b"HTTP/1.1 200 OK\r\nX-Slow: ")
                for _ in range(_DRIPS):
                    self.wfile.write(b"x")
                    time.sleep(0.05)
                return True
            return False

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    served = ModelServer(f"http://127.0.0.1:{server.server_port}/v1")
    thread = threading.Thread(
        target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True
    )
    thread.start()
    try:
        yield served
    finally:
        server.shutdown()
        server.server_close()
