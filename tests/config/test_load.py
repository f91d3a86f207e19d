"""Where each value comes from, and what is said when one is wrong."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memolith.config.load import (
    open_profile,
    settings_from_flags,
)
from memolith.config.sections import DEFAULTS, SETTINGS, value_of
from memolith.config.setting import Setting
from memolith.errors import ConfigError, ProfileError
from tests.conftest import approve

if TYPE_CHECKING:
    from collections.abc import Mapping

    from memolith.config.load import LoadedConfig
    from memolith.profile import Profile


class Desk:
    """A user with a home, a project folder, and settings in any of the places."""

    def __init__(self, folder: Path) -> None:
        self.home = folder / "ana"
        self.project = self.home / "project"
        self.project.mkdir(parents=True)
        (self.home / ".memolith").mkdir()
        self.user_file = self.home / ".memolith" / "config.toml"
        self.profile_file = self.project / "memolith.toml"
        self.root: str | None = str(self.project)

    def approve(self) -> None:
        self.root = None
        approve(self.project, home=self.home / ".memolith")

    def open(
        self, arguments: Mapping[str, object] | None = None, **variables: str
    ) -> tuple[Profile, LoadedConfig]:
        environ = {"HOME": str(self.home), "PATH": "/bin", **variables}
        return open_profile(self.root, None, arguments, environ=environ, cwd=str(self.project))

    def load(self, arguments: Mapping[str, object] | None = None, **variables: str) -> LoadedConfig:
        return self.open(arguments, **variables)[1]

    def problem(self, arguments: Mapping[str, object] | None = None, **variables: str) -> str:
        with pytest.raises(ConfigError) as caught:
            self.load(arguments, **variables)
        return str(caught.value)

    def problem_in_file(self, toml: str) -> str:
        """The error about this profile file, its path shortened to FILE."""
        self.profile_file.write_text(toml, encoding="utf-8")
        return self.problem().replace(str(self.profile_file), "FILE")


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def test_without_files_and_variables_everything_is_default(desk: Desk) -> None:
    loaded = desk.load()
    assert loaded.config is DEFAULTS
    assert loaded.origins == dict.fromkeys(SETTINGS, "default")


def test_each_place_wins_over_the_next_and_is_named_as_the_origin(desk: Desk) -> None:
    def now(arguments: Mapping[str, object] | None = None, **variables: str) -> tuple[int, str]:
        loaded = desk.load(arguments, **variables)
        return loaded.config.trim.max_records, loaded.origins["trim.max_records"]

    assert now() == (0, "default")
    desk.user_file.write_text("[trim]\nmax_records = 1\nmax_chars = 7\n")
    assert now() == (1, str(desk.user_file))
    desk.profile_file.write_text("[trim]\nmax_records = 2\n")
    assert now() == (2, str(desk.profile_file))
    assert now(MEMOLITH_TRIM__MAX_RECORDS="3") == (3, "environment")
    assert now({"trim.max_records": 4}, MEMOLITH_TRIM__MAX_RECORDS="3") == (4, "argument")
    loaded = desk.load({"trim.max_records": "5"})
    assert (loaded.config.trim.max_records, loaded.config.trim.max_chars) == (5, 7)
    assert loaded.origins["trim.max_chars"] == str(desk.user_file)
    assert loaded.origins["search.mmr_lambda"] == "default"


def another_value(setting: Setting) -> bool | float | str | list[str]:
    """A value that is allowed and not the default."""
    if setting.kind is tuple:
        return ["/one", "/two"] if setting.name == "index.extra_paths" else ["one", "two"]
    if setting.kind is bool:
        return not setting.default
    choices: list[float | str] = [50, 30, 5, 0.5, 500, 5000, 50000]
    if setting.kind is str:
        words = setting.rule.text.removeprefix("one of ").split(", ") if setting.rule else []
        choices = [*words, "Europe/Madrid", "memory/MEMORY-archive.md", "0 4 * * *", "127.0.0.2"]
        choices += ["http://127.0.0.1:1", "10m", "env:KEY", "something", "~/notes", "fastembed:m"]
    for value in choices:
        if setting.rule is None or setting.rule.check(value):
            kept = setting.kind(value)
            if kept == value and kept != setting.default:
                return value
    raise AssertionError(f"no other value known for {setting.name}")


@pytest.mark.parametrize("name", SETTINGS)
def test_every_setting_can_be_set_from_every_place(desk: Desk, name: str) -> None:
    setting = SETTINGS[name]
    value = another_value(setting)
    section, key = name.split(".")
    toml = (
        f"[{section}]\n{key} = {str(value).lower() if isinstance(value, bool) else repr(value)}\n"
    )
    expected = setting.kind(value)
    assert expected != setting.default
    for loaded in (
        desk.load({name: value}),
        desk.load({name: str(value)}),
        desk.load(**{setting.variable: str(value)}),
    ):
        assert value_of(loaded.config, name) == expected
    for file in (desk.user_file, desk.profile_file):
        file.write_text(toml, encoding="utf-8")
        loaded = desk.load()
        assert value_of(loaded.config, name) == expected
        assert type(value_of(loaded.config, name)) is setting.kind
        assert loaded.origins[name] == str(file)
        file.unlink()


def test_a_misspelt_setting_is_an_error_that_suggests_the_right_one(desk: Desk) -> None:
    assert desk.problem_in_file("[store]\nbackups_keptt = 1") == (
        "Unknown setting store.backups_keptt (FILE)\nDid you mean store.backups_kept?"
    )
    assert desk.problem_in_file("backups_kept = 1") == (
        "Unknown setting backups_kept (FILE)\nDid you mean store.backups_kept?"
    )
    assert desk.problem_in_file("[stores]\nbackups_kept = 1") == (
        "Unknown section [stores] (FILE)\nDid you mean [store]?"
    )
    assert desk.problem_in_file("[zzz]\n") == (
        "Unknown section [zzz] (FILE)\n"
        "Take it out: memolith config unset zzz; see all settings: memolith config show"
    )
    assert desk.problem_in_file("[store]\nzzzzzzzzzzzz = 1") == (
        "Unknown setting store.zzzzzzzzzzzz (FILE)\nTake it out:"
        " memolith config unset store.zzzzzzzzzzzz; see all settings: memolith config show"
    )
    desk.profile_file.unlink()
    assert desk.problem({"trim.maxrecords": 5}) == (
        "Unknown setting trim.maxrecords\nDid you mean trim.max_records?"
    )


def test_a_misspelt_variable_is_an_error_that_suggests_the_right_one(desk: Desk) -> None:
    suggestions = {
        "MEMOLITH_STORE__BACKUPS_KEPTT": "Did you mean MEMOLITH_STORE__BACKUPS_KEPT?",
        "MEMOLITH_STORE_BACKUPS_KEPT": "Did you mean MEMOLITH_STORE__BACKUPS_KEPT?",
        "MEMOLITH_Store__Durability": "See all settings: memolith config show",
        "MEMOLITH_ZZZ__QQQ": "See all settings: memolith config show",
        "MEMOLITH_ROT": "Did you mean MEMOLITH_ROOT?",
        "MEMOLITH_HOMEE": "Did you mean MEMOLITH_HOME?",
        "MEMOLITH_PROFIL": "Did you mean MEMOLITH_PROFILE?",
    }
    for variable, hint in suggestions.items():
        assert desk.problem(**{variable: "x"}) == (
            f"Unknown variable {variable} (environment)\n{hint}"
        )


def test_a_variable_that_looks_like_none_of_ours_is_left_alone(desk: Desk) -> None:
    others = {"MEMOLITH_CRASH_TIER": "long", "MEMOLITH_TOKEN": "x", "MEMOLITHIC__X": "y"}
    assert desk.load(**others).config is DEFAULTS


def test_a_misspelt_variable_is_found_before_the_wrong_profile_is(desk: Desk) -> None:
    desk.root = None
    assert "MEMOLITH_ROOT" in desk.problem(MEMOLITH_ROT="/elsewhere", MEMOLITH_PROFILE="unknown")


def test_a_wrong_value_is_named_with_its_origin_and_what_was_expected(desk: Desk) -> None:
    wrong = {
        "[context]\ncitations = 'often'": (
            "context.citations = 'often' (FILE): expected one of auto, on, off"
        ),
        "[context]\ncitations = true": "context.citations = True (FILE): expected one of auto, on, off",
        "[trim]\nmax_records = '5'": (
            "trim.max_records = '5' (FILE): expected a whole number, at least 0"
        ),
        "[trim]\nmax_records = -1": "trim.max_records = -1 (FILE): expected a whole number, at least 0",
        "[trim]\nmax_records = 5.0": (
            "trim.max_records = 5.0 (FILE): expected a whole number, at least 0"
        ),
        "[trim]\nmax_records = true": (
            "trim.max_records = True (FILE): expected a whole number, at least 0"
        ),
        "[search]\nmmr_lambda = nan": "search.mmr_lambda = nan (FILE): expected a number, from 0 to 1",
        "[search]\nmmr_lambda = inf": "search.mmr_lambda = inf (FILE): expected a number, from 0 to 1",
        "[search]\nmmr_lambda = false": "search.mmr_lambda = False (FILE): expected a number, from 0 to 1",
        "[search]\nmmr_lambda = 2026-01-01": (
            "search.mmr_lambda = datetime.date(2026, 1, 1) (FILE): expected a number, from 0 to 1"
        ),
        "[chat]\nenabled = 1": "chat.enabled = 1 (FILE): expected true or false",
        "[chat]\nenabled = 'true'": "chat.enabled = 'true' (FILE): expected true or false",
        "[chat]\nenabled = [true]": "chat.enabled = [True] (FILE): expected true or false",
        "chat = 1": "chat = 1 (FILE): expected a section [chat]",
        "[[chat]]\nenabled = true": "chat = [{'enabled': True}] (FILE): expected a section [chat]",
        "[profile]\ntimezone = 'Mars'": (
            "profile.timezone = 'Mars' (FILE): "
            'expected an IANA time zone such as Europe/Madrid, or "" for the system\'s'
        ),
    }
    for toml, message in wrong.items():
        said, _, hint = desk.problem_in_file(toml).partition("\n")
        assert (said, hint[:34]) == (message, "Take it out: memolith config unset")


@pytest.mark.parametrize("text", ["", "x", "-1", "1.5", "true", "nan", "9" * 5000, "0x10"])
def test_text_that_is_no_whole_number_is_refused(desk: Desk, text: str) -> None:
    problem = desk.problem(MEMOLITH_TRIM__MAX_RECORDS=text)
    refusal, _, hint = problem.partition("\n")
    assert refusal.endswith("(environment): expected a whole number, at least 0")
    assert bool(hint) == (len(text) > 1000)  # how large a number may be
    assert len(problem) < 200


@pytest.mark.parametrize("text", ["", "x", "-0.1", "nan", "inf", "-inf", "1e999", "true", "1.01"])
def test_text_that_is_no_number_within_the_limits_is_refused(desk: Desk, text: str) -> None:
    with pytest.raises(ConfigError) as caught:
        desk.load({"search.mmr_lambda": text})
    assert caught.value.message == (f"search.mmr_lambda = {text!r}: expected a number, from 0 to 1")
    assert (caught.value.setting, caught.value.origin) == ("search.mmr_lambda", "argument")


@pytest.mark.parametrize("value", [None, [], {}, b"0", 0j, True, float("nan"), 10**400], ids=repr)
def test_arguments_of_another_type_are_refused(desk: Desk, value: object) -> None:
    assert "expected a number" in desk.problem({"store.lock_timeout_seconds": value})


@pytest.mark.parametrize("value", ["nan", "inf", "-inf", float("nan"), float("inf")])
def test_what_is_no_number_is_refused_even_where_there_is_no_limit(value: object) -> None:
    setting = Setting(name="a.b", default=1.0, doc="")
    with pytest.raises(ConfigError, match=r"expected a number$"):
        setting.check(value, "argument")


def test_true_and_false_may_be_written_as_people_do(desk: Desk) -> None:
    for text in ("true", "TRUE", "yes", "on", "1"):
        assert desk.load(MEMOLITH_CHAT__ENABLED=text).config.chat.enabled is True
    for text in ("false", "No", "off", "0"):
        assert desk.load(MEMOLITH_CHAT__ENABLED=text).config.chat.enabled is False
    assert "expected true or false" in desk.problem(MEMOLITH_CHAT__ENABLED="maybe")


def test_a_file_found_in_a_project_folder_may_not_set_everything(desk: Desk) -> None:
    desk.profile_file.write_text("[llm]\nmodel = 'mine'\n")
    assert desk.load().config.llm.model == "mine"  # the root was named
    desk.approve()
    assert desk.problem() == (
        f"llm.model may not be set by a file found in a project folder ({desk.profile_file})\n"
        f"Set it in {desk.user_file} or as MEMOLITH_LLM__MODEL,"
        f" or name the folder: --root {desk.project}"
    )
    assert desk.load(MEMOLITH_ROOT=str(desk.project)).config.llm.model == "mine"


TRUSTED = [name for name, setting in SETTINGS.items() if setting.trusted_only]


def test_what_would_widen_something_is_for_the_user_alone() -> None:
    sections = {"llm", "embed", "trust", "mcp", "index"}
    sizes = {"index.chunk_bytes", "index.overlap_bytes"}  # a project may say how its files are cut
    assert {name for name in SETTINGS if name.split(".")[0] in sections} - sizes <= {*TRUSTED}
    assert {"serve.host", "serve.port", "serve.allow"} <= {*TRUSTED}
    assert SETTINGS["store.backups_kept"].trusted_to_lower


@pytest.mark.parametrize("name", TRUSTED)
def test_the_file_of_an_approved_folder_sets_nothing_that_is_the_users(
    desk: Desk, name: str
) -> None:
    section, key = name.split(".")
    value = another_value(SETTINGS[name])
    text = json.dumps(value) if not isinstance(value, bool) else str(value).lower()
    desk.profile_file.write_text(f"[{section}]\n{key} = {text}\n")
    assert value_of(desk.load().config, name) != SETTINGS[name].default  # the root was named
    desk.approve()
    assert f"{name} may not be set by a file found in a project folder" in desk.problem()


def test_the_file_of_an_approved_folder_keeps_more_backups_and_not_fewer(desk: Desk) -> None:
    desk.profile_file.write_text("[store]\nbackups_kept = 101\n")
    desk.approve()
    assert desk.load().config.store.backups_kept == 101
    desk.profile_file.write_text("[store]\nbackups_kept = 99\n")
    assert "store.backups_kept may not be set" in desk.problem()


@pytest.mark.parametrize("name", ["llm.key", "embed.key"])
def test_a_key_belongs_into_the_environment(desk: Desk, name: str) -> None:
    section, key = name.split(".")
    problem = desk.problem_in_file(f"[{section}]\n{key} = 'x'\n")
    assert problem.startswith(
        f"Unknown setting {name} (FILE)\nPut the key into the variable MEMOLITH_"
    )


@pytest.mark.parametrize(
    "name",
    [
        "store.duplicates",
        "context.external",
        "llm.price",
        "search.seasons",
        "jobs.kept",
        "serve.hosts",
    ],
)
def test_what_was_a_setting_once_is_unknown_and_the_error_says_how_to_go_on(
    desk: Desk, name: str
) -> None:
    section, key = name.split(".")
    message, hint = desk.problem_in_file(f"[{section}]\n{key} = 1\n").split("\n")
    assert message == f"Unknown setting {name} (FILE)"
    assert f"memolith config unset {name}" in hint or hint.startswith("Did you mean ")


def test_a_file_found_in_a_project_folder_may_tune_the_rest(desk: Desk) -> None:
    desk.profile_file.write_text("[trim]\nmax_records = 5\narchive_path = 'old.md'\n")
    desk.approve()
    profile, loaded = desk.open()
    assert (profile.root, profile.trusted) == (str(desk.project), False)
    assert (loaded.config.trim.max_records, loaded.config.trim.archive_path) == (5, "old.md")
    desk.user_file.write_text("[llm]\nmodel = 'mine'\n")
    assert desk.load().config.llm.model == "mine"
    assert desk.load(MEMOLITH_LLM__MODEL="other").config.llm.model == "other"


def test_hostile_names_and_values_do_not_reach_the_terminal(desk: Desk) -> None:
    for toml in (
        '"\\u001b[31m" = 1',
        '["\\u001b]8;;evil\\u0007"]',
        '[store]\n"a\\nb" = 1',
        '[context]\ncitations = "\\u001b[2J"',
        "[context]\ncitations" + ".a" * 900 + " = 1",
        "[store]\n" + "x" * 1900 + " = 1",
    ):
        problem = desk.problem_in_file(toml)
        assert all(line.isprintable() for line in problem.splitlines())
        assert problem.count("\n") <= 1
        assert len(problem) < 400


def test_flags_are_split_at_the_first_equals_sign() -> None:
    assert settings_from_flags([]) == {}
    assert settings_from_flags(["a.b=c=d", "a.b=", "x.y = 5"]) == {"a.b": "", "x.y": " 5"}
    with pytest.raises(ConfigError) as caught:
        settings_from_flags(["search.mmr_lambda"])
    assert str(caught.value) == (
        "--set 'search.mmr_lambda' has no value\nWrite it as: --set section.key=value"
    )


def test_a_profile_that_is_wrong_stays_a_profile_error(desk: Desk) -> None:
    with pytest.raises(ProfileError):
        open_profile(None, "../x", environ={"HOME": str(desk.home)}, cwd=str(desk.project))


def test_in_a_deleted_folder_the_profile_must_be_named(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(desk.project)
    desk.project.rmdir()
    with pytest.raises(ProfileError, match="The current folder no longer exists"):
        open_profile()
    assert open_profile(desk.home)[0].root == str(desk.home)


def test_without_a_settings_file_no_parser_is_imported(desk: Desk) -> None:
    code = (
        "import sys; before = set(sys.modules)\n"
        "from memolith.config.load import open_profile; open_profile()\n"
        "print(*set(sys.modules) - before)"
    )
    run = subprocess.run(
        [sys.executable, "-c", code], cwd=desk.project, capture_output=True, check=True, text=True
    )
    imported = set(run.stdout.split())
    assert "memolith.config.load" in imported
    assert imported & {"tomllib", "difflib", "zoneinfo", "pathlib"} == set()


PIECES = [
    *"[]={}.,#'\"\\\n\r\t 0_-", "[[", "]]", '"""', "'''", "true", "nan", "-inf", "1e9", "0x", "9" * 30,
    "2026-01-01", "07:32:00", "\\u0000", "\0", "\x1b", "\ufeff", "é", "\u2028", "\ud800", "store", "trim",
    "[trim]\n", "[store]\n", "max_records", "backups_kept = ", "mmr_lambda = ", "archive_path = ", "{a=",
]  # fmt: skip
VALUES = [
    "true",
    "-1",
    "1e400",
    "nan",
    "9" * 25,
    "''",
    "'x'",
    "'../x.md'",
    "[]",
    "{}",
    "1979-05-27",
]


