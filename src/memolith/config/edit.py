"""Change one setting in a settings file; comments, order and layout stay as the user wrote them."""

from __future__ import annotations

from collections.abc import MutableMapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from memolith.config.load import check_trust, known_setting, parse_toml, read_toml
from memolith.config.sections import SECTIONS
from memolith.config.setting import ARGUMENT, Value, toml_value
from memolith.errors import ConfigError
from memolith.profile import Profile

_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class SettingChange:
    """A checked change of one setting: which file, and its bytes afterwards."""

    path: str
    name: str
    value: Value | None  # None removes the setting, or a whole section that is unknown

    def apply(self, before: bytes) -> bytes:
        """The file with the change; refused if the parser does not read exactly that from it."""
        import tomlkit
        from tomlkit.exceptions import TOMLKitError

        expected = parse_toml(self.path, before)
        # The name of the section may have another use in the file.
        with suppress(TOMLKitError, TypeError, AttributeError):
            self._change(expected)
            if expected == parse_toml(self.path, before):
                return before
            bom = _BOM if before.startswith(_BOM) else b""
            document = tomlkit.parse(before.removeprefix(bom))
            self._change(document)
            after = bom + tomlkit.dumps(document).encode()
            if parse_toml(self.path, after) == expected:
                return after
        section, _, key = self.name.partition(".")
        line = f"remove {key}" if self.value is None else f"write {key} = {toml_value(self.value)}"
        message = f"{self.path} is written in a way that cannot be changed safely"
        hint = f"Change it by hand: under [{section}] {line}"
        raise ConfigError(message, setting=self.name, origin=self.path, hint=hint)

    def _change(self, tables: MutableMapping[str, Any]) -> None:
        section, _, key = self.name.partition(".")
        if self.value is None:
            (tables.get(section, {}) if key else tables).pop(key or section, None)
        else:
            value = list(self.value) if isinstance(self.value, tuple) else self.value
            tables.setdefault(section, {})[key] = value


def set_setting(profile: Profile, name: str, text: str, *, for_user: bool = False) -> SettingChange:
    """Put a value into the profile's file, or with `for_user` into the user's."""
    setting = known_setting(name, ARGUMENT)
    value = setting.check(text, ARGUMENT)
    if not for_user:
        check_trust(setting, value, profile)
    path = profile.user_settings_file if for_user else profile.settings_file
    return SettingChange(path, name, value)


def unset_setting(profile: Profile, name: str, *, for_user: bool = False) -> SettingChange:
    """Remove a setting, or an unknown key or section, from the file `set_setting` writes to."""
    path = profile.user_settings_file if for_user else profile.settings_file
    section, _, key = name.partition(".")
    tables = read_toml(path)
    table = tables.get(section)
    if key:
        is_set = isinstance(table, dict) and key in table
    else:  # a section that is as it should be is more than one setting
        is_set = name in tables and not (name in SECTIONS and isinstance(table, dict))
    if not is_set:
        known_setting(name, ARGUMENT)
    return SettingChange(path, name, None)
