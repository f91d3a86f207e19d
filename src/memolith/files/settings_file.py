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
    path = profile.user_settings_file if for_user else profile.settings_file
    if not for_user:
        check_trust(setting, profile)
    root, file = os.path.split(path)
    with (
        Folder(root, create=True, durable=store.durability == "full") as folder,
        Transaction(Handles(folder), store.lock_timeout_seconds) as transaction,
    ):
        stamp = folder.stamp(file)
        before = folder.read(file) or b""
        transaction.replace(file, _changed(path, before, name, value), stamp)
        transaction.commit()
    return value


def _changed(path: str, before: bytes, name: str, value: Value) -> bytes:
    section, key = name.split(".")
    tables = parse_toml(path, before)
    table = tables.get(section, {})
    if isinstance(table, dict):
        after = _edited(before.decode("utf-8-sig"), section, key, value).encode()
        # The editor is checked by the parser that will read the file: an unusual layout may fool it.
        if parse_toml(path, after) == {**tables, section: {**table, key: value}}:
            return after
    raise ConfigError(
        f"{path} is written in a way that cannot be changed safely",
        setting=name,
        origin=path,
        hint=f"Change it by hand: under [{section}] write {key} = {toml_value(value)}",
    )


def _edited(text: str, section: str, key: str, value: Value) -> str:
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    try:
        document = tomlkit.parse(text)
        if section not in document:
            document[section] = tomlkit.table()
        document[section][key] = value
        return tomlkit.dumps(document)
    except TOMLKitError:
        return text
