"""Arguments > environment > profile file > user file > defaults, with the origin of each value."""

from __future__ import annotations

import math
import os

from memolith.config import DEFAULTS, SECTIONS, SETTINGS, value_of, with_values
from memolith.config_file import line_of, read_toml
from memolith.errors import ConfigError
from memolith.profile import Surroundings, resolve
from memolith.settings import ENVIRONMENT_PREFIX

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from typing import TypeGuard

    from memolith.config import Config
    from memolith.profile import Profile
    from memolith.settings import Setting, Value

    Origins = Mapping[str, str]
    RawValues = Iterator[tuple[str, object]]

DEFAULT = "default"
ARGUMENT = "argument"  # --set on the command line, or Memory(settings=…)
ENVIRONMENT = "environment"

SEE_ALL = "See all settings: memolith config show"

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
) -> tuple[Profile, LoadedConfig]:
    """Find the profile and load its settings; see `profile.resolve` for `create`.

    With `lenient`, what is wrong in a settings file is left out and noted: for those who mend it.
    """
    environ = os.environ if environ is None else environ
    around = Surroundings(
        cwd=_current_folder() if cwd is None else os.path.abspath(cwd),
        user_home=os.path.normpath(environ.get("HOME") or os.path.expanduser("~")),
        memolith_home=environ.get("MEMOLITH_HOME"),
        memolith_root=environ.get("MEMOLITH_ROOT"),
        memolith_profile=environ.get("MEMOLITH_PROFILE"),
    )
    # Before anything is looked for: a misspelt MEMOLITH_ROT must not lead to the wrong memory.
    variables = dict(_environment_values(environ))
    found = resolve(None if root is None else os.fspath(root), profile, around, create=create)
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
                setting = known_setting(name, origin)
                if origin == profile.settings_file:
                    check_trust(setting, profile)
                values[name] = checked(setting, raw, origin)
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


def placed(problem: ConfigError) -> str:
    """The problem with the line of its file, where that can be told."""
    line = line_of(problem.origin, problem.setting) if problem.setting else None
    return f"{problem.message} (line {line})" if line else problem.message


def _mendable(problem: ConfigError, profile: Profile) -> ConfigError:
    """The problem, with the command that takes it out of its file, if nothing better is known."""
    harmless = problem.setting and _shown_name(problem.setting) == problem.setting
    if harmless and problem.hint in ("", SEE_ALL):
        import shlex  # only needed once something is wrong

        user = " --user" if problem.origin == profile.user_settings_file else ""
        out = f"Take it out: memolith config unset {shlex.quote(problem.setting)}{user}"
        problem.hint = f"{out}; {SEE_ALL.lower()}" if problem.hint else out
    return problem


def known_setting(name: str, origin: str) -> Setting:
    """The setting with this full name; an unknown one is an error that suggests the nearest."""
    setting = SETTINGS.get(name)
    if setting is None:
        nearest = _nearest(name, SETTINGS)
        raise ConfigError(
            f"Unknown setting {_shown_name(name)} ({origin})",
            setting=name,
            origin=origin,
            hint=f"Did you mean {nearest}?" if nearest else SEE_ALL,
        )
    return setting


def check_trust(setting: Setting, profile: Profile) -> None:
    """Refuse a setting that a file found in a project folder may not decide."""
    if setting.trusted_only and not profile.trusted:
        raise ConfigError(
            f"{setting.name} may not be set by a file found in a project folder"
            f" ({profile.settings_file})",
            setting=setting.name,
            origin=profile.settings_file,
            hint=f"Set it in {profile.user_settings_file} or as {setting.variable},"
            f" or name the folder: --root {profile.root}",
        )


def checked(setting: Setting, raw: object, origin: str) -> Value:
    """The value in the setting's type and within its limits; a bool is not a number.

    A file says 5 or "5" as it means it; environment and arguments may give any type as text.
    """
    value = raw
    if isinstance(raw, str) and origin in (ENVIRONMENT, ARGUMENT):
        value = _read_text(setting, raw)
    # Above 2**53 a float no longer holds every whole number, and float() may overflow.
    if setting.kind is float and type(value) is int and abs(value) < 2**53:
        value = float(value)
    if _is_of_kind(value, setting) and (setting.must is None or setting.must.holds(value)):
        return value
    raise ConfigError(
        f"{setting.name} = {_shown(raw)} ({origin}): expected {setting.expected}",
        setting=setting.name,
        origin=origin,
        hint=_meant(raw, setting),
    )


def _meant(raw: object, setting: Setting) -> str:
    """The word that was misspelt, if the value is made of known ones."""
    choices = setting.must.choices if setting.must else ()
    for word in str(raw).split(","):
        nearest = _nearest(word.strip(), choices)
        if nearest and nearest != word.strip():
            return f"Did you mean {nearest}?"
    return ""


_BOOLEANS = {"true": True, "yes": True, "on": True, "1": True}
_BOOLEANS |= {"false": False, "no": False, "off": False, "0": False}


def _read_text(setting: Setting, text: str) -> Value:
    """Text as the setting's type where it can be read so; otherwise the text, to be refused."""
    try:
        if setting.kind is bool:
            return _BOOLEANS.get(text.lower(), text)
        return setting.kind(text)
    except ValueError:
        return text


def _is_of_kind(value: object, setting: Setting) -> TypeGuard[Value]:
    return type(value) is setting.kind and (not isinstance(value, float) or math.isfinite(value))


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
                f"--set {_shown(flag)} has no value",
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
    nearest = _nearest(variable.removeprefix(ENVIRONMENT_PREFIX), names, alike=0.75)
    if nearest or "__" in variable:
        raise ConfigError(
            f"Unknown variable {_shown_name(variable)} ({ENVIRONMENT})",
            setting=variable,
            origin=ENVIRONMENT,
            hint=f"Did you mean {ENVIRONMENT_PREFIX}{nearest}?" if nearest else SEE_ALL,
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
                    f"{section} = {_shown(table)} ({path}): expected a section [{section}]",
                    setting=section,
                    origin=path,
                )
            )
        else:
            for key, raw in table.items():
                yield f"{section}.{key}", raw


def _unknown_in_file(name: str, value: object, path: str) -> ConfigError:
    if isinstance(value, dict):
        what, nearest = f"section [{_shown_name(name)}]", _nearest(name, SECTIONS)
        nearest = nearest and f"[{nearest}]"
    else:
        what, nearest = f"setting {_shown_name(name)}", _nearest(name, SETTINGS)
    hint = f"Did you mean {nearest}?" if nearest else SEE_ALL
    return ConfigError(f"Unknown {what} ({path})", setting=name, origin=path, hint=hint)


def _nearest(word: str, words: Iterable[str], alike: float = 0.6) -> str:
    import difflib  # only needed once something is wrong

    return next(iter(difflib.get_close_matches(word[:80], list(words), n=1, cutoff=alike)), "")


def _shown(value: object) -> str:
    import reprlib  # cuts what is long or deep, which a hostile file may be

    short = reprlib.Repr()
    short.maxstring = short.maxother = short.maxlong = 80
    return short.repr(value)


def _shown_name(name: str) -> str:
    return name if name.isprintable() and len(name) <= 80 else _shown(name)
