"""Open the memory that the options of a command line point to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress

from memolith.cli import output
from memolith.cli.usage import Arguments
from memolith.config.load import open_profile, settings_from_flags
from memolith.config.setting import Value
from memolith.errors import MemolithError
from memolith.memory import Memory, open_store
from memolith.profile import Profile
from memolith.store import Store
from memolith.visibility import channel_in

# Where a found folder is not approved, these use the default memory and say so; all others refuse.
_USE_DEFAULT = frozenset(
    "context get index list mcp recap relationships search session-start status".split()
)


def again(args: Arguments, command: str) -> str:
    """A command to copy: it leads to the same memory as the one just run, with the same settings.

    What is kept of a job needs none: `jobs` shows, applies and undoes it as it was planned.
    """
    return f"memolith {command}{chosen_options(args, settings=not command.startswith('jobs '))}"


def chosen_options(args: Arguments, *, settings: bool = True) -> str:
    """The options by which the memory was chosen, each behind a space; "" if there were none."""
    import shlex  # slow, and only people are told commands

    chosen = (
        ("--root", args.root),
        ("--profile", args.profile),
        *(("--set", setting) for setting in args.set if settings),
    )
    return "".join(f" {name} {shlex.quote(value)}" for name, value in chosen if value)


def here(args: Arguments, hint: str) -> str:
    """A hint, whose commands lead to the same memory as the one just run."""
    from memolith.text.commands import leading

    return leading(hint, chosen_options(args))


def warn_of_damage(args: Arguments, warnings: Sequence[str]) -> None:
    """Say what could not be read, and who says more."""
    for warning in warnings:
        output.note(f"memolith: {warning}")
    if warnings:
        output.note(f"Look closer: {again(args, 'doctor')}")


def open_for_mending(args: Arguments) -> Memory:
    """The memory, even if a settings file is wrong: what is, is left out and noted."""
    given = settings_from_flags(args.set)
    profile, loaded = open_profile(
        args.root, args.profile, given, lenient=True, use_default=not args.fix
    )
    warn_of_unapproved(profile)
    return open_store(Store(profile, loaded, given), "cli")


def warn_of_unapproved(profile: Profile) -> None:
    """Say on standard error that a found folder is not used; a model never reads this."""
    if profile.notice:
        output.note(f"memolith: {profile.notice}")


def open_memory(
    args: Arguments,
    *,
    create: bool = False,
    settings: Mapping[str, Value] | None = None,
    channel: str = "cli",
    folder: str = "",
    hook: bool = False,
) -> Memory:
    """The memory of `--root`, `--profile` and `--set`; `settings` are those of other options.

    `folder` is where the caller works, if that is not where we were started. A hook uses the default
    memory where a folder is not approved; what it shows to the user is its own business.
    """
    given = {**settings_from_flags(args.set), **(settings or {})}
    profile, loaded = open_profile(
        args.root,
        args.profile,
        given,
        cwd=folder if folder and args.root is None else None,
        create=create,
        use_default=hook or args.command in _USE_DEFAULT,
    )
    if not hook:
        warn_of_unapproved(profile)
    in_session = channel_in(channel, getattr(args, "kind", None) or "main")
    return open_store(Store(profile, loaded, given), in_session)


def make_if_new(memory: Memory) -> None:
    """Make the first files of a memory that does not exist yet, if that is possible."""
    from memolith.jobs.trust import holds_memory

    if not holds_memory(memory.root):
        with suppress(MemolithError):  # the first call that writes says why
            memory.init()
