"""What works with the files: the server, the index, the model, jobs, and what the integrity scan would find."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from urllib.parse import urlsplit

from memolith.clock import Clock
from memolith.errors import ConfigError, EmbeddingError, StorageError
from memolith.files.folder import Folder
from memolith.jobs.checks.subject import Findings, Subject, is_loopback, shown
from memolith.jobs.history import damage_messages, kept_jobs
from memolith.jobs.integrity import scan
from memolith.jobs.reports import Check
from memolith.jobs.scheduler import last_runs
from memolith.jobs.server_files import last_address, read_token
from memolith.reports import IndexStatus
from memolith.text.wording import counted, refused_chunks

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


def check_index(look: Callable[[], IndexStatus]) -> Callable[[Subject], list[Check]]:
    """A check whether the index can be read, and what the next search will do to it."""

    def check_index(subject: Subject) -> list[Check]:
        return _findings(look())

    return check_index


def _findings(status: IndexStatus) -> list[Check]:
    found = Findings("index", "Index")
    for warning in status.warnings:
        found.add("warn", shown(warning))
    if not status.exists:
        return found.checks("none yet; the first search makes it", "off")
    if status.damaged:
        found.add(
            "warn",
            "The index is damaged. Your files are not concerned.",
            "The next search makes it again, or now: memolith sync --rebuild",
        )
        return found.checks("")
    if status.without_vector:
        found.add(
            "info",
            f"{counted(status.without_vector, 'chunk')} found by words only until embedded.",
            "The next search embeds them, or now: memolith sync",
        )
    if status.refused:
        found.add("info", f"{refused_chunks(status.refused)}.")
    if status.changed:
        found.add(
            "info",
            f"{counted(status.changed, 'file')} changed since the last look.",
            "The next search looks at them, or now: memolith sync",
        )
    return found.checks(f"{counted(status.chunks, 'chunk')}, in line with the files")


# A check-up takes seconds: of a larger memory the newest statements are compared.
_MOST_COMPARED = 10_000


def check_integrity(subject: Subject) -> list[Check]:
    """How many contradictions, duplicates, stale records, broken citations and open secrets."""
    found = Findings("integrity", "Integrity")
    with Folder(subject.root) as folder:
        report = scan(folder, Clock(subject.config.profile.timezone).now(), most=_MOST_COMPARED)
    kinds = Counter(finding.kind for finding in report.findings)
    if kinds:
        listed = ", ".join(
            counted(number, "stale record" if kind == "stale" else kind.replace("-", " "))
            for kind, number in sorted(kinds.items())
        )
        grave = kinds.keys() & {"open-secret", "contradiction"}
        found.add("warn" if grave else "info", f"{listed}.", "See: memolith scan")
    for warning in report.warnings:
        if "newest" in warning:  # whatever else was not looked at has its line elsewhere
            found.add("info", warning, "To have all compared: memolith scan")
    return found.checks("No contradictions, duplicates or broken citations.")


def check_jobs(subject: Subject) -> list[Check]:
    """Whether a job failed when it was run last."""
    found = Findings("jobs", "Jobs")
    with Folder(subject.root) as folder:
        reports, runs = kept_jobs(folder), last_runs(folder)
        for told in damage_messages(folder):
            message, _, hint = told.partition(". ")
            found.add("warn", shown(f"{message}."), hint)
    newest = {report.job: report for report in reports}
    for report in newest.values():
        # A later run that found nothing to do has no report; the time of a run is noted before it.
        run = runs.get(report.job)
        if report.status == "failed" and (run is None or run.at <= report.created):
            found.add(
                "warn",
                f"{shown(report.job)} failed on {report.created:%Y-%m-%d}.",
                f"See why: memolith jobs show {shown(report.id or 'last')}",
            )
    return found.checks("the last run of every job succeeded" if reports else "none yet")


def check_model(subject: Subject) -> list[Check]:
    """Whether the model answers: the default one is loaded, a server on this machine asked for one word.

    Doctor connects to no other host.
    """
    from memolith.config.load import EMBED_KEY, api_key
    from memolith.embed.choose import try_embedder

    found = Findings("model", "Model")
    if not subject.config.search.meaning:
        return found.checks("search.meaning is off: search goes by words only", "off")
    name, config = "", subject.config.embed
    if config.kind != "default" and config.url and not is_loopback(urlsplit(config.url).hostname):
        found.add(
            "info",
            f"{shown(config.url)} is not asked: doctor connects to no host but this one.",
            "To try it: memolith status",
        )
        return found.checks(shown(config.model))
    try:
        name = try_embedder(config, api_key(EMBED_KEY))
    except (EmbeddingError, ConfigError) as error:
        found.add("warn", f"{shown(error.message)} Search goes by words only.", error.hint)
    return found.checks(shown(name))
