"""Look at everything that can be wrong with a profile, and mend what can be mended safely."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator

from memolith.config.load import LoadedConfig
from memolith.errors import MemolithError
from memolith.files import atomic_write
from memolith.files.folder import Folder, storage_error
from memolith.files.locks import LOCK_PATH
from memolith.files.transaction import Transaction
from memolith.jobs.checks.content import check_content, check_turns
from memolith.jobs.checks.hosts import check_hosts
from memolith.jobs.checks.place import (
    check_conflicts,
    check_disk,
    check_git,
    check_modes,
    check_profile,
    check_settings,
    check_shapes,
    check_space,
    check_starting_files,
    linked_files,
    too_open,
    unusable,
)
from memolith.jobs.checks.running import (
    check_index,
    check_integrity,
    check_jobs,
    check_model,
    check_server,
)
from memolith.jobs.checks.subject import ROOT, WORST_FIRST, Entry, Subject, look_at, shown
from memolith.jobs.checks.writer import (
    check_backups,
    check_lock,
    check_quarantine,
    check_staging,
    staged_files,
)
from memolith.jobs.machines import merge_copies
from memolith.jobs.reports import Check, DoctorReport
from memolith.jobs.server_files import TOKEN, server_token
from memolith.profile import Profile
from memolith.reports import IndexStatus
from memolith.text.wording import counted

Examination = Callable[[Subject], list[Check]]
Remedy = Callable[[Subject], Iterable[str]]

_ALWAYS: tuple[Examination, ...] = (check_profile, check_settings, check_hosts)
_OF_A_PROFILE: tuple[Examination, ...] = (
    check_starting_files,
    check_shapes,
    check_content,
    check_turns,
    check_modes,
    check_conflicts,
    check_git,
    check_lock,
    check_staging,
    check_quarantine,
    check_backups,
    check_disk,
    check_space,
    check_integrity,
    check_server,
    check_model,
    check_jobs,
)


def examine(
    profile: Profile,
    loaded: LoadedConfig,
    *,
    fix: bool,
    copy_linked: bool = False,
    index: tuple[Callable[[], IndexStatus], Callable[[], object]] | None = None,
) -> DoctorReport:
    """Run every check, worst findings first; with `fix`, mend and then look again.

    `copy_linked` replaces files that have a second name, too: they may hold words of somebody else.

    `index`, if the memory can be searched: how its index is, and what makes it anew.
    """
    subject = look_at(profile, loaded)
    mended: tuple[str, ...] = ()
    failed: list[Check] = []
    if fix and profile.exists:
        remedies: list[Remedy] = [_renew_token, _make_private, _finish_and_tidy_up, merge_copies]
        if copy_linked:
            remedies.insert(0, _copy_linked)
        if index:
            remedies.append(_remake_index(*index))
        mended, failed = _mend(subject, remedies)
        subject = look_at(profile, loaded)
    examinations = _ALWAYS + (_OF_A_PROFILE if profile.exists else ())
    if index is not None and profile.exists:
        examinations += (check_index(index[0]),)
    checks = _each_once([*failed, *_run_all(examinations, subject)])
    checks.sort(key=lambda check: WORST_FIRST.index(check.status))
    return DoctorReport(root=profile.root, checks=tuple(checks), mended=mended)


def _run_all(examinations: Iterable[Examination], subject: Subject) -> Iterator[Check]:
    named = tuple(f"{path}/" for path in unusable(subject))
    for examination in examinations:
        try:
            yield from examination(subject)
        except (MemolithError, OSError) as error:
            if not _path_of(error, subject.root).startswith(named):  # else the cause has its line
                yield _refused(examination.__name__, error)


def _path_of(error: MemolithError | OSError, root: str) -> str:
    """What could not be used, seen from the profile's folder, ending in a slash."""
    path = error.filename if isinstance(error, OSError) else getattr(error, "path", "")
    return f"{str(path).removeprefix(root).strip('/')}/"