def hostile_file(chance: random.Random) -> bytes:
    """Noise, TOML words in disorder, or real settings with unlikely values."""
    shape = chance.randrange(3)
    if shape == 0:
        return chance.randbytes(chance.randrange(60))
    if shape == 1:
        text = "".join(chance.choices(PIECES, k=chance.randrange(25)))
        return text.encode(errors="surrogatepass")
    section, key = chance.choice(list(SETTINGS)).split(".")
    return f"[{section}]\n{key} = {chance.choice(VALUES)}\n".encode()


@pytest.fixture(scope="module")
def hostile_desk(tmp_path_factory: pytest.TempPathFactory) -> Desk:
    return Desk(tmp_path_factory.mktemp("hostile"))


@settings(max_examples=200, deadline=None)
@given(chance=st.randoms(use_true_random=True))
def test_no_bytes_of_a_file_raise_anything_but_a_config_error(
    hostile_desk: Desk, chance: random.Random
) -> None:
    for _ in range(100):
        content = hostile_file(chance)
        # A new file each time: rewriting one in place makes some file systems wait for the disk.
        hostile_desk.profile_file.unlink(missing_ok=True)
        hostile_desk.profile_file.write_bytes(content)
        try:
            loaded = hostile_desk.load()
        except ConfigError as error:
            named = error.origin
        else:
            named = str(hostile_desk.profile_file)
            kinds = {name: type(value_of(loaded.config, name)) for name in SETTINGS}
            assert kinds == {name: setting.kind for name, setting in SETTINGS.items()}
        assert named == str(hostile_desk.profile_file), content
