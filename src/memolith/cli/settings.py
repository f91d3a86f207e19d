"""`memolith config`: show settings, where they come from, and change them."""

from __future__ import annotations

import click

from memolith.cli import exit_codes, output
from memolith.cli.exit_codes import UsageError
from memolith.cli.options import Call, Group, suggestion
from memolith.config.load import (
    LoadedConfig,
    known_setting,
    open_profile,
    settings_from_flags,
    with_line,
)
from memolith.config.sections import SCHEDULED, SECTIONS, SETTINGS, value_of
from memolith.config.setting import ARGUMENT, toml_value
from memolith.profile import Profile

config = Group(
    "config",
    help="""Show settings and change them.

    A change goes to the memolith.toml of the profile, or with --user to the file for all of your profiles. A
    value is checked before it is written.
    """,
    subcommand_metavar="ACTION ...",
)
config.examples = """\
memolith config show
memolith config show trim --origin
memolith config show --changed
memolith config get trim.max_records
memolith config set trim.max_records 500
memolith config set profile.timezone Europe/Madrid --user
memolith config unset trim.max_records
memolith config path"""
_ORIGIN = click.option("--origin", is_flag=True, help="also where each value comes from")
_USER = click.option("--user", is_flag=True, help="for all of your profiles")
_KEY = click.argument("key", help="such as trim.max_records")


def _load(call: Call, *, writes: bool = False) -> tuple[Profile, LoadedConfig]:
    """Leave out what is wrong in the files: how else could one look at it here, and mend it."""
    return open_profile(
        call.root,
        call.profile,
        settings_from_flags(call.set),
        lenient=True,
        use_default=not writes,
    )


def _say_problems(call: Call, loaded: LoadedConfig) -> int:
    """Say what is wrong in the files; a caller that only reads learns it by the exit code too."""
    for problem in loaded.problems:
        output.warn(with_line(problem))
        output.note(call.here(problem.hint))
    return exit_codes.kind_of(loaded.problems[0])[1] if loaded.problems else exit_codes.OK


def _setting_json(loaded: LoadedConfig, name: str) -> dict[str, object]:
    return {
        "name": name,
        "value": value_of(loaded.config, name),
        "origin": loaded.origins[name],
        "default": SETTINGS[name].default,
        "doc": SETTINGS[name].doc,
    }


def _assignment(loaded: LoadedConfig, name: str) -> str:
    return f"{name} = {toml_value(value_of(loaded.config, name))}"


@config.command()
@click.argument("section", required=False, help="only this section, such as search")
@_ORIGIN
@click.option("--changed", is_flag=True, help="only what differs from the defaults")
@click.pass_obj
def show(call: Call, section: str | None, origin: bool, changed: bool) -> int:
    """Show every setting with its value, by section."""
    if section is not None and section not in SECTIONS:
        raise UsageError(f"{section!a} is not a section.", hint=suggestion(section, SECTIONS))
    profile, loaded = _load(call)
    call.warn_of_unapproved(profile)
    names = [
        name
        for name in SETTINGS
        if section in (None, name.partition(".")[0])
        and not (changed and value_of(loaded.config, name) == SETTINGS[name].default)
    ]
    if call.json:
        problems = [
            {
                "name": problem.setting,
                "file": problem.origin,
                "message": with_line(problem),
                "hint": call.here(problem.hint),
            }
            for problem in loaded.problems
        ]
        settings = [_setting_json(loaded, name) for name in names]
        output.say_json({"settings": settings, "problems": problems})
        return _say_problems(call, loaded)
    for part in SECTIONS:
        own = [name for name in names if name.partition(".")[0] == part]
        if own:
            output.say(output.bold(f"[{part}]"))
        for name in own:
            source = f"  {loaded.origins[name]}" if origin else ""
            output.say(_assignment(loaded, name), output.dim(source))
            output.paragraph("    ", SETTINGS[name].doc, body=output.dim)
    if not names:
        output.note("Every setting has its default.")
    return _say_problems(call, loaded)


@config.command()
@_KEY
@_ORIGIN
@click.pass_obj
def get(call: Call, key: str, origin: bool) -> int:
    """Print the value of one setting."""
    profile, loaded = _load(call)
    call.warn_of_unapproved(profile)
    known_setting(key, ARGUMENT)
    value = value_of(loaded.config, key)
    if call.json:
        output.say_json(_setting_json(loaded, key))
    elif origin:
        output.table([[_assignment(loaded, key), loaded.origins[key]]])
    else:
        output.say(value if isinstance(value, str) else toml_value(value))  # bare, for scripts
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
    call.warn_of_unapproved(profile)
    change = set_setting(profile, key, value, for_user=user)
    rewrite_file(change.path, change.apply, loaded.config.store)
    written, file = SETTINGS[key].check(value, ARGUMENT), change.path
    _, now = _load(call)
    if call.json:
        output.say_json({**_setting_json(now, key), "written": written, "file": file})
    else:
        output.say(output.bold("Set"), f"  {key} = {toml_value(written)}  in {file}")
        if now.origins[key] != file:
            output.note(f"Not in effect here, because of: {now.origins[key]}")
            output.note(f"There it says: {_assignment(now, key)}")
        elif written is True and key.removesuffix(".enabled") in SCHEDULED:
            output.note(
                "It runs when it is due, while memolith mcp, memolith serve or memolith maintain runs."
            )
        elif SETTINGS[key].restart:
            output.note("A server that is running takes it when it is started again.")
    _say_problems(call, now)


@config.command()
@_KEY
@_USER
@click.pass_obj
def unset(call: Call, key: str, user: bool) -> None:
    """Take a setting out of its file."""
    from memolith.config.edit import unset_setting
    from memolith.files.transaction import rewrite_file

    profile, loaded = _load(call, writes=not user)
    call.warn_of_unapproved(profile)
    change = unset_setting(profile, key, for_user=user)
    removed, file = rewrite_file(change.path, change.apply, loaded.config.store), change.path
    _, now = _load(call)
    known = key in SETTINGS
    if call.json:
        setting = _setting_json(now, key) if known else {"name": key}
        output.say_json({**setting, "removed": removed, "file": file})
    elif removed:
        output.say(output.bold("Unset"), f"  {key}  in {file}")
        if known:
            output.say(f"It is now: {_assignment(now, key)}  ({now.origins[key]})")
    else:
        output.note(f"{key} is not set in {file}; it comes from: {now.origins[key]}")
    _say_problems(call, now)


@config.command()
@click.pass_obj
def path(call: Call) -> None:
    """Print the two files that settings are read from."""
    profile, loaded = _load(call)
    call.warn_of_unapproved(profile)
    files = {"profile": profile.settings_file, "user": profile.user_settings_file}
    if call.json:
        output.say_json(files)
    else:
        output.table(files.items())
    _say_problems(call, loaded)
