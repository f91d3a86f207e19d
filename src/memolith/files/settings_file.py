"""Change one setting in a settings file; comments, order and layout stay as the user wrote them."""

from __future__ import annotations

import os
from collections.abc import Mapping

from memolith.config import SECTIONS, StoreConfig
from memolith.config_file import parse_toml, read_toml, toml_value
from memolith.config_values import ARGUMENT, check_trust, checked, known_setting
from memolith.errors import ConfigError
from memolith.files.byte_marks import BOM
from memolith.files.folder import Folder
from memolith.files.transaction import Transaction
from memolith.profile import Profile
from memolith.settings import Value


def write_setting(
    profile: Profile, store: StoreConfig, name: str, text: str, *, for_user: bool = False
) -> Value:
    """Check a value, then put it into the profile's file, or with `for_user` into the user's.

    Nothing is written unless the whole file can be read again and says exactly what it should.
    """
    setting = known_setting(name, ARGUMENT)
    value = checked(setting, text, ARGUMENT)
    if not for_user:
        check_trust(setting, profile)
    _write(profile, store, name, value, for_user=for_user)
    return value


def remove_setting(
    profile: Profile, store: StoreConfig, name: str, *, for_user: bool = False
) -> bool:
    """Take a setting out of the file that `write_setting` puts it into; False if it is not in it.

    What we do not know, be it a whole section, is taken out too if it stands there.
    """
    path = profile.user_settings_file if for_user else profile.settings_file
    if not _stands_in(path, name):
        known_setting(name, ARGUMENT)
        return False
    return _write(profile, store, name, None, for_user=for_user)


def _write(
    profile: Profile, store: StoreConfig, name: str, value: Value | None, *, for_user: bool
) -> bool:
    """Change the file; None takes the setting out. Returns whether there was anything to do."""
    path = profile.user_settings_file if for_user else profile.settings_file
    root, file = os.path.split(path)
    with (
        Folder(root, create=True, durable=store.durability == "full") as folder,
        Transaction(folder, store.lock_timeout_seconds) as transaction,
    ):
        stamp = folder.stamp(file)
        before = folder.read(file) or b""
        after = _changed(path, before, name, value)
        if value is None and after == before:
            return False
        transaction.replace(file, after, stamp)
        transaction.commit()
    return True


def _stands_in(path: str, name: str) -> bool:
    tables = read_toml(path)
    section, _, key = name.partition(".")
    table = tables.get(section)
    if name == section:  # a section that is as it should be is more than one setting
        return name in tables and not (name in SECTIONS and isinstance(table, dict))
    return isinstance(table, dict) and key in table


def _changed(path: str, before: bytes, name: str, value: Value | None) -> bytes:
    section, _, key = name.partition(".")
    tables = parse_toml(path, before)
    mark = BOM if before.startswith(BOM) else b""
    text = before.removeprefix(mark).decode()
    wanted = _wanted(tables, section, key, value)
    if wanted == tables:
        return before
    if wanted is not None:
        after = mark + _edited(text, section, key, value).encode()
        # The editor is checked by the parser that will read the file: an unusual layout may fool it.
        if parse_toml(path, after) == wanted:
            return after
    by_hand = f"remove {key}" if value is None else f"write {key} = {toml_value(value)}"
    raise ConfigError(
        f"{path} is written in a way that cannot be changed safely",
        setting=name,
        origin=path,
        hint=f"Change it by hand: under [{section}] {by_hand}",
    )


def _wanted(
    tables: Mapping[str, object], section: str, key: str, value: Value | None
) -> Mapping[str, object] | None:
    """What the file should say; None if something else stands in the place of the section."""
    if not key:
        return {other: kept for other, kept in tables.items() if other != section}
    table = tables.get(section, {})
    if not isinstance(table, dict):
        return None
    if value is not None:
        return {**tables, section: {**table, key: value}}
    if key not in table:
        return tables
    return {**tables, section: {other: kept for other, kept in table.items() if other != key}}


def _edited(text: str, section: str, key: str, value: Value | None) -> str:
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    try:
        document = tomlkit.parse(text)
        if value is not None:
            if section not in document:
                document[section] = tomlkit.table()
            document[section][key] = value
        elif key:
            del document[section][key]
        else:
            del document[section]
        return tomlkit.dumps(document)
    except TOMLKitError:
        return text
