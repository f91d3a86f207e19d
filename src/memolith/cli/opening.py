"""Open the memory that the options of a command line point to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from memolith.cli import output
from memolith.cli.usage import Arguments
from memolith.config_loading import open_profile, settings_from_flags
from memolith.memory import Memory
from memolith.opened import open_with
from memolith.settings import Value


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
    profile, loaded = open_profile(args.root, args.profile, given, lenient=True)
    return open_with(Memory, (profile, given, loaded, None, "cli"))


def open_memory(
    args: Arguments,
    *,
    create: bool = False,
    settings: Mapping[str, Value] | None = None,
    channel: str = "cli",
    folder: str = "",
) -> Memory:
    """The memory of `--root`, `--profile` and `--set`; `settings` are those of other options.

    `folder` is where the caller works, if that is not where we were started.
    """
    given = {**settings_from_flags(args.set), **(settings or {})}
    if folder and args.root is None:
        profile, loaded = open_profile(None, args.profile, given, cwd=folder, create=create)
        return open_with(Memory, (profile, given, loaded, None, channel))
    return Memory(args.root, profile=args.profile, settings=given, channel=channel, create=create)
