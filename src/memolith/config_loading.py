"""Arguments > environment > profile file > user file > defaults, with the origin of each value."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping

from memolith.config import DEFAULTS, SECTIONS, SETTINGS, Config, value_of, with_values
from memolith.config_file import line_of, read_toml
from memolith.config_values import (
    ARGUMENT,
    ENVIRONMENT,
    SEE_ALL,
    check_trust,
    checked,
    known_setting,
    nearest,
    shown,
    shown_name,
)
from memolith.errors import ConfigError
from memolith.profile import Environment, Profile, resolve
from memolith.settings import ENVIRONMENT_PREFIX, Value

Origins = Mapping[str, str]
RawValues = Iterator[tuple[str, object]]

DEFAULT = "default"

# Variables of ours that are not settings.
OTHER_VARIABLES = ("MEMOLITH_ROOT", "MEMOLITH_HOME", "MEMOLITH_PROFILE", "MEMOLITH_DEBUG")


class LoadedConfig:
    """The settings, where the value of each came from, and what in the files was left out."""

    __slots__ = ("config", "origins", "problems")

    def __init__(
        self, *, config: Config, origins: Origins, problems: tuple[ConfigError, ...] = ()
    ) -> None:
        """Take them."""
        self.config = config
        self.origins = origins
        self.problems = problems


def open_profile(  # noqa: PLR0913 — where one stands, and three ways to name a memory
    root: str | os.PathLike[str] | None = None,
    profile: str | None = None,
    settings: Mapping[str, object] | None = None,
    *,
    environ: Mapping[str, str] | None = None,
    cwd: str | None = None,
    create: bool = False,
    lenient: bool = False,
    use_default: bool = False,
) -> tuple[Profile, LoadedConfig]:
    """Find the profile and load its settings; see `profile.resolve` for `create` and `use_default`.

    With `lenient`, what is wrong in a settings file is left out and noted: for those who mend it.
    """
    environ = os.environ if environ is None else environ
    environment = Environment(
        cwd=_current_folder() if cwd is None else os.path.abspath(cwd),
        user_home=os.path.normpath(environ.get("HOME") or os.path.expanduser("~")),
        memolith_home=environ.get("MEMOLITH_HOME"),
        memolith_root=environ.get("MEMOLITH_ROOT"),
        memolith_profile=environ.get("MEMOLITH_PROFILE"),
    )
    # Before anything is looked for: a misspelt MEMOLITH_ROT must not lead to the wrong memory.
    variables = dict(_environment_values(environ))
    found = resolve(
        None if root is None else os.fspath(root),
        profile,
        environment,
        create=create,
        use_default=use_default,
    )
    return found, _load(found, variables, settings or {}, lenient=lenient)


def reload_settings(
    profile: Profile, before: LoadedConfig, settings: Mapping[str, object]
) -> tuple[LoadedConfig, list[str], list[str]]:
    """The settings as they are now, and the names of those that changed: at once, after a restart.

    What needs a restart keeps its value until then.
    """
    now = _load(profile, dict(_environment_values(os.environ)), settings)
    changed = [
        name for name in SETTINGS if value_of(now.config, name) != value_of(before.config, name)
    ]
    restart = [name for name in changed if SETTINGS[name].restart]
    values = {
        name: value_of((before if name in restart else now).config, name) for name in SETTINGS
    }
    loaded = LoadedConfig(config=with_values(values), origins=now.origins)
    return loaded, [name for name in changed if name not in restart], restart


def _current_folder() -> str:
    try:
        return os.getcwd()
    except FileNotFoundError:
        return ""


def _load(
    profile: Profile,
    variables: Mapping[str, object],
    settings: Mapping[str, object],
    *,
    lenient: bool = False,
) -> LoadedConfig:
    values: dict[str, Value] = {}
    origins = dict.fromkeys(SETTINGS, DEFAULT)
    problems: list[ConfigError] = []
    files = (profile.user_settings_file, profile.settings_file)
    layers: tuple[tuple[str, Iterable[tuple[str, object]]], ...] = (
        *((file, _file_values(file, problems)) for file in files),
        (ENVIRONMENT, variables.items()),
        (ARGUMENT, settings.items()),
    )
    for origin, layer in layers:
        for name, raw in layer:
            try:
                values[name] = _taken(name, raw, origin, profile)
                origins[name] = origin
            except ConfigError as error:
                if origin not in files:
                    raise
                problems.append(error)
        if problems and not lenient:
            raise _mendable(problems[0], profile)
    return LoadedConfig(
        config=with_values(values) if values else DEFAULTS,
        origins=origins,
        problems=tuple(_mendable(problem, profile) for problem in problems),
    )


def _taken(name: str, raw: object, origin: str, profile: Profile) -> Value:
    """The value of a setting, if it may come from there and is what the setting takes."""
    setting = known_setting(name, origin)
    if origin == profile.settings_file:
        check_trust(setting, profile)
    return checked(setting, raw, origin)


def placed(problem: ConfigError) -> str:
    """The problem with the line of its file, where that can be told."""
    line = line_of(problem.origin, problem.setting) if problem.setting else None
    return f"{problem.message} (line {line})" if line else problem.message


def _mendable(problem: ConfigError, profile: Profile) -> ConfigError:
    """The problem, with the command that takes it out of its file, if nothing better is known."""
    harmless = problem.setting and shown_name(problem.setting) == problem.setting
    if harmless and problem.hint in ("", SEE_ALL):
        import shlex  # only needed once something is wrong

        user = " --user" if problem.origin == profile.user_settings_file else ""
        out = f"Take it out: memolith config unset {shlex.quote(problem.setting)}{user}"
        problem.hint = f"{out}; {SEE_ALL.lower()}" if problem.hint else out
    return problem


def settings_from_flags(flags: Iterable[str]) -> dict[str, str]:
    """The settings of `--set section.key=value`, each flag one of them; the last one wins.

    >>> settings_from_flags(["trim.max_records=500"])
    {'trim.max_records': '500'}
    """
    settings = {}
    for flag in flags:
        name, equals, value = flag.partition("=")
        if not equals:
            raise ConfigError(
                f"--set {shown(flag)} has no value",
                setting=name,
                origin=ARGUMENT,
                hint="Write it as: --set section.key=value",
            )
        settings[name.strip()] = value
    return settings


def key_from(reference: str, setting: str) -> str:
    """The key that a setting of the form `env:NAME` points to; "" without one."""
    name = reference.removeprefix("env:")
    if not name:
        return ""
    key = os.environ.get(name, "")
    if not key:
        raise ConfigError(
            f"The variable {name} holds no key.",
            setting=setting,
            origin=ENVIRONMENT,
            hint=f"Set {name}, or {setting} to another variable.",
        )
    return key


def _environment_values(environ: Mapping[str, str]) -> RawValues:
    for variable in environ:
        if not variable.startswith(ENVIRONMENT_PREFIX) or variable in OTHER_VARIABLES:
            continue
        name = variable.removeprefix(ENVIRONMENT_PREFIX).replace("__", ".").lower()
        if name in SETTINGS and SETTINGS[name].variable == variable:
            yield name, environ[variable]
        else:
            _refuse_misspelt(variable)


def _refuse_misspelt(variable: str) -> None:
    """A variable that looks like one of ours is an error; others may have their own use."""
    known = [*OTHER_VARIABLES, *(setting.variable for setting in SETTINGS.values())]
    # Without the prefix, which would make everything look alike.
    names = [name.removeprefix(ENVIRONMENT_PREFIX) for name in known]
    near = nearest(variable.removeprefix(ENVIRONMENT_PREFIX), names, alike=0.75)
    if near or "__" in variable:
        raise ConfigError(
            f"Unknown variable {shown_name(variable)} ({ENVIRONMENT})",
            setting=variable,
            origin=ENVIRONMENT,
            hint=f"Did you mean {ENVIRONMENT_PREFIX}{near}?" if near else SEE_ALL,
        )


def _file_values(path: str, problems: list[ConfigError]) -> RawValues:
    """What the file says, section by section; what cannot be taken so is added to `problems`."""
    try:
        tables = read_toml(path)
    except ConfigError as error:
        problems.append(error)
        return
    for section, table in tables.items():
        if section not in SECTIONS:
            problems.append(_unknown_in_file(section, table, path))
        elif not isinstance(table, dict):
            problems.append(
                ConfigError(
                    f"{section} = {shown(table)} ({path}): expected a section [{section}]",
                    setting=section,
                    origin=path,
                )
            )
        else:
            for key, raw in table.items():
                yield f"{section}.{key}", raw


def _unknown_in_file(name: str, value: object, path: str) -> ConfigError:
    if isinstance(value, dict):
        what, near = f"section [{shown_name(name)}]", nearest(name, SECTIONS)
        near = near and f"[{near}]"
    else:
        what, near = f"setting {shown_name(name)}", nearest(name, SETTINGS)
    hint = f"Did you mean {near}?" if near else SEE_ALL
    return ConfigError(f"Unknown {what} ({path})", setting=name, origin=path, hint=hint)
