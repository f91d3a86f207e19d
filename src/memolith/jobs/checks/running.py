"""What works with the files, and what it leaves behind: writers, the server, the index, the model, jobs."""

from __future__ import annotations

import fcntl
import os
from collections import Counter
from collections.abc import Iterator
from urllib.parse import urlsplit

from memolith.clock import boot_id
from memolith.errors import ConfigError, EmbeddingError, MemolithError, StorageError
from memolith.files.atomic_write import STAGING
from memolith.files.backup import MANIFEST, backups, read_backup
from memolith.files.folder import Folder, storage_error
from memolith.files.layout import BACKUP_FOLDER
from memolith.files.locks import LOCK_PATH
from memolith.files.steps import LockState
from memolith.files.tail import QUARANTINE
from memolith.jobs.checks.subject import Subject, found, refused
from memolith.jobs.history import damage_messages, kept_jobs
from memolith.jobs.integrity import scan
from memolith.jobs.reports import Check
from memolith.jobs.scheduler import last_runs
from memolith.jobs.server_files import last_address, read_token
from memolith.text.wording import counted

HEALTHY = '{"ok":true}'
_LONGEST = 100
_SECONDS = 1.0  # for an answer from this machine
_EVERYWHERE = ("0.0.0.0", "::")  # noqa: S104 - nothing is bound here
# A check-up takes seconds: of a larger memory the newest statements are compared.
_MOST_COMPARED = 10_000


def check_lock(subject: Subject) -> Iterator[Check]:
    """Whether locks work here, who is writing, and whether a killed writer left work behind."""
    with Folder(subject.root) as folder:
        try:
            handle, _ = folder.open(LOCK_PATH)
        except FileNotFoundError:
            yield found("lock.unused")
            return
        except OSError as error:
            raise storage_error(error, LOCK_PATH) from error
        with open(handle, "rb", buffering=0) as file:
            is_held = False
            try:  # a shared lock for a moment harms nobody
                fcntl.flock(file.fileno(), fcntl.LOCK_SH | fcntl.LOCK_NB)
                fcntl.flock(file.fileno(), fcntl.LOCK_UN)
            except BlockingIOError:
                is_held = True
            except OSError as error:
                yield found("lock.broken", reason=error.strerror or str(error))
            yield from _look_at_intent(file.read(), is_held=is_held)


def _look_at_intent(data: bytes, *, is_held: bool) -> Iterator[Check]:
    try:
        state = LockState.decode(data)
    except (ValueError, KeyError, TypeError, AttributeError):
        yield found("lock.newer", path=LOCK_PATH)
        return
    if is_held:
        yield found("lock.held")
    elif state.steps:
        is_killed = state.boot == boot_id()
        yield found("lock.killed" if is_killed else "lock.cut-off", steps=len(state.steps))
    yield found("lock.ok")


def check_staging(subject: Subject) -> Iterator[Check]:
    """Whether killed writers left half-made files behind."""
    if staged := subject.files_in(STAGING):
        yield found("staging.left", files=len(staged), folder=STAGING)
    yield found("staging.ok")


def check_quarantine(subject: Subject) -> Iterator[Check]:
    """Whether torn lines were set aside."""
    if names := [os.path.basename(path) for path in subject.files_in(QUARANTINE)]:
        yield found("quarantine.lines", number=len(names), folder=QUARANTINE, names=names)
    yield found("quarantine.ok")


def check_backups(subject: Subject) -> Iterator[Check]:
    """Whether each backup is whole: every file against its SHA-256."""
    with Folder(subject.root) as folder:
        known = backups(folder)
        for backup in known:
            try:
                read_backup(folder, backup.name)
            except MemolithError as error:
                path = getattr(error, "path", "")
                yield found("backups.damaged", path=path, name=backup.name)
    whole = {backup.name for backup in known}
    for path in subject.files_in(BACKUP_FOLDER):
        name, _, rest = path.removeprefix(f"{BACKUP_FOLDER}/").partition("/")
        if rest == MANIFEST and name not in whole:
            yield found("backups.manifest", name=name)
    yield found("backups.ok", backups=len(known))


