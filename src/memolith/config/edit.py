"""Change one setting in a settings file; comments, order and layout stay as the user wrote them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

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
        tables = parse_toml(self.path, before)
        expected = self._expected(tables)
        if expected == tables:
            return before
        if expected is not None:
            bom = _BOM if before.startswith(_BOM) else b""
            after = bom + self._edit(before.removeprefix(bom).decode()).encode()
            if parse_toml(self.path, after) == expected:
                return after
        section, _, key = self.name.partition(".")
        action = (
            f"remove {key}" if self.value is None else f"write {key} = {toml_value(self.value)}"
        )
        raise ConfigError(
            f"{self.path} is written in a way that cannot be changed safely",
            setting=self.name,
            origin=self.path,
            hint=f"Change it by hand: under [{section}] {action}",
        )

    def _expected(self, tables: Mapping[str, object]) -> Mapping[str, object] | None:
        """The tables afterwards; None if the name of the section has another use in the file."""
        section, _, key = self.name.partition(".")
        table = tables.get(section, {})
        if not key:
            return {name: other for name, other in tables.items() if name != section}
        if not isinstance(table, dict):
            return None
        if self.value is None and key not in table:
            return tables
        changed = {name: other for name, other in table.items() if name != key}
        if self.value is not None:
            changed[key] = list(self.value) if isinstance(self.value, tuple) else self.value
        return {**tables, section: changed}

    def _edit(self, text: str) -> str:
        import tomlkit
        from tomlkit.exceptions import TOMLKitError

        section, _, key = self.name.partition(".")
        try:
            document = tomlkit.parse(text)
            if self.value is not None:
                if section not in document:
                    document[section] = tomlkit.table()
                document[section][key] = self.value
            elif key:
                del document[section][key]
            else:
                del document[section]
            return tomlkit.dumps(document)
        except TOMLKitError:
            return text


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
    if not _is_set(read_toml(path), name):
        known_setting(name, ARGUMENT)
    return SettingChange(path, name, None)


def _is_set(tables: Mapping[str, object], name: str) -> bool:
    section, _, key = name.partition(".")
    table = tables.get(section)
    if not key:  # a section that is as it should be is more than one setting
        return name in tables and not (name in SECTIONS and isinstance(table, dict))
    return isinstance(table, dict) and key in table
