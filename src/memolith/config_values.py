"""A value that somebody gave for a setting: whether it may be given there, and what it is."""

from __future__ import annotations

import math
import reprlib  # cuts what is long or deep, which a hostile file may be
from collections.abc import Iterable
from typing import TypeGuard

from memolith.config import SETTINGS
from memolith.errors import ConfigError
from memolith.profile import Profile
from memolith.settings import Setting, Value

ARGUMENT = "argument"  # --set on the command line, or Memory(settings=…)
ENVIRONMENT = "environment"

SEE_ALL = "See all settings: memolith config show"


def known_setting(name: str, origin: str) -> Setting:
    """The setting with this full name; an unknown one is an error that suggests the nearest."""
    setting = SETTINGS.get(name)
    if setting is None:
        near = nearest(name, SETTINGS)
        raise ConfigError(
            f"Unknown setting {shown_name(name)} ({origin})",
            setting=name,
            origin=origin,
            hint=f"Did you mean {near}?" if near else SEE_ALL,
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
        f"{setting.name} = {shown(raw)} ({origin}): expected {setting.expected}",
        setting=setting.name,
        origin=origin,
        hint=_meant(raw, setting),
    )


def _meant(raw: object, setting: Setting) -> str:
    """The word that was misspelt, if the value is made of known ones."""
    if setting.kind is not str and _is_too_large(raw):
        return f"At most {_LARGEST:,}."
    choices = setting.must.choices if setting.must else ()
    for word in str(raw).split(","):
        near = nearest(word.strip(), choices)
        if near and near != word.strip():
            return f"Did you mean {near}?"
    return ""


def _is_too_large(raw: object) -> bool:
    digits = str(raw).strip()
    return digits.isdecimal() and len(digits) >= len(str(_LARGEST))


_LARGEST = 2**53
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
    is_number = isinstance(value, int | float)
    return type(value) is setting.kind and (not is_number or _makes_sense(value))


def _makes_sense(number: object) -> bool:
    """Whether it is finite, and no larger than what every program can hold exactly."""
    return isinstance(number, int | float) and math.isfinite(number) and abs(number) <= _LARGEST


def nearest(word: str, words: Iterable[str], alike: float = 0.6) -> str:
    """The one of these words that is most like it, or ""."""
    import difflib  # only needed once something is wrong

    return next(iter(difflib.get_close_matches(word[:80], list(words), n=1, cutoff=alike)), "")


def shown(value: object) -> str:
    """A value as an error quotes it."""

    short = reprlib.Repr()
    short.maxstring = short.maxother = short.maxlong = 80
    return short.repr(value)


def shown_name(name: str) -> str:
    """The name of a setting as an error quotes it, which may be any text."""
    return name if name.isprintable() and len(name) <= 80 else shown(name)
