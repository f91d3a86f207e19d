"""A real HTTP endpoint on this machine that behaves as badly as a test asks it to."""

from __future__ import annotations

import gzip
import json
import re
import threading
import time
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


def completion(content: str, **more: object) -> bytes:
    """A whole, well-formed answer."""
    message = {"choices": [{"message": {"role": "assistant", "content": content}}]}
    return json.dumps({**message, "usage": {"total_tokens": 321}, **more}).encode()


def notes_of(prompt: str) -> list[str]:
    """The notes a prompt asks to shorten."""
    return re.findall(r"^- \d{4}-\d\d-\d\d .*$", prompt.partition("Notes:")[2], flags=re.MULTILINE)


class Endpoint:
    """Ways to answer, in order; the last one again and again."""

    def __init__(self, *ways: str) -> None:
        self.ways = list(ways)
        self.asked: list[tuple[str, dict[str, str], dict[str, object]]] = []
        self.url = ""

    @contextmanager
    def running(self) -> Iterator[Endpoint]:
        """Listen on a free port."""
        endpoint = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                endpoint.asked.append((self.path, dict(self.headers), json.loads(body)))
                way = endpoint.ways.pop(0) if len(endpoint.ways) > 1 else endpoint.ways[0]
                with suppress(OSError):  # whoever asked may have gone
                    endpoint.answer(self, way, json.loads(body)["messages"][0]["content"])

            def log_message(self, *_: object) -> None:
                pass

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{server.server_port}/v1"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield self
        finally:
            server.shutdown()
            thread.join()
            server.server_close()

    def wait_until_asked(self) -> None:
        """Whoever asked may have given up before our thread has read the question."""
        deadline = time.monotonic() + 300
        while not self.asked and time.monotonic() < deadline:
            time.sleep(0.01)

    def answer(self, to: BaseHTTPRequestHandler, way: str, prompt: str) -> None:
        notes = notes_of(prompt)
        lines = {
            "good": "\n".join(notes[:200]),
            "every tenth": "\n".join(notes[::10]),
            "chatty": "Sure! Here you are:\n" + "\n".join(notes) + "\nAnything else?",
            "empty": "",
            "half": "\n".join(notes[: max(1, len(notes) // 5)])[:-9],
            "invented ids": "- 2026-11-15 Ana decided it. [deadbeef]",
            "invented number": re.sub(r"\d+ euros", "99999 euros", notes[0] if notes else ""),
            "controls": (notes[0] if notes else "").replace(" ", " \x1b[31m", 3),
            "wrong day": "- 1999-01-01 Ana decided it. [deadbeef]",
            "10 MB": "x" * 10_000_000,
        }
        bodies = {
            "not JSON": b"<html>hello</html>",
            "nested": b"[" * 500_000,
            "half JSON": completion("\n".join(notes))[:-40],
            "not UTF-8": completion("\n".join(notes)).replace(b"Ana", b"An\xff\xfe"),
            "a stream": b"".join(
                b'data: {"choices": [{"delta": {"content": "- 2026"}}]}\n\n' for _ in range(50)
            )
            + b"data: [DONE]\n\n",
            "parts of the cost": completion(
                "\n".join(notes),
                usage={"prompt_tokens": 300, "completion_tokens": 21, "total_tokens": None},
            ),
            "other shape": b'{"choices": [{"text": 5}], "usage": {"total_tokens": true}}',
        }
        if way in lines:
            self.send(to, 200, completion(lines[way]))
        elif way in bodies:
            self.send(to, 200, bodies[way])
        elif way.isdigit():
            self.send(to, int(way), b'{"error": "busy"}')
        elif way == "gzip bomb":
            self.send(to, 200, gzip.compress(b"0" * 50_000_000), encoding="gzip")
        else:
            self.misbehave(to, way)

    def misbehave(self, to: BaseHTTPRequestHandler, way: str) -> None:
        """Break the protocol itself."""
        if way == "hangs up":
            to.connection.close()
        elif way == "ends early":
            to.send_response(200)
            to.send_header("Content-Length", "100000")
            to.end_headers()
            to.wfile.write(b'{"choices": [')
            to.close_connection = True
        elif way == "drips headers":
            to.wfile.write(b"HTTP/1.1 200 OK\r\nX-Slow: ")
            for _ in range(200):
                to.wfile.write(b"x")
                to.wfile.flush()
                time.sleep(0.05)
        elif way == "silent":
            time.sleep(1.5)
        elif way == "redirect":
            to.send_response(307)
            to.send_header("Location", "http://127.0.0.1:9/elsewhere")
            to.end_headers()
        elif way == "drips":
            to.send_response(200)
            to.send_header("Content-Length", "100000")
            to.end_headers()
            for _ in range(40):
                to.wfile.write(b" ")
                to.wfile.flush()
                time.sleep(0.05)

    def send(
        self, to: BaseHTTPRequestHandler, status: int, body: bytes, encoding: str = ""
    ) -> None:
        to.send_response(status)
        to.send_header("Content-Length", str(len(body)))
        if encoding:
            to.send_header("Content-Encoding", encoding)
        to.end_headers()
        to.wfile.write(body)
