"""`memolith service`: what makes systemd or launchd keep `memolith serve` running."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Mapping, Sequence

from memolith.cli import output
from memolith.cli.opening import open_memory
from memolith.cli.usage import Arguments, UsageError

HELP = """\
Print a unit that keeps `memolith serve` running for this memory, for the user who is logged in. One for
systemd belongs into ~/.config/systemd/user/memolith.service, then: systemctl --user enable --now memolith.
One for launchd belongs into ~/Library/LaunchAgents/memolith.plist, then: launchctl load -w with that file."""
EXAMPLE = """\
memolith service systemd > ~/.config/systemd/user/memolith.service
memolith service launchd > ~/Library/LaunchAgents/memolith.plist"""

_PLACES = {
    "systemd": "~/.config/systemd/user/memolith.service",
    "launchd": "~/Library/LaunchAgents/memolith.plist",
}
# Namespaces of mounts are left out: not every kernel gives them to users, and a memory may be anywhere.
_UNIT = """\
[Unit]
Description=Memolith, long-term memory for AI agents

[Service]
ExecStart={command}
{environment}Restart=on-failure
RestartSec=5
NoNewPrivileges=yes
LockPersonality=yes
RestrictRealtime=yes
RestrictNamespaces=yes
RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK

[Install]
WantedBy=default.target
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Describe its arguments."""
    parser.add_argument(
        "manager", metavar="MANAGER", choices=tuple(_PLACES), help="systemd or launchd"
    )


def run(args: Arguments) -> int:
    """Print the unit."""
    command = [*_program(), "serve", "--root", _root(args)]
    for setting in args.set:
        command += ["--set", setting]
    home = os.environ.get("MEMOLITH_HOME")
    environment = {"MEMOLITH_HOME": os.path.abspath(home)} if home else {}
    write = systemd_unit if args.manager == "systemd" else launchd_unit
    unit = write(command, environment)
    if args.json:
        place = os.path.expanduser(_PLACES[args.manager])
        output.say_json({"manager": args.manager, "file": place, "unit": unit})
    else:
        output.write(unit)
    return 0


def systemd_unit(command: Sequence[str], environment: Mapping[str, str]) -> str:
    """A user unit of systemd that runs `command`."""
    program, *words = map(_quoted, command)
    # Only behind the program does systemd take $NAME for a variable.
    line = " ".join([program, *(word.replace("$", "$$") for word in words)])
    given = "".join(
        f"Environment={_quoted(f'{name}={value}')}\n" for name, value in environment.items()
    )
    return _UNIT.format(command=line, environment=given)


def launchd_unit(command: Sequence[str], environment: Mapping[str, str]) -> str:
    """A property list of launchd that runs `command`."""
    import plistlib

    content = {
        "Label": "memolith",
        "ProgramArguments": list(command),
        "EnvironmentVariables": dict(environment),
        "RunAtLoad": True,
        "KeepAlive": {"SuccessfulExit": False},
        "StandardErrorPath": os.path.expanduser("~/Library/Logs/memolith.log"),
    }
    try:
        return plistlib.dumps(content, sort_keys=False).decode()
    except ValueError as error:
        raise UsageError(
            "A path or setting holds characters that a property list cannot.",
            hint="Rename the folder.",
        ) from error


def _program() -> list[str]:
    """The installed command; without one beside our Python, that Python itself."""
    beside = os.path.join(os.path.dirname(sys.executable), "memolith")
    return [beside] if os.access(beside, os.X_OK) else [sys.executable, "-m", "memolith"]


def _root(args: Arguments) -> str:
    with open_memory(args) as memory:
        if not memory.profile.trusted:  # naming it in a unit would trust its settings
            raise UsageError(
                f"The memory of this folder was not named: {memory.root!a}",
                hint="Add --root . if you trust its memolith.toml, or --profile NAME.",
            )
        return memory.root


def _quoted(word: str) -> str:
    """One word of a unit; quotes, % and what cannot be printed would mean something else."""
    return '"' + "".join(map(_spelled, word)) + '"'


def _spelled(char: str) -> str:
    if char in '\\"':
        return f"\\{char}"
    if char == "%":
        return "%%"
    if char.isprintable():
        return char
    return "".join(f"\\x{byte:02x}" for byte in os.fsencode(char))
