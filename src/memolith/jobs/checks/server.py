"""The server: whether others could read its token, and who answers at its port."""

from __future__ import annotations

from memolith.errors import StorageError
from memolith.files.folder import Folder
from memolith.jobs.checks.findings import Findings, is_loopback, shown
from memolith.jobs.checks.subject import Subject
from memolith.jobs.reports import Check
from memolith.jobs.server_files import last_address, read_token

HEALTHY = '{"ok":true}'
_LONGEST = 100
_SECONDS = 1.0  # for an answer from this machine
_EVERYWHERE = ("0.0.0.0", "::")  # noqa: S104 - nothing is bound here


def check_server(subject: Subject) -> list[Check]:
    """Whether others could read the token; then the server refuses to start with it. Who answers now."""
    found = Findings("server", "Server token")
    token = ""
    with Folder(subject.root) as folder:
        started = last_address(folder)
        try:
            token = read_token(folder)
        except StorageError as error:
            found.add("error", error.message, error.hint)
    if not token:
        return found.checks("none yet; the first start of `memolith serve` makes it", "off")
    serve = subject.config.serve
    if started and started != (serve.host, serve.port) and health_answer(*started) == HEALTHY:
        return found.checks(f"only you can read it; a server answers at {_place(*started)}")
    place = _place(serve.host, serve.port)
    answer = health_answer(serve.host, serve.port)
    if answer not in ("", HEALTHY):
        found.add(
            "info",
            f"The program at {place} does not answer like a server of ours.",
            "If it is another program, choose another port: memolith config set serve.port N",
        )
    running = f"a server answers at {place}" if answer else f"no server runs at {place}"
    if not _may_ask(serve.host):
        running = f"{place} is not asked, because it is not this machine"
    return found.checks(f"only you can read it; {running}")


def _place(host: str, port: int) -> str:
    return f"port {port} of {shown(host)}"


def _may_ask(host: str) -> bool:
    """Doctor connects to no host but this one."""
    return host in _EVERYWHERE or is_loopback(host)


def health_answer(host: str, port: int) -> str:
    """What is answered when we ask whether the server is well; "" when nobody is there."""
    if not port:
        return ""  # any free one: nobody knows which
    if not _may_ask(host):
        return ""
    from http.client import HTTPConnection, HTTPException

    connection = HTTPConnection(
        "localhost" if host in _EVERYWHERE else host, port, timeout=_SECONDS
    )
    try:
        connection.request("GET", "/healthz")
        return connection.getresponse().read(_LONGEST).decode("ascii", "replace") or "nothing"
    except ConnectionRefusedError:
        return ""
    except (OSError, HTTPException):
        return "nothing"
    finally:
        connection.close()
