"""The two ends of a warm hook: a process that serves the memory answers, and the hook prints."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from memolith.cli import hooks, output
from memolith.config.load import open_profile
from memolith.errors import MemolithError
from memolith.hosts import local_socket

if TYPE_CHECKING:
    from memolith.memory import Memory

_NAMED = ("--root", "--profile")
_MORE_SECONDS = 0.1  # for the way there and back


def has_answered(words: Sequence[str]) -> bool:
    """Whether a running process has answered the hook of this command line, and it was printed."""
    named = _options(words)
    hook_text = hooks.waiting_text() if named is not None else ""
    hook = hooks.read_hook(hook_text)
    if named is None or hook is None or hook.by_sub_agent:
        return False
    seconds = hooks.seconds_left()
    try:
        profile, loaded = open_profile(
            named.get("--root"),
            named.get("--profile"),
            cwd=hook.folder if hook.folder and "--root" not in named else None,
            use_default=True,
        )
        message = {
            **local_socket.greeting(profile.root, loaded.config),
            "command": words[0],
            "hook": hook_text,
            "notice": profile.notice,
            "seconds": seconds,
        }
        path = local_socket.socket_path(profile.root, os.environ)
        reply = local_socket.ask(path, message, seconds + _MORE_SECONDS)
    except TimeoutError:
        hooks.print_answer(hook, "", "The process that serves this memory did not answer in time.")
        return True
    except (MemolithError, OSError):
        return False  # what is wrong is said by the command itself
    if reply is None:
        return False
    output.prepare()
    hooks.print_answer(hook, str(reply.get("text", "")), str(reply.get("problem", "")))
    warnings = reply.get("warnings")
    output.warn(*map(str, warnings if isinstance(warnings, list) else ()))
    return True


def _options(words: Sequence[str]) -> Mapping[str, str] | None:
    """The memory that a command line names; None if it is not that of a plain hook."""
    rest = list(words[1:])
    if words[:1] == ["session-start"] and "--hook" in rest:
        rest.remove("--hook")
    elif words[:1] != ["context"]:
        return None
    names, values = rest[::2], rest[1::2]
    is_plain = len(names) == len(values) <= 1 and all(name in _NAMED for name in names)
    return dict(zip(names, values, strict=True)) if is_plain else None


@contextmanager
def answering_hooks(memory: Callable[[], Memory]) -> Iterator[None]:
    """While this process serves a memory, answer the hooks that ask about it."""
    from memolith.cli.agent import answer_warm
    from memolith.hosts import warm

    with warm.answering_hooks(memory, answer_warm, os.environ):
        yield
