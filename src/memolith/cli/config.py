"""`memolith config`: see settings and where they come from, and change them."""

from __future__ import annotations

import argparse

from memolith.cli import exit_codes, output
from memolith.cli.opening import here, warn_of_unapproved
from memolith.cli.usage import Arguments
from memolith.config.load import (
    LoadedConfig,
    known_setting,
    open_profile,
    settings_from_flags,
    with_line,
)
from memolith.config.sections import SCHEDULED, SETTINGS, value_of
from memolith.config.setting import ARGUMENT, toml_value
from memolith.errors import ConfigError
from memolith.mcp_server.json_shapes import Json
from memolith.profile import Profile

HELP = """\
Show settings, and with --origin where each value comes from; or change one, in the memolith.toml of
the profile, or with --user for all of your profiles. A value is checked before it is written."""
_RUNS_WHILE = (
    "It runs when it is due, while memolith mcp, memolith serve or memolith maintain runs."
)
_AFTER_A_RESTART = "A server that is running takes it when it is started again."
EXAMPLE = """\
memolith config show --origin
memolith config get trim.max_records
memolith config set trim.max_records 500
memolith config set profile.timezone Europe/Madrid --user
memolith config unset trim.max_records
memolith config path"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Describe the actions and their arguments."""
    actions = parser.add_subparsers(
        dest="action", metavar="ACTION", required=True, prog=parser.prog
    )
    show = actions.add_parser("show", help="every setting")
    show.add_argument("--origin", action="store_true", help="also where each value comes from")
    get = actions.add_parser("get", help="KEY: the value of one setting")
    get.add_argument("--origin", action="store_true", help="also where the value comes from")
    change = actions.add_parser("set", help="KEY VALUE: write a setting into its file")
    unset = actions.add_parser("unset", help="KEY: take a setting out of its file")
    for action in (get, change, unset):
        action.add_argument("key", metavar="KEY", help="such as trim.max_records")
    change.add_argument("value", metavar="VALUE", help="true, false, a number or text")
    for action in (change, unset):
        action.add_argument("--user", action="store_true", help="for all of your profiles")
    actions.add_parser("path", help="the two files that settings are read from")


def run(args: Arguments) -> int:
    """Do the action."""
    profile, loaded = _open(args)
    warn_of_unapproved(profile)
    if args.action == "show":
        _show(args, loaded)
    elif args.action == "get":
        _get(args, loaded)
    elif args.action == "set":
        _set(args, profile, loaded)
    elif args.action == "unset":
        _unset(args, profile, loaded)
    else:
        _path(args, profile)
    return _tell_problems(args)


def _open(args: Arguments) -> tuple[Profile, LoadedConfig]:
    """What is wrong in the files is left out: how else could one look at it here, and mend it."""
    return open_profile(
        args.root,
        args.profile,
        settings_from_flags(args.set),
        lenient=True,
        use_default=args.action not in ("set", "unset") or args.user,
    )


def _tell_problems(args: Arguments) -> int:
    """Say what is wrong in the files now; who only reads learns it by the exit code too."""
    _, loaded = _open(args)
    for problem in loaded.problems:
        output.note(f"memolith: {with_line(problem)}")
        output.note(here(args, problem.hint))
    if not loaded.problems or args.action not in ("show", "get"):
        return exit_codes.OK
    return exit_codes.kind_of(loaded.problems[0])[1]


def _show(args: Arguments, loaded: LoadedConfig) -> None:
    if args.json:
        problems = [_problem_json(args, problem) for problem in loaded.problems]
        settings = [_setting_json(loaded, name) for name in SETTINGS]
        output.say_json({"settings": settings, "problems": problems})
    elif args.origin:
        output.table([_line(loaded, name), loaded.origins[name]] for name in SETTINGS)
    else:
        for name in SETTINGS:
            output.say(_line(loaded, name))


def _problem_json(args: Arguments, problem: ConfigError) -> Json:
    return {
        "name": problem.setting,
        "file": problem.origin,
        "message": with_line(problem),
        "hint": here(args, problem.hint),
    }


def _setting_json(loaded: LoadedConfig, name: str) -> Json:
    return {
        "name": name,
        "value": value_of(loaded.config, name),
        "origin": loaded.origins[name],
        "default": SETTINGS[name].default,
        "doc": SETTINGS[name].doc,
    }


def _line(loaded: LoadedConfig, name: str) -> str:
    return f"{name} = {toml_value(value_of(loaded.config, name))}"


def _get(args: Arguments, loaded: LoadedConfig) -> None:
    known_setting(args.key, ARGUMENT)
    value = value_of(loaded.config, args.key)
    if args.json:
        output.say_json(_setting_json(loaded, args.key))
    elif args.origin:
        output.table([[_line(loaded, args.key), loaded.origins[args.key]]])
    else:
        output.say(value if isinstance(value, str) else toml_value(value))  # bare, for scripts


def _set(args: Arguments, profile: Profile, loaded: LoadedConfig) -> None:
    from memolith.config.edit import set_setting
    from memolith.files.transaction import rewrite_file

    change = set_setting(profile, args.key, args.value, for_user=args.user)
    rewrite_file(change.path, change.apply, loaded.config.store)
    value, file = SETTINGS[args.key].check(args.value, ARGUMENT), change.path
    _, now = _open(args)
    if args.json:
        output.say_json({**_setting_json(now, args.key), "written": value, "file": file})
        return
    output.say(output.bold("Set"), f"  {args.key} = {toml_value(value)}  in {file}")
    if now.origins[args.key] != file:
        output.note(f"Not in effect here, because of: {now.origins[args.key]}")
        output.note(f"There it says: {_line(now, args.key)}")
    elif value is True and args.key.removesuffix(".enabled") in SCHEDULED:
        output.note(_RUNS_WHILE)
    elif SETTINGS[args.key].restart:
        output.note(_AFTER_A_RESTART)


def _unset(args: Arguments, profile: Profile, loaded: LoadedConfig) -> None:
    from memolith.config.edit import unset_setting
    from memolith.files.transaction import rewrite_file

    change = unset_setting(profile, args.key, for_user=args.user)
    removed = rewrite_file(change.path, change.apply, loaded.config.store)
    file = change.path
    _, now = _open(args)
    known = args.key in SETTINGS
    if args.json:
        now_json = _setting_json(now, args.key) if known else {"name": args.key}
        output.say_json({**now_json, "removed": removed, "file": file})
    elif removed and not known:
        output.say(output.bold("Unset"), f"  {args.key}  in {file}")
    elif removed:
        output.say(output.bold("Unset"), f"  {args.key}  in {file}")
        output.say(f"It is now: {_line(now, args.key)}  ({now.origins[args.key]})")
    else:
        output.note(f"{args.key} is not set in {file}; it comes from: {now.origins[args.key]}")


def _path(args: Arguments, profile: Profile) -> None:
    files = {"profile": profile.settings_file, "user": profile.user_settings_file}
    if args.json:
        output.say_json(files)
    else:
        output.table(files.items())
