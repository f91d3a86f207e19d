"""Commands that people are told: each leads to the memory it is about, wherever it is copied to."""

from __future__ import annotations

import re

# At the start of a hint or behind a colon, up to a semicolon that is not quoted.
_COMMAND = re.compile(r"(?:^|(?<=: ))memolith (?:'[^']*'|[^;'])+")
_LEADS_SOMEWHERE = re.compile(
    r" --(?:root|profile|help)\b|^memolith (?:init|trust)(?: --git)? [^-]"
)


def leading(hint: str, options: str) -> str:
    """The hint, in which each command has these options too, unless it says itself where it leads.

    >>> leading("See: memolith jobs list; then: memolith jobs undo --last", " --root /m")
    'See: memolith jobs list --root /m; then: memolith jobs undo --last --root /m'
    >>> leading("To make it, run: memolith init --profile work", " --root /m")
    'To make it, run: memolith init --profile work'
    >>> leading("To approve it: memolith init /m --yes", " --root .")
    'To approve it: memolith init /m --yes'
    """
    return _COMMAND.sub(lambda command: _with(command[0], options), hint)


def leading_to(root: str, hint: str) -> str:
    """The hint of somebody who is asked by a stranger: its commands name the folder of the memory.

    >>> leading_to("/my notes", "See: memolith doctor")
    "See: memolith doctor --root '/my notes'"
    """
    return leading(hint, root_option(root))


def root_option(root: str) -> str:
    """The option that leads to this folder, behind a space."""
    import shlex  # slow, and only people are told commands

    return f" --root {shlex.quote(root)}"


def _with(command: str, options: str) -> str:
    return command if _LEADS_SOMEWHERE.search(command) else command + options
