"""The program `memolith`, as installed scripts call it; a hook first asks a process that is warm already."""

import gc
import os
import sys
from collections.abc import Mapping, Sequence

# A command ends before its garbage is much: looking for it takes a twentieth of its time. Set before the
# imports, which make most of it.
gc.set_threshold(100_000)

_START_SECONDS = 0.03  # of Python itself, until a clock can be read
_MORE_SECONDS = 0.1  # for the way to the warm process and back


def program() -> None:
    """Run the command line of this process."""
    from memolith.clock import monotonic

    if sys.argv[1:2] in (["context"], ["session-start"]):
        from memolith.cli import hooks

        hooks.Process.began = monotonic() - _START_SECONDS
        if has_answered(sys.argv[1:]):
            sys.stdout.flush()
            os._exit(0)  # as `main.program` ends, which says why
    from memolith.cli.main import program as run

    run()


def has_answered(words: Sequence[str]) -> bool:
    """Whether a running process has answered the hook of this command line, and it was printed."""
    from memolith.cli import hooks, output
    from memolith.config.load import open_profile
    from memolith.errors import MemolithError
    from memolith.hosts import local_socket

    named = _options(words)
    hook_text = hooks.waiting_text() if named is not None else ""
    hook = hooks.read_hook(hook_text)
    if named is None or hook is None or hook.by_sub_agent:
        return False
    root, seconds = named.get("--root"), hooks.seconds_left()
    folder = hook.folder if hook.folder and not root else None
    try:
        profile, loaded = open_profile(root, named.get("--profile"), cwd=folder, use_default=True)
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
    plain = ["context"] if words[0] == "context" else ["session-start", "--hook"]
    match words[len(plain) :]:
        case [] if words == plain:
            return {}
        case ["--root" | "--profile" as name, value] if words == [*plain, name, value]:
            return {name: value}
    return None
