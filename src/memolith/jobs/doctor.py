"""Look at everything that can be wrong with a profile, and mend what can be mended safely."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator

from memolith.errors import MemolithError
from memolith.files import atomic_write
from memolith.files.atomic_write import STAGING
from memolith.files.folder import Folder, storage_error
from memolith.files.locks import LOCK_PATH
from memolith.files.transaction import Transaction
from memolith.jobs.checks import content, hosts, place, running
from memolith.jobs.checks.subject import ROOT, WORST_FIRST, Subject, bounded, look_at, refused
from memolith.jobs.machines import merge_copies
from memolith.jobs.reports import Check, DoctorReport
from memolith.jobs.server_files import TOKEN, server_token
from memolith.reports import IndexStatus
from memolith.store import Store
from memolith.text.cleaning import shown_path
from memolith.text.wording import counted

# Every check by its name; checks/findings.toml has what they say.
_CHECKS: dict[str, Callable[[Subject], Iterator[Check]]] = {
    "profile": place.check_profile,
    "settings": place.check_settings,
    "hosts": hosts.check_hosts,
    "files": place.check_starting_files,
    "shapes": place.check_shapes,
    "content": content.check_content,
    "turns": content.check_turns,
    "modes": place.check_modes,
    "conflicts": place.check_conflicts,
    "git": place.check_git,
    "lock": running.check_lock,
    "staging": running.check_staging,
    "quarantine": running.check_quarantine,
    "backups": running.check_backups,
    "place": place.check_disk,
    "space": place.check_space,
    "integrity": running.check_integrity,
    "server": running.check_server,
    "model": running.check_model,
    "jobs": running.check_jobs,
    "index": running.check_index,
}
_NEED_NO_PROFILE = ("profile", "settings", "hosts")


def examine(
    store: Store,
    index: tuple[Callable[[], IndexStatus], Callable[[], object]],
    *,
    fix: bool,
    copy_linked: bool = False,
    scan: bool = True,
) -> DoctorReport:
    """Run every check, worst findings first; with `fix`, mend and then look again.

    `copy_linked` replaces files that have a second name, too: they may hold words of somebody else.
    `index` says how the index is, and rebuilds it. Without `scan` no statements are compared.
    """
    subject = look_at(store, *index)
    mended, failed = list[str](), list[Check]()
    if fix and store.profile.exists:
        remedies = [_renew_token, _make_private, _finish_and_tidy_up, merge_copies, _remake_index]
        for remedy in (*([_copy_linked] if copy_linked else []), *remedies):
            try:
                mended += remedy(subject)
            except (MemolithError, OSError) as error:
                failed.append(_refused("fix", error))
        subject = look_at(store, *index)
    names = _CHECKS if store.profile.exists else _NEED_NO_PROFILE
    wanted = [name for name in names if scan or name != "integrity"]
    checks = [*bounded([*failed, *_run(subject, wanted)])]
    checks.sort(key=lambda check: WORST_FIRST.index(check.status))
    return DoctorReport(root=store.root, checks=tuple(checks), mended=tuple(mended))


def _run(subject: Subject, names: list[str]) -> Iterator[Check]:
    unusable = tuple(f"{path}/" for path in place.unusable(subject))
    for name in names:
        try:
            yield from _CHECKS[name](subject)
        except (MemolithError, OSError) as error:
            path = error.filename if isinstance(error, OSError) else getattr(error, "path", "")
            inside = str(path).removeprefix(subject.root).strip("/")
            if not f"{inside}/".startswith(unusable):  # else the cause has its line
                yield _refused(name, error)


def _refused(name: str, error: MemolithError | OSError) -> Check:
    """The check that could not be made, as a finding: what stopped it would stop others too."""
    if isinstance(error, OSError):
        error = storage_error(error, str(error.filename or "the folder"))
    return refused(name, error.message, error.hint)


def _renew_token(subject: Subject) -> Iterator[str]:
    """Closing its file would hide that others may know it; servers refuse it as it is anyway."""
    if any(entry.path == TOKEN for entry in place.too_open(subject)):
        server_token(subject.root, subject.config.store, rotate=True)
        yield "Others could read the server token: there is a new one, which `memolith token` shows."


def _remake_index(subject: Subject) -> Iterator[str]:
    if subject.index().damaged:
        subject.rebuild()
        yield "The damaged index was rebuilt from the files."


def _make_private(subject: Subject) -> Iterator[str]:
    entries = [entry for entry in place.too_open(subject) if entry.path != TOKEN]
    for entry in entries:
        root, name = subject.root, entry.path
        if name == ROOT:
            root, name = os.path.split(os.path.realpath(root))
        with Folder(root) as folder:
            atomic_write.set_mode(folder, name, entry.mode & 0o700)
    if entries:
        yield f"{counted(len(entries), 'name')} can now be opened by you alone."


def _copy_linked(subject: Subject) -> Iterator[str]:
    linked = place.linked_files(subject)
    if LOCK_PATH in linked:  # before anybody can take the lock
        with Folder(subject.root) as folder:
            atomic_write.copy_linked(folder, LOCK_PATH)
    if linked:
        folder = Folder(subject.root)
        with Transaction(folder, subject.config.store.lock_timeout_seconds):
            for path in linked:
                if path != LOCK_PATH:
                    atomic_write.copy_linked(folder, path)
    yield from (f"{shown_path(path)} is a file of its own now." for path in linked)


def _finish_and_tidy_up(subject: Subject) -> Iterator[str]:
    """Take the writer lock once, which finishes what a killed writer began."""
    if all(entry.path != LOCK_PATH for entry in subject.entries):
        return  # nothing was ever written
    timeout = subject.config.store.lock_timeout_seconds
    with Folder(subject.root) as folder, Transaction(folder, timeout) as transaction:
        if transaction.recovered:
            yield "The work of a killed writer was finished."
        # The writer of a staged file holds the lock until it is in place, and now we hold it.
        staged = [path for path in subject.files_in(STAGING) if folder.stamp(path) is not None]
        for path in staged:
            atomic_write.remove(folder, path)
        if staged:
            yield f"{counted(len(staged), 'left-over file')} removed."