def _each_once(checks: Iterable[Check]) -> list[Check]:
    """A disk that refuses us refuses every check: what was said once is not said again."""
    said: dict[tuple[str, str | None], Check] = {}
    return [
        check
        for check in checks
        if check.status != "error" or said.setdefault((check.message, check.hint), check) is check
    ]


def _refused(name: str, error: MemolithError | OSError) -> Check:
    """The check that could not be made, as a finding: what stopped it would stop others too."""
    topic = name.removeprefix("check_")
    if isinstance(error, OSError):
        error = storage_error(error, str(error.filename or "the folder"))
    return Check(
        id=topic,
        label=topic.capitalize(),
        status="error",
        message=shown(error.message),
        hint=error.hint or None,
    )


def _mend(subject: Subject, remedies: Iterable[Remedy]) -> tuple[tuple[str, ...], list[Check]]:
    """What was mended, and what could not be. Nothing a person wrote is touched."""
    mended: list[str] = []
    failed: list[Check] = []
    for remedy in remedies:
        try:
            mended += remedy(subject)
        except (MemolithError, OSError) as error:
            failed.append(_refused("check_fix", error))
    return tuple(mended), failed


def _renew_token(subject: Subject) -> Iterator[str]:
    """Closing its file would hide that others may know it; servers refuse it as it is anyway."""
    if any(entry.path == TOKEN for entry in too_open(subject)):
        server_token(subject.root, subject.config.store, rotate=True)
        yield "Others could read the server token: there is a new one, which `memolith token` shows."


def _remake_index(status: Callable[[], IndexStatus], reindex: Callable[[], object]) -> Remedy:
    def remake(_: Subject) -> Iterator[str]:
        if status().damaged:
            reindex()
            yield "The damaged index was made anew from the files."

    return remake


def _make_private(subject: Subject) -> Iterator[str]:
    done = 0
    refusal: OSError | MemolithError | None = None
    for entry in too_open(subject):
        if entry.path == TOKEN:
            continue
        try:
            _strip_others(subject, entry)
            done += 1
        except (MemolithError, OSError) as error:  # somebody else's file: the others can be mended
            refusal = error
    if done:
        yield f"{counted(done, 'name')} can now be opened by you alone."
    if refusal:
        raise refusal


def _strip_others(subject: Subject, entry: Entry) -> None:
    private = entry.mode & 0o700
    if entry.path == ROOT:
        above, name = os.path.split(os.path.realpath(subject.root))
        with Folder(above) as folder:
            atomic_write.set_mode(folder, name, private)
    else:
        with Folder(subject.root) as folder:
            atomic_write.set_mode(folder, entry.path, private)


def _copy_linked(subject: Subject) -> Iterator[str]:
    linked, store = linked_files(subject), subject.config.store
    if LOCK_PATH in linked:  # before anybody can take the lock
        with Folder(subject.root) as folder:
            atomic_write.copy_linked(folder, LOCK_PATH)
    if linked:
        folder = Folder(subject.root)
        with Transaction(folder, store.lock_timeout_seconds):
            for path in linked:
                if path != LOCK_PATH:
                    atomic_write.copy_linked(folder, path)
    yield from (f"{shown(path)} is a file of its own now." for path in linked)


def _finish_and_tidy_up(subject: Subject) -> Iterator[str]:
    """Take the writer lock once, which finishes what a killed writer began."""
    store = subject.config.store
    if all(entry.path != LOCK_PATH for entry in subject.entries):
        return  # nothing was ever written
    with (
        Folder(subject.root) as folder,
        Transaction(folder, store.lock_timeout_seconds) as transaction,
    ):
        if transaction.recovered:
            yield "The work of a killed writer was finished."
        # Whoever stages a file holds the lock until it is in place, and now we hold it.
        staged = [path for path in staged_files(subject) if folder.stamp(path) is not None]
        for path in staged:
            atomic_write.remove(folder, path)
        if staged:
            yield f"{counted(len(staged), 'left-over file')} removed."
