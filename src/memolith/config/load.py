"""Arguments > environment > profile file > user file > defaults, with the origin of each value."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from memolith.config.sections import DEFAULTS, SECTIONS, SETTINGS, Config, value_of, with_values
from memolith.config.setting import (
    ARGUMENT,
    ENVIRONMENT,
    ENVIRONMENT_PREFIX,
    Setting,
    Value,
    nearest,
    quoted,
    quoted_name,
)
from memolith.errors import ConfigError
from memolith.profile import Environment, Profile, resolve

DEFAULT = "default"
MEMORY_PLACES = ("MEMORY.md", "memory/MEMORY.md")
SEE_ALL = "See all settings: memolith config show"

# Variables of ours that are not settings.
LLM_KEY, EMBED_KEY, FSYNC = "MEMOLITH_LLM_KEY", "MEMOLITH_EMBED_KEY", "MEMOLITH_FSYNC"
OTHER_VARIABLES = (
    "MEMOLITH_ROOT", "MEMOLITH_HOME", "MEMOLITH_PROFILE", "MEMOLITH_DEBUG", LLM_KEY, EMBED_KEY, FSYNC,
)  # fmt: skip

KEYS = {"llm.key": LLM_KEY, "embed.key": EMBED_KEY}  # somebody may look for them among the settings

# tomllib needs time quadratic in the dots of one key: 64 kB of `a.a.a…` took 23 s. With both caps
# the worst file takes half a second, and no settings file of a person comes near them.
MAX_FILE_BYTES = 65_536
MAX_LINE_CHARS = 2_000


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class LoadedConfig:
    """The settings, the origin of each value, and the errors of the files that were left out."""

    config: Config
    origins: Mapping[str, str]
    problems: tuple[ConfigError, ...] = ()


def open_profile(  # noqa: PLR0913 — the surroundings, and three ways to name a memory
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

    With `lenient`, wrong lines of a settings file are left out and noted: for `config` and doctor.
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
    path = None if root is None else os.fspath(root)
    found = resolve(path, profile, environment, create=create, use_default=use_default)
    return found, _load(found, variables, settings or {}, lenient=lenient)


def reload_settings(
    profile: Profile, before: LoadedConfig, settings: Mapping[str, object]
) -> tuple[LoadedConfig, list[str], list[str]]:
    """The settings as they are now, and the names of those that changed: at once, after a restart.

    A setting that needs a restart keeps its value until then.
    """
    now = _load(profile, dict(_environment_values(os.environ)), settings)
    values = {name: value_of(now.config, name) for name in SETTINGS}
    changed = [name for name in SETTINGS if values[name] != value_of(before.config, name)]
    restart = [name for name in changed if SETTINGS[name].restart]
    values |= {name: value_of(before.config, name) for name in restart}
    config = with_values(values).replace(profile=now.config.profile)
    loaded = LoadedConfig(config=config, origins=now.origins)
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
                value = setting.check(raw, origin)
                if origin == profile.settings_file:
                    check_trust(setting, value, profile)
                values[name], origins[name] = value, origin
            except ConfigError as error:
                if origin not in files:
                    raise
                problems.append(error)
        if problems and not lenient:
            raise _with_way_out(problems[0], profile)
    try:
        _refuse_one_file_for_two(values, origins)
    except ConfigError as error:
        if not lenient:
            raise
        problems.append(error)
    config = with_values(values) if values else DEFAULTS
    primary = _primary(profile.root)
    if primary != config.profile.primary:
        config = config.replace(profile=config.profile.replace(primary=primary))
    return LoadedConfig(
        config=config,
        origins=origins,
        problems=tuple(_with_way_out(problem, profile) for problem in problems),
    )


def _refuse_one_file_for_two(values: Mapping[str, Value], origins: Mapping[str, str]) -> None:
    """Two jobs that write to one file would each take the other's lines for the user's."""
    users: dict[str, str] = {}
    for name in ("trim.archive_path", "long_memory.path", "experiences.path"):
        path = str(values.get(name, SETTINGS[name].default))
        other = users.setdefault(path.lower(), name)
        if other != name:
            message = f"{other} and {name} name the same file, {path} ({origins[name]})"
            raise ConfigError(message, setting=name, origin=origins[name])


def _primary(root: str) -> str:
    """Which of its two places MEMORY.md has: both are read, this one is written."""
    is_there = [os.path.lexists(os.path.join(root, path)) for path in MEMORY_PLACES]
    return MEMORY_PLACES[is_there == [False, True]]


def known_setting(name: str, origin: str) -> Setting:
    """The setting with this full name; an unknown one is an error that suggests the nearest."""
    if name in SETTINGS:
        return SETTINGS[name]
    error = _unknown(f"setting {quoted_name(name)}", name, origin, nearest(name, SETTINGS))
    if name in KEYS:
        error.hint = f"Put the key into the variable {KEYS[name]}."
    raise error


def _unknown(what: str, name: str, origin: str, near: str) -> ConfigError:
    hint = f"Did you mean {near}?" if near else SEE_ALL
    return ConfigError(f"Unknown {what} ({origin})", setting=name, origin=origin, hint=hint)


def check_trust(setting: Setting, value: Value, profile: Profile) -> None:
    """Refuse a value that a file found in a project folder may not decide."""
    if not profile.trusted and setting.needs_trust(value):
        raise ConfigError(
            f"{setting.name} may not be set by a file found in a project folder"
            f" ({profile.settings_file})",
            setting=setting.name,
            origin=profile.settings_file,
            hint=f"Set it in {profile.user_settings_file} or as {setting.variable},"
            f" or name the folder: --root {profile.root}",
        )


def _with_way_out(problem: ConfigError, profile: Profile) -> ConfigError:
    """The problem, with the command that removes it from its file unless there is a better hint."""
    is_plain = problem.setting and quoted_name(problem.setting) == problem.setting
    if is_plain and problem.hint in ("", SEE_ALL):
        import shlex  # only needed once something is wrong

        user = " --user" if problem.origin == profile.user_settings_file else ""
        out = f"Take it out: memolith config unset {shlex.quote(problem.setting)}{user}"
        problem.hint = f"{out}; {SEE_ALL.lower()}" if problem.hint else out
    return problem


def settings_from_flags(flags: Iterable[str]) -> dict[str, str]:
    """The settings of `--set section.key=value`, one for each flag; the last one wins.

    >>> settings_from_flags(["trim.max_records=500"])
    {'trim.max_records': '500'}
    """
    settings = {}
    for flag in flags:
        name, equals, value = flag.partition("=")
        if not equals:
            hint = "Write it as: --set section.key=value"
            message = f"--set {quoted(flag)} has no value"
            raise ConfigError(message, setting=name, origin=ARGUMENT, hint=hint)
        settings[name.strip()] = value
    return settings


def api_key(variable: str) -> str:
    """The key of an endpoint; keys come from the environment alone, never from a file."""
    return os.environ.get(variable, "")


def syncs() -> bool:
    """Whether writes are synced to the disk: always, except in tests and benchmarks."""
    return os.environ.get(FSYNC) != "off"


def _environment_values(environ: Mapping[str, str]) -> Iterator[tuple[str, object]]:
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
    near = nearest(variable.removeprefix(ENVIRONMENT_PREFIX), names, min_similarity=0.75)
    if near or "__" in variable:
        near = near and ENVIRONMENT_PREFIX + near
        raise _unknown(f"variable {quoted_name(variable)}", variable, ENVIRONMENT, near)


def _file_values(path: str, problems: list[ConfigError]) -> Iterator[tuple[str, object]]:
    """The settings in the file, by full name; what is not one is added to `problems`."""
    try:
        tables = read_toml(path)
    except ConfigError as error:
        problems.append(error)
        return
    for part, table in tables.items():
        if isinstance(table, dict) and part in SECTIONS:
            yield from ((f"{part}.{key}", raw) for key, raw in table.items())
        elif part in SECTIONS:
            message = f"{part} = {quoted(table)} ({path}): expected a section [{part}]"
            problems.append(ConfigError(message, setting=part, origin=path))
        elif isinstance(table, dict):
            near = nearest(part, SECTIONS)
            what = f"section [{quoted_name(part)}]"
            problems.append(_unknown(what, part, path, near and f"[{near}]"))
        else:
            what = f"setting {quoted_name(part)}"
            problems.append(_unknown(what, part, path, nearest(part, SETTINGS)))


def read_toml(path: str) -> Mapping[str, object]:
    """The tables of a settings file; a missing file has none. Anything wrong is a ConfigError."""
    try:
        # Not blocking: somebody may have put a pipe there.
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        try:
            if not stat.S_ISREG(os.fstat(handle).st_mode):
                raise _bad_file(path, "is not a file")
            return parse_toml(path, os.read(handle, MAX_FILE_BYTES + 1))
        finally:
            os.close(handle)
    except FileNotFoundError:
        return {}
    except PermissionError as error:
        hint = "Check who owns the file and its folder: ls -l"
        raise _bad_file(path, f"cannot be read: {error.strerror}", hint) from error
    except OSError as error:
        raise _bad_file(path, f"cannot be read: {error.strerror}") from error


def parse_toml(path: str, data: bytes) -> Mapping[str, object]:
    """The tables in the bytes of a settings file; `path` is only named in errors."""
    text = _decode(path, data)
    if all(line.isprintable() and line[:1] in ("", "#") for line in text.split("\n")):
        return {}  # nothing but comments, as `init` leaves it
    import tomllib  # only users with settings in the file pay for this import

    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise _bad_file(path, f"is not valid TOML: {error}") from error
    except (ValueError, RecursionError) as error:  # 5,000 digits; 1,000 brackets
        raise _bad_file(path, "is not valid TOML: a value is too long or too deep") from error


def _decode(path: str, data: bytes) -> str:
    if len(data) > MAX_FILE_BYTES:
        raise _bad_file(path, f"is larger than {MAX_FILE_BYTES} bytes")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise _bad_file(path, f"is not UTF-8 (line {line})") from error
    for number, content in enumerate(text.split("\n"), start=1):
        if len(content) > MAX_LINE_CHARS:
            raise _bad_file(path, f"has more than {MAX_LINE_CHARS} characters in line {number}")
    return text


def _bad_file(path: str, problem: str, hint: str = "") -> ConfigError:
    hint = hint or "Mend it in an editor, or move it away: every setting has a default."
    return ConfigError(f"{path} {problem}", setting="", origin=path, hint=hint)


def with_line(problem: ConfigError) -> str:
    """The problem with the line of its file, where the file shows it plainly."""
    try:
        with open(problem.origin, encoding="utf-8-sig", errors="replace") as file:
            lines = file.read(MAX_FILE_BYTES).split("\n")
    except OSError:
        return problem.message
    part = ""
    for number, line in enumerate(map(str.strip, lines), start=1):
        if line.startswith("["):
            part = line.partition("]")[0].strip("[ \"'")
        key = line.partition("=")[0].strip(" \"'")
        if problem.setting and problem.setting in (part, key, f"{part}.{key}"):
            return f"{problem.message} (line {number})"
    return problem.message