def check_server(subject: Subject) -> Iterator[Check]:
    """Whether others could read the token; then the server refuses to start with it. Who answers now."""
    token, serve = "", subject.config.serve
    with Folder(subject.root) as folder:
        started = last_address(folder)
        try:
            token = read_token(folder)
        except StorageError as error:
            yield refused("server", error.message, error.hint)
    if not token:
        yield found("server.none")
        return
    host, port = serve.host, serve.port
    if started and health_answer(*started) == HEALTHY:
        host, port = started
    place, answer = f"port {port} of {host}", health_answer(host, port)
    if answer not in ("", HEALTHY):
        yield found("server.stranger", place=place)
    running = f"a server answers at {place}" if answer else f"no server runs at {place}"
    if not _may_ask(host):
        running = f"{place} is not asked, because it is not this machine"
    yield found("server.ok", running=running)


def _may_ask(host: str | None) -> bool:
    """Doctor connects to no host but this one, told by its spelling alone: nothing is looked up.

    >>> _may_ask("127.0.0.1"), _may_ask("127.0.0.1.example.com")
    (True, False)
    """
    from ipaddress import ip_address

    if host is None or host.lower() == "localhost" or host in _EVERYWHERE:
        return host is not None
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def health_answer(host: str, port: int) -> str:
    """What is answered when we ask whether the server is well; "" when nobody is there."""
    if not port or not _may_ask(host):  # port 0 is any free one: nobody knows which
        return ""
    from http.client import HTTPConnection, HTTPException

    name = "localhost" if host in _EVERYWHERE else host
    connection = HTTPConnection(name, port, timeout=_SECONDS)
    try:
        connection.request("GET", "/healthz")
        return connection.getresponse().read(_LONGEST).decode("ascii", "replace") or "nothing"
    except ConnectionRefusedError:
        return ""
    except (OSError, HTTPException):
        return "nothing"
    finally:
        connection.close()


def check_index(subject: Subject) -> Iterator[Check]:
    """Whether the index can be read, and what the next search will do to it."""
    status = subject.index()
    for warning in status.warnings:
        yield found("index.warning", message=warning)
    if not status.exists or status.damaged:
        yield found("index.damaged" if status.exists else "index.none")
        return
    if status.changed:
        yield found("index.behind", files=status.changed)
    yield found("index.ok", chunks=status.chunks)


def check_integrity(subject: Subject) -> Iterator[Check]:
    """How many contradictions, duplicates, stale records, broken citations and open secrets."""
    with Folder(subject.root) as folder:
        report = scan(folder, subject.store.clock.now(), most=_MOST_COMPARED)
    kinds = Counter(finding.kind for finding in report.findings)
    if kinds:
        listed = ", ".join(
            counted(number, "stale record" if kind == "stale" else kind.replace("-", " "))
            for kind, number in sorted(kinds.items())
        )
        is_grave = kinds.keys() & {"open-secret", "contradiction"}
        yield found("integrity.found", status="warn" if is_grave else "info", kinds=listed)
    for warning in report.warnings:
        if "newest" in warning:  # whatever else was not looked at has its line elsewhere
            yield found("integrity.newest", warning=warning)
    yield found("integrity.ok")


def check_jobs(subject: Subject) -> Iterator[Check]:
    """Whether a job failed when it was run last."""
    with Folder(subject.root) as folder:
        reports, runs = kept_jobs(folder), last_runs(folder)
        damages = damage_messages(folder)
    for damage in damages:
        message, _, hint = damage.partition(". ")
        yield found("jobs.damaged", message=message, hint=hint)
    for report in {report.job: report for report in reports}.values():
        # A later run that found nothing to do has no report; the time of a run is noted before it.
        run = runs.get(report.job)
        if report.status == "failed" and (run is None or run.at <= report.created):
            day = f"{report.created:%Y-%m-%d}"
            yield found("jobs.failed", job=report.job, day=day, id=report.id or "last")
    yield found("jobs.ok" if reports else "jobs.none")


def check_model(subject: Subject) -> Iterator[Check]:
    """Whether the model answers: the default one is loaded, a server on this machine asked for one word."""
    from memolith.config.load import EMBED_KEY, api_key
    from memolith.embed.choose import try_embedder

    config = subject.config.embed
    if not subject.config.search.meaning:
        yield found("model.off")
    elif config.kind != "default" and config.url and not _may_ask(urlsplit(config.url).hostname):
        yield found("model.elsewhere", url=config.url)
    else:
        try:
            yield found("model.ok", model=try_embedder(config, api_key(EMBED_KEY)))
        except (EmbeddingError, ConfigError) as error:
            yield found("model.broken", message=error.message, hint=error.hint or "")
