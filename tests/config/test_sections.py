"""Every setting is described well enough to be documented, checked and found."""

from __future__ import annotations

import pytest

from memolith.config.sections import DEFAULTS, SECTIONS, SETTINGS, Config, value_of, with_values
from memolith.config.setting import ARGUMENT, Setting
from memolith.errors import ConfigError

ALL = list(SETTINGS.values())


def test_every_section_of_the_config_is_known_and_described() -> None:
    for section in SECTIONS:
        part = getattr(DEFAULTS, section)
        assert not type(part).__doc__.startswith(type(part).__name__)  # not the one dataclass makes
        assert type(part).__doc__
    assert {name.split(".")[0] for name in SETTINGS} == set(SECTIONS)
    assert len(SETTINGS) <= 85  # what nobody would turn is a constant: decision 0024
    every = sum(len(vars(getattr(DEFAULTS, name))) for name in SECTIONS)
    assert len(SETTINGS) == every - 1  # profile.primary is found out


@pytest.mark.parametrize("setting", ALL, ids=lambda setting: setting.name)
def test_a_setting_is_one_documented_line_and_its_default_passes_its_own_check(
    setting: Setting,
) -> None:
    assert setting.doc
    assert setting.doc.endswith(".")
    assert "\n" not in setting.doc
    assert setting.expected
    assert value_of(DEFAULTS, setting.name) == setting.default
    assert setting.check(setting.default, "anywhere") == setting.default


def test_names_map_one_to_one_to_variables() -> None:
    assert SETTINGS["store.lock_timeout_seconds"].variable == "MEMOLITH_STORE__LOCK_TIMEOUT_SECONDS"
    assert len({setting.variable for setting in ALL}) == len(ALL)


def test_the_config_cannot_be_changed_behind_anybodys_back() -> None:
    with pytest.raises(AttributeError):
        Config().trim.max_records = 5  # type: ignore[misc]


def test_changed_values_leave_the_defaults_alone() -> None:
    config = with_values({"trim.max_records": 5, "search.mmr_lambda": 0.5, "chat.enabled": False})
    assert (config.trim.max_records, config.search.mmr_lambda, config.chat.enabled) == (
        5,
        0.5,
        False,
    )
    assert config.trim.archive_path == DEFAULTS.trim.archive_path
    assert config.store == DEFAULTS.store
    assert Config() == DEFAULTS


ARCHIVES = [
    "archive.md",
    "memory/MEMORY-archive.md",
    ".memolith/archive/x.md",
    "a/b/ü ñ.md",
    "..x.md",
]
NOT_ARCHIVES = [
    "", ".", "..", "/archive.md", "../archive.md", "a/../../b.md", "a/..", "~/archive.md", "~x.md",
    "./archive.md", "a//b.md", "archive", "archive.txt", "archive.md/", "a\\..\\b.md", "C:x.md",
    "a\0.md", "a\n.md", "\ud800.md", "\u202egpj.md", "memolith.toml",
    "MEMORY.md", "memory.md", "memory/MEMORY.md", "USER.md", "LONGMEMORY.md", "DREAMS.md",
    "memory/2026-11-15.md", "Memory/2026-11-15.MD",
]  # fmt: skip


@pytest.mark.parametrize("path", ARCHIVES)
def test_an_archive_may_be_any_markdown_file_of_the_profile(path: str) -> None:
    assert SETTINGS["trim.archive_path"].check(path, ARGUMENT) == path


@pytest.mark.parametrize("path", NOT_ARCHIVES, ids=ascii)
@pytest.mark.parametrize("origin", [ARGUMENT, "environment", "config.toml"])
def test_an_archive_outside_the_profile_or_over_its_files_is_refused(
    path: str, origin: str
) -> None:
    with pytest.raises(ConfigError, match=r"expected a \.md file inside the profile"):
        SETTINGS["trim.archive_path"].check(path, origin)


@pytest.mark.parametrize("zone", ["", "UTC", "Europe/Madrid", "America/Argentina/Buenos_Aires"])
def test_a_zone_may_be_any_iana_name_or_the_systems(zone: str) -> None:
    assert SETTINGS["profile.timezone"].check(zone, ARGUMENT) == zone


@pytest.mark.parametrize(
    "zone",
    ["Mars", "Europe", "../UTC", "/etc/passwd", "a\0", "\ud800", "x" * 5000, " ", "."],
    ids=ascii,
)
def test_an_unknown_zone_is_refused(zone: str) -> None:
    with pytest.raises(ConfigError, match="expected an IANA time zone such as Europe/Madrid"):
        SETTINGS["profile.timezone"].check(zone, ARGUMENT)
