"""The format of a settings file. Anybody may have written it: it is read whole, or refused."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping

from memolith.errors import ConfigError

# tomllib needs time quadratic in the dots of one key: 64 kB of `a.a.a…` took 23 s. With both caps
# the worst file takes half a second, and no settings file of a person comes near them.
MAX_FILE_BYTES = 65_536
MAX_LINE_CHARS = 2_000


def read_toml(path: str) -> Mapping[str, object]:
    """The tables of a settings file; a missing file has none. Anything wrong is a ConfigError."""
    try:
        # Not blocking: somebody may have put a pipe there.
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise _unreadable(path, error) from error
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise _bad_file(path, "is not a file")
        data = os.read(handle, MAX_FILE_BYTES + 1)
    except OSError as error:
        raise _unreadable(path, error) from error
    finally:
        os.close(handle)
    return parse_toml(path, data)


def parse_toml(path: str, data: bytes) -> Mapping[str, object]:
    """The tables in the bytes of a settings file; `path` is only named in errors."""
    text = _decode(path, data)
    lines = text.split("\n")
    if all(line.isprintable() and line[:1] in ("", "#") for line in lines):
        return {}  # nothing but comments, as `init` leaves it
    import tomllib  # only those who have settings in the file pay for this import

    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise _bad_file(path, f"is not valid TOML: {error}") from error
    except (ValueError, RecursionError) as error:  # 5,000 digits; 1,000 brackets
        raise _bad_file(path, "is not valid TOML: a value is too long or too deep") from error


def toml_value(value: bool | float | str) -> str:
    """A value as a settings file spells it.

    >>> toml_value(True), toml_value(0.1), toml_value("memory/old.md")
    ('true', '0.1', '"memory/old.md"')
    """
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        import json

        return json.dumps(value, ensure_ascii=False)
    return repr(value)


def line_of(path: str, name: str) -> int | None:
    """Where a section, or a setting by its full name, stands in a settings file; None if unclear."""
    try:
        with open(path, "rb") as file:
            lines = _decode(path, file.read(MAX_FILE_BYTES + 1)).split("\n")
    except (OSError, ConfigError):
        return None
    section = ""
    for number, line in enumerate(lines, start=1):
        text = line.strip()
        if text.startswith("["):
            section = text.partition("]")[0].strip("[ \"'")
            if section == name:
                return number
        key = text.partition("=")[0].strip(" \"'")
        if name in (key, f"{section}.{key}"):
            return number
    return None


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


def _unreadable(path: str, error: OSError) -> ConfigError:
    problem = f"cannot be read: {error.strerror}"
    if not isinstance(error, PermissionError):
        return _bad_file(path, problem)
    hint = "Check who owns the file and its folder: ls -l"
    return ConfigError(f"{path} {problem}", setting="", origin=path, hint=hint)


def _bad_file(path: str, problem: str) -> ConfigError:
    hint = "Mend it in an editor, or move it away: every setting has a default."
    return ConfigError(f"{path} {problem}", setting="", origin=path, hint=hint)
