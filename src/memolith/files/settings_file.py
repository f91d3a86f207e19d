"""Change one setting in a settings file; comments, order and layout stay as the user wrote them."""

from __future__ import annotations

import os

from memolith.config_file import parse_toml, toml_value
from memolith.config_loading import ARGUMENT, check_trust, checked, known_setting
from memolith.errors import ConfigError
from memolith.files.folder import Folder
from memolith.files.handles import Handles
from memolith.files.transaction import Transaction

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memolith.config import StoreConfig
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
    """Take a setting out of the file that `write_setting` puts it into; False if it is not in it."""
    known_setting(name, ARGUMENT)
    path = profile.user_settings_file if for_user else profile.settings_file
    return os.path.exists(path) and _write(profile, store, name, None, for_user=for_user)


def _write(
    profile: Profile, store: StoreConfig, name: str, value: Value | None, *, for_user: bool
) -> bool:
    """Change the file; None takes the setting out. Returns whether there was anything to do."""
    path = profile.user_settings_file if for_user else profile.settings_file
    root, file = os.path.split(path)
    with (
        Folder(root, create=True, durable=store.durability == "full") as folder,
        Transaction(Handles(folder), store.lock_timeout_seconds) as transaction,
    ):
        stamp = folder.stamp(file)
        before = folder.read(file) or b""
        after = _changed(path, before, name, value)
        if value is None and after == before:
            return False
        transaction.replace(file, after, stamp)
        transaction.commit()
    return True


def _changed(path: str, before: bytes, name: str, value: Value | None) -> bytes:
    section, key = name.split(".")
    tables = parse_toml(path, before)
    table = tables.get(section, {})
    if isinstance(table, dict):
        if value is None and key not in table:
            return before
        after = _edited(before.decode("utf-8-sig"), section, key, value).encode()
        # The editor is checked by the parser that will read the file: an unusual layout may fool it.
        others = {other: kept for other, kept in table.items() if other != key}
        wanted = others if value is None else {**table, key: value}
        if parse_toml(path, after) == {**tables, section: wanted}:
            return after
    by_hand = f"remove {key}" if value is None else f"write {key} = {toml_value(value)}"
    raise ConfigError(
        f"{path} is written in a way that cannot be changed safely",
        setting=name,
        origin=path,
        hint=f"Change it by hand: under [{section}] {by_hand}",
    )


def _edited(text: str, section: str, key: str, value: Value | None) -> str:
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    try:
        document = tomlkit.parse(text)
        if value is None:
            del document[section][key]
            return tomlkit.dumps(document)
        if section not in document:
            document[section] = tomlkit.table()
        document[section][key] = value
        return tomlkit.dumps(document)
    except TOMLKitError:
        return text
