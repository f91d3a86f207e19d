"""One setting is changed in the file; everything else in it stays as the user wrote it."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from memolith.config.edit import set_setting
from memolith.config.load import open_profile
from memolith.config.sections import DEFAULTS, SETTINGS
from memolith.errors import ConfigError, PathOutsideProfileError
from memolith.files.transaction import rewrite_file
from tests.conftest import approve

if TYPE_CHECKING:
    from pathlib import Path

    from memolith.profile import Profile


@pytest.fixture
def profile(root: str) -> Profile:
    return open_profile(root)[0]


def write_setting(profile: Profile, name: str, text: str, *, for_user: bool = False) -> None:
    change = set_setting(profile, name, text, for_user=for_user)
    rewrite_file(change.path, change.apply, DEFAULTS.store)


def write(profile: Profile, name: str, text: str) -> str:
    """Write a setting; returns what stands in the file then."""
    write_setting(profile, name, text)
    with open(profile.settings_file, encoding="utf-8", newline="") as file:
        return file.read()


def put(profile: Profile, content: str) -> None:
    os.makedirs(profile.root, exist_ok=True)
    with open(profile.settings_file, "w", encoding="utf-8", newline="") as file:
        file.write(content)


def test_file_and_folder_are_made_for_the_user_alone(profile: Profile) -> None:
    old = os.umask(0)
    try:
        assert write(profile, "trim.max_records", "500") == "[trim]\nmax_records = 500\n"
    finally:
        os.umask(old)
    assert stat.S_IMODE(os.stat(profile.settings_file).st_mode) == 0o600
    assert stat.S_IMODE(os.stat(profile.root).st_mode) == 0o700


def test_each_value_is_written_in_its_own_type(profile: Profile) -> None:
    write(profile, "search.mmr_lambda", "0.25")
    write(profile, "trim.archive_path", "memory/älter.md")
    write(profile, "chat.enabled", "off")
    write(profile, "search.half_life_days", "3")
    assert write(profile, "index.extra_paths", "~/notes, ~/älter") == (
        "[search]\nmmr_lambda = 0.25\nhalf_life_days = 3.0\n\n"
        '[trim]\narchive_path = "memory/älter.md"\n\n'
        '[chat]\nenabled = false\n\n[index]\nextra_paths = ["~/notes", "~/älter"]\n'
    )
    config = open_profile(profile.root)[1].config
    assert (config.search.mmr_lambda, config.trim.archive_path) == (0.25, "memory/älter.md")
    assert (config.chat.enabled, config.search.half_life_days) == (False, 3.0)
    assert config.index.extra_paths == ("~/notes", "~/älter")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "# mine\n\n[search]  # order\n# as Ana likes it\nmmr_lambda=0.2 # little\n\n[chat]\nenabled = true\n",
            "# mine\n\n[search]  # order\n# as Ana likes it\nmmr_lambda=0.5 # little\n\n[chat]\nenabled = true\n",
        ),
        ("[chat]\nenabled = true", "[chat]\nenabled = true\n[search]\nmmr_lambda = 0.5\n"),
        ("search.mmr_lambda = 0.2\n[chat]\n", "search.mmr_lambda = 0.5\n[chat]\n"),
        (
            "search = { rrf_k = 5, mmr_lambda = 0.2 }\n",
            "search = { rrf_k = 5, mmr_lambda = 0.5 }\n",
        ),
        ('[ "search" ]\r\n"mmr_lambda" = 0.2\r\n', '[ "search" ]\r\n"mmr_lambda" = 0.5\r\n'),
        ("\ufeff[search]\nmmr_lambda = 0.2\n", "\ufeff[search]\nmmr_lambda = 0.5\n"),
        ("", "[search]\nmmr_lambda = 0.5\n"),
    ],
)
def test_comments_order_and_layout_stay(profile: Profile, before: str, after: str) -> None:
    put(profile, before)
    assert write(profile, "search.mmr_lambda", "0.5") == after


def test_the_users_file_is_for_all_profiles(profile: Profile) -> None:
    write_setting(profile, "trim.max_chars", "9", for_user=True)
    assert not os.path.exists(profile.settings_file)
    _, loaded = open_profile(None, "another", create=True)
    assert loaded.config.trim.max_chars == 9
    assert loaded.origins["trim.max_chars"] == profile.user_settings_file


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("search.mmr_lamda", "0.5", "Unknown setting search.mmr_lamda"),
        ("trim", "0.5", "Unknown setting trim"),
        (
            "search.mmr_lambda",
            "2",
            "search.mmr_lambda = '2': expected a number, from 0 to 1",
        ),
        ("trim.archive_path", "/etc/x.md", "trim.archive_path = '/etc/x.md': expected"),
    ],
)
def test_nothing_is_written_before_the_value_is_checked(
    profile: Profile, name: str, text: str, message: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        write(profile, name, text)
    assert caught.value.message.startswith(message)
    assert not os.path.exists(profile.root)


def test_a_found_folder_is_not_given_what_it_may_not_have(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "memolith.toml").touch()
    approve(tmp_path)
    monkeypatch.chdir(tmp_path)
    profile, _ = open_profile()
    assert not profile.trusted
    with pytest.raises(ConfigError, match=r"llm\.model may not be set by a file found"):
        write(profile, "llm.model", "mine")
    assert (tmp_path / "memolith.toml").read_bytes() == b""
    write_setting(profile, "llm.model", "mine", for_user=True)
    assert open_profile()[1].config.llm.model == "mine"


@pytest.mark.parametrize("content", ["search = 5\n", "[[search]]\nmmr_lambda = 0.2\n"])
def test_a_file_that_cannot_be_changed_safely_is_left_alone(profile: Profile, content: str) -> None:
    put(profile, content)
    with pytest.raises(ConfigError) as caught:
        write(profile, "search.mmr_lambda", "0.5")
    assert str(caught.value) == (
        f"{profile.settings_file} is written in a way that cannot be changed safely\n"
        "Change it by hand: under [search] write mmr_lambda = 0.5"
    )
    with open(profile.settings_file, encoding="utf-8") as file:
        assert file.read() == content


def test_a_broken_file_is_not_overwritten(profile: Profile) -> None:
    put(profile, "[search\nmmr_lambda = 0.2\n")
    with pytest.raises(ConfigError, match="is not valid TOML"):
        write(profile, "search.mmr_lambda", "0.5")


def test_a_link_is_not_followed(profile: Profile, tmp_path: Path) -> None:
    put(profile, "")
    os.unlink(profile.settings_file)
    os.symlink(tmp_path / "foreign.toml", profile.settings_file)
    (tmp_path / "foreign.toml").touch()
    with pytest.raises(PathOutsideProfileError):
        write(profile, "search.mmr_lambda", "0.5")
    assert (tmp_path / "foreign.toml").read_bytes() == b""


def test_two_who_change_settings_at_once_do_not_lose_each_others(profile: Profile) -> None:
    fitting = [
        name
        for name, setting in SETTINGS.items()
        if setting.kind is int and (setting.rule is None or setting.rule.check(50))
    ]
    values = dict.fromkeys(fitting[:8], "50")
    assert len(values) == 8
    code = (
        "import sys; from memolith.config.load import open_profile\n"
        "from memolith.config.edit import set_setting\n"
        "from memolith.files.transaction import rewrite_file\n"
        "profile, loaded = open_profile(sys.argv[1])\n"
        "change = set_setting(profile, sys.argv[2], sys.argv[3])\n"
        "rewrite_file(change.path, change.apply, loaded.config.store)"
    )
    writers = [
        subprocess.Popen([sys.executable, "-c", code, profile.root, *pair])
        for pair in values.items()
    ]
    assert [writer.wait() for writer in writers] == [0] * len(values)
    origins = open_profile(profile.root)[1].origins
    written = {name for name, origin in origins.items() if origin == profile.settings_file}
    assert written == set(values)
