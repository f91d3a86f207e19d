"""`memolith config`: show settings, where they come from, and change them."""

from __future__ import annotations

from dataclasses import asdict

import click

from memolith.cli import exit_codes, output
from memolith.cli.exit_codes import UsageError
from memolith.cli.options import Call, Group, flag, suggestion
from memolith.config.load import LoadedConfig, known_setting, settings_from_flags, with_line
from memolith.config.sections import SCHEDULED, SECTIONS, SETTINGS, setting_value
from memolith.config.setting import ARGUMENT, toml_value
from memolith.profile import Profile
from memolith.reports import SettingChange, SettingProblem, Settings, SettingValue

_ORIGIN = flag("--origin", help="also where each value comes from")
_USER = flag("--user", help="for all of your profiles")
_KEY = click.argument("key", help="such as trim.max_records")


@click.group("config", cls=Group, subcommand_metavar="ACTION ...")
def config() -> None:
    """Show settings and change them.

    A change goes to the memolith.toml of the profile, or with --user to the file for all of your profiles. A
    value is checked before it is written.

    Examples:
        memolith config show
        memolith config show trim --origin
        memolith config show --changed
        memolith config get trim.max_records
        memolith config set trim.max_records 500
        memolith config set profile.timezone Europe/Madrid --user
        memolith config unset trim.max_records
        memolith config path
    """


def _load(call: Call, *, writes: bool = False) -> tuple[Profile, LoadedConfig]:
    """Leave out what is wrong in the files: how else could one look at it here, and mend it."""
    return call.load(settings_from_flags(call.set), lenient=True, use_default=not writes)


def _say_problems(call: Call, loaded: LoadedConfig) -> int:
    """Say what is wrong in the files; a caller that only reads learns it by the exit code too."""
    for problem in loaded.problems:
        output.warn(with_line(problem))
        output.note(call.here(problem.hint))
    return exit_codes.kind_of(loaded.problems[0])[1] if loaded.problems else exit_codes.OK


def _setting(loaded: LoadedConfig, name: str) -> SettingValue:
    return setting_value(loaded.config, loaded.origins, name)


def _assignment(setting: SettingValue) -> str:
    return f"{setting.name} = {toml_value(setting.value)}"


@config.command()
@click.argument("section", required=False, help="only this section, such as search")
@_ORIGIN
@flag("--changed", help="only what differs from the defaults")
@click.pass_obj
def show(call: Call, section: str | None, origin: bool, changed: bool) -> int:
    """Show every setting with its value, by section."""
    if section is not None and section not in SECTIONS:
        raise UsageError(f"{section!a} is not a section.", hint=suggestion(section, SECTIONS))
    _, loaded = _load(call)
    every = (_setting(loaded, name) for name in SETTINGS)
    chosen = tuple(
        one
        for one in every
        if section in (None, one.name.partition(".")[0])
        and not (changed and one.value == one.default)
    )
    problems = tuple(
        SettingProblem(
            name=one.setting, file=one.origin, message=with_line(one), hint=call.here(one.hint)
        )
        for one in loaded.problems
    )
    if call.prints_json(Settings(settings=chosen, problems=problems)):
        return _say_problems(call, loaded)
    part = ""
    for one in chosen:
        if part != (part := one.name.partition(".")[0]):
            output.say(output.bold(f"[{part}]"))
        output.say(_assignment(one), output.dim(f"  {one.origin}" if origin else ""))
        output.paragraph("    ", one.doc, body=output.dim)
    if not chosen:
        output.note("Every setting has its default.")
    return _say_problems(call, loaded)


@config.command()
@_KEY
@_ORIGIN
@click.pass_obj
def get(call: Call, key: str, origin: bool) -> int:
    """Print the value of one setting."""
    _, loaded = _load(call)
    known_setting(key, ARGUMENT)
    found = _setting(loaded, key)
    if call.prints_json(found):
        pass
    elif origin:
        output.table([[_assignment(found), found.origin]])
    else:  # bare, for scripts
        output.say(found.value if isinstance(found.value, str) else toml_value(found.value))
    return _say_problems(call, loaded)


@config.command("set")
@_KEY
@click.argument("value", help="true, false, a number or text")
@_USER
@click.pass_obj
def set_(call: Call, key: str, value: str, user: bool) -> None:
    """Write a setting into its file."""
    from memolith.config.edit import set_setting
    from memolith.files.transaction import rewrite_file

    profile, loaded = _load(call, writes=not user)
    change = set_setting(profile, key, value, for_user=user)
    rewrite_file(change.path, change.apply, loaded.config.store)
    written, file = SETTINGS[key].check(value, ARGUMENT), change.path
    _, loaded = _load(call)
    now = _setting(loaded, key)
    if not call.prints_json(SettingChange(**asdict(now), written=written, file=file)):
        output.say(output.bold("Set"), f"  {key} = {toml_value(written)}  in {file}")
        if now.origin != file:
            output.note(f"Not in effect here, because of: {now.origin}")
            output.note(f"There it says: {_assignment(now)}")
        elif written is True and key.removesuffix(".enabled") in SCHEDULED:
            output.note("It runs when it is due, while memolith mcp, memolith serve or memolith maintain runs.")  # fmt: skip
        elif now.restart:
            output.note("It takes effect when a server is restarted.")
    _say_problems(call, loaded)


@config.command()
@_KEY
@_USER
@click.pass_obj
def unset(call: Call, key: str, user: bool) -> None:
    """Take a setting out of its file."""
    from memolith.config.edit import unset_setting
    from memolith.files.transaction import rewrite_file

    profile, loaded = _load(call, writes=not user)
    change = unset_setting(profile, key, for_user=user)
    removed, file = rewrite_file(change.path, change.apply, loaded.config.store), change.path
    _, loaded = _load(call)
    now = _setting(loaded, key) if key in SETTINGS else None
    known = now.to_dict() if now else {"name": key}
    if call.prints_json({**known, "removed": removed, "file": file}):
        pass
    elif removed:
        output.say(output.bold("Unset"), f"  {key}  in {file}")
        if now:
            output.say(f"It is now: {_assignment(now)}  ({now.origin})")
    else:
        output.note(f"{key} is not set in {file}; it comes from: {loaded.origins[key]}")
    _say_problems(call, loaded)


@config.command()
@click.pass_obj
def path(call: Call) -> None:
    """Print the two files that settings are read from."""
    profile, loaded = _load(call)
    files = {"profile": profile.settings_file, "user": profile.user_settings_file}
    if not call.prints_json(files):
        output.table(files.items())
    _say_problems(call, loaded)
