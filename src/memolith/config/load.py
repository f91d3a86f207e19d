"""Arguments > environment > profile file > user file > defaults, with the origin of each value."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain

from memolith.config.sections import SECTIONS, SETTINGS, Config, value_of, with_values
from memolith.config.setting import ARGUMENT, ENVIRONMENT, SEE_ALL, Setting, Value, quoted, unknown
from memolith.errors import ConfigError
from memolith.profile import Environment, Profile, resolve

DEFAULT = "default"
MEMORY_PLACES = ("MEMORY.md", "memory/MEMORY.md")

# Variables of ours that are not settings.
LLM_KEY, EMBED_KEY, FSYNC = "MEMOLITH_LLM_KEY", "MEMOLITH_EMBED_KEY", "MEMOLITH_FSYNC"
INDEX_KEY = "MEMOLITH_INDEX_KEY"
OTHER_VARIABLES = (
    "MEMOLITH_ROOT", "MEMOLITH_HOME", "MEMOLITH_PROFILE", "MEMOLITH_DEBUG", LLM_KEY, EMBED_KEY, FSYNC,
    INDEX_KEY,
)  # fmt: skip

KEYS = {
    "llm.key": LLM_KEY,
    "embed.key": EMBED_KEY,
    "index.key": INDEX_KEY,
}  # somebody may look for them among the settings

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
    if cwd is None:
        with suppress(FileNotFoundError):  # the folder was deleted
            cwd = os.getcwd()
    environment = Environment(os.path.abspath(cwd) if cwd else "", environ)
    # Before anything is looked for: a misspelt MEMOLITH_ROT must not lead to the wrong memory.
    variables = [*_environment_values(environ)]
    path = None if root is None else os.fspath(root)
    found = resolve(path, profile, environment, create=create, use_default=use_default)
    return found, _load(found, variables, settings or {}, lenient=lenient)


def reload_settings(
    profile: Profile, before: LoadedConfig, settings: Mapping[str, object]
) -> tuple[LoadedConfig, list[str], list[str]]:
    """The settings as they are now, and the names of those that changed: at once, after a restart.

    A setting that needs a restart keeps its value until then.
    """
    now = _load(profile, _environment_values(os.environ), settings, lenient=False)
    old = {name: value_of(before.config, name) for name in SETTINGS}
    changed = [name for name in SETTINGS if value_of(now.config, name) != old[name]]
    restart = [name for name in changed if SETTINGS[name].restart]
    config = with_values({name: old[name] for name in restart}, now.config)
    loaded = LoadedConfig(config=config, origins=now.origins)
    return loaded, [name for name in changed if name not in restart], restart


Found = tuple[str, str, object]  # where, the name of the setting, the value as it is there


def _load(
    profile: Profile, variables: Iterable[Found], settings: Mapping[str, object], *, lenient: bool
) -> LoadedConfig:
    files = (profile.user_settings_file, profile.settings_file)
    arguments = ((ARGUMENT, *item) for item in settings.items())
    values: dict[str, Value] = {}
    origins = dict.fromkeys(SETTINGS, DEFAULT)
    problems: list[ConfigError] = []
    for origin, name, raw in chain(*map(_file_values, files), variables, arguments):
        try:
            setting = known_setting(name, origin, raw)
            value = setting.check(raw, origin)
            if origin == profile.settings_file:
                check_trust(setting, value, profile)
            values[name], origins[name] = value, origin
        except ConfigError as error:
            problems.append(error)
    problems += _shared_files(values, origins)
    for problem in problems:
        if problem.origin in files:
            _add_way_out(problem, profile)
        if not lenient or problem.origin not in files:
            raise problem
    config = with_values(values)
    # MEMORY.md has two places: both are read, this one is written.
    first, second = (os.path.lexists(os.path.join(profile.root, path)) for path in MEMORY_PLACES)
    if second and not first:
        config = with_values({"profile.primary": MEMORY_PLACES[1]}, config)
    return LoadedConfig(config=config, origins=origins, problems=tuple(problems))


def _shared_files(values: Mapping[str, Value], origins: Mapping[str, str]) -> Iterator[ConfigError]:
    """Two jobs that write to one file would each take the other's lines for the user's."""
    users: dict[str, str] = {}
    for name in ("trim.archive_path", "long_memory.path", "experiences.path"):
        path = str(values.get(name, SETTINGS[name].default))
        other = users.setdefault(path.lower(), name)
        if other != name:
            message = f"{other} and {name} name the same file, {path} ({origins[name]})"
            yield ConfigError(message, setting=name, origin=origins[name])


def known_setting(name: str, origin: str, raw: object = None) -> Setting:
    """The setting with this full name; an unknown one is an error that suggests the nearest.

    `raw` is what a file has under that name: a value, a whole section, or why it cannot be read.
    """
    if isinstance(raw, ConfigError):
        raise raw
    if name in SETTINGS:
        return SETTINGS[name]
    if name in SECTIONS and raw is not None:
        message = f"{name} = {quoted(raw)} ({origin}): expected a section [{name}]"
        raise ConfigError(message, setting=name, origin=origin)
    if isinstance(raw, dict) and "." not in name:
        raise unknown("section", f"[{name}]", origin, [f"[{section}]" for section in SECTIONS])
    error = unknown("setting", name, origin, SETTINGS)
    if name in KEYS:
        error.hint = f"Put the key into the variable {KEYS[name]}."
    raise error


def check_trust(setting: Setting, value: Value, profile: Profile) -> None:
    """Refuse a value that a file found in a project folder may not decide."""
    if profile.trusted or not setting.needs_trust(value):
        return
    file = profile.settings_file
    message = f"{setting.name} may not be set by a file found in a project folder ({file})"
    ways = f"Set it in {profile.user_settings_file} or as {setting.variable}"
    hint = f"{ways}, or name the folder: --root {profile.root}"
    raise ConfigError(message, setting=setting.name, origin=file, hint=hint)


def _add_way_out(problem: ConfigError, profile: Profile) -> None:
    """Name the command that removes it from its file, unless there is a better hint."""
    is_plain = problem.setting and problem.setting in problem.message  # not quoted
    if is_plain and problem.hint in ("", SEE_ALL):
        import shlex  # only needed once something is wrong

        user = " --user" if problem.origin == profile.user_settings_file else ""
        out = f"Take it out: memolith config unset {shlex.quote(problem.setting)}{user}"
        problem.hint = f"{out}; {SEE_ALL.lower()}" if problem.hint else out


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


def _environment_values(environ: Mapping[str, str]) -> Iterator[Found]:
    names = {setting.variable: name for name, setting in SETTINGS.items()}
    for variable, text in environ.items():
        if variable in names:
            yield ENVIRONMENT, names[variable], text
        elif variable.startswith("MEMOLITH_") and variable not in OTHER_VARIABLES:
            error = unknown("variable", variable, ENVIRONMENT, (*OTHER_VARIABLES, *names), 0.9)
            if error.hint != SEE_ALL or "__" in variable:  # others may be of another program
                raise error


def _file_values(path: str) -> Iterator[Found]:
    """What is in the file, by full name; what is in no section of ours, by its own."""
    try:
        tables = read_toml(path)
    except ConfigError as error:
        tables = {"": error}
    for part, table in tables.items():
        if isinstance(table, dict) and part in SECTIONS:
            yield from ((path, f"{part}.{key}", raw) for key, raw in table.items())
        else:
            yield path, part, table


def read_toml(path: str) -> dict[str, object]:
    """The tables of a settings file; a missing file has none. Anything wrong is a ConfigError."""
    try:
        if os.path.exists(path) and not os.path.isfile(path):  # a pipe would be waited for
            raise _bad_file(path, "is not a file")
        with open(path, "rb") as file:
            return parse_toml(path, file.read(MAX_FILE_BYTES + 1))
    except FileNotFoundError:
        return {}
    except OSError as error:
        hint = isinstance(error, PermissionError) * "Check who owns the file and its folder: ls -l"
        raise _bad_file(path, f"cannot be read: {error.strerror}", hint) from error


def parse_toml(path: str, data: bytes) -> dict[str, object]:
    """The tables in the bytes of a settings file; `path` is only named in errors."""
    if len(data) > MAX_FILE_BYTES:
        raise _bad_file(path, f"is larger than {MAX_FILE_BYTES} bytes")
    try:
        text = data.decode("utf-8-sig")
        lines = text.split("\n")
        longest = max(lines, key=len)
        if len(longest) > MAX_LINE_CHARS:
            where = f"in line {lines.index(longest) + 1}"
            raise _bad_file(path, f"has more than {MAX_LINE_CHARS} characters {where}")
        if all(line.isprintable() and line[:1] in ("", "#") for line in lines):
            return {}  # nothing but comments, as `init` leaves it
        import tomllib  # only users with settings in the file pay for this import

        return tomllib.loads(text)
    except UnicodeDecodeError as error:
        line_number = data.count(b"\n", 0, error.start) + 1
        raise _bad_file(path, f"is not UTF-8 (line {line_number})") from error
    except (ValueError, RecursionError) as error:
        problem = error if isinstance(error, ValueError) else "a value is too long or too deep"
        raise _bad_file(path, f"is not valid TOML: {problem}") from error


def _bad_file(path: str, problem: str, hint: str = "") -> ConfigError:
    hint = hint or "Mend it in an editor, or move it away: every setting has a default."
    return ConfigError(f"{path} {problem}", setting="", origin=path, hint=hint)
