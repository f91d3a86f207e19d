"""Which folder is the memory: what was named wins over what is found, and nothing falls through."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memolith.config.load import open_profile
from memolith.errors import ProfileError
from memolith.jobs.trust import approve, withdraw
from memolith.profile import Environment, Profile, resolve

if TYPE_CHECKING:
    from pathlib import Path


class Place:
    """A home with a project folder in it, and a process somewhere below."""

    def __init__(self, tmp_path: Path) -> None:
        self.home = tmp_path / "ana"
        self.project = self.home / "project"
        self.inside = self.project / "src" / "deep"
        self.inside.mkdir(parents=True)
        self.profiles = self.home / ".memolith" / "profiles"

    def environment(self, cwd: Path | str | None = None, **variables: str) -> Environment:
        where = str(self.inside) if cwd is None else str(cwd)
        named = {name.upper(): value for name, value in variables.items()}
        return Environment(where, {"HOME": str(self.home), **named})

    def resolve(
        self,
        root: str | None = None,
        name: str | None = None,
        *,
        cwd: Path | str | None = None,
        create: bool = False,
        use_default: bool = False,
        **variables: str,
    ) -> Profile:
        environment = self.environment(cwd, **variables)
        return resolve(root, name, environment, create=create, use_default=use_default)

    def approve(self, folder: Path) -> None:
        approve(str(folder), str(self.home / ".memolith"), datetime(2026, 11, 15, tzinfo=UTC))

    def problem(self, root: str | None = None, name: str | None = None, **variables: str) -> str:
        with pytest.raises(ProfileError) as caught:
            self.resolve(root, name, **variables)
        return str(caught.value)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def test_without_any_hint_it_is_the_default_profile_which_needs_no_init(place: Place) -> None:
    profile = place.resolve()
    assert profile == Profile(
        name="default",
        root=str(place.profiles / "default"),
        found_by="default",
        home=str(place.home / ".memolith"),
    )
    assert not profile.exists
    assert profile.settings_file == str(place.profiles / "default" / "memolith.toml")
    assert profile.user_settings_file == str(place.home / ".memolith" / "config.toml")


def test_the_nearest_folder_with_a_settings_file_wins_over_the_default(place: Place) -> None:
    (place.home / "memolith.toml").touch()
    place.approve(place.home)
    assert place.resolve().root == str(place.home)
    (place.project / "memolith.toml").touch()
    place.approve(place.project)
    profile = place.resolve()
    assert (profile.root, profile.name) == (str(place.project), "project")
    assert (profile.found_by, profile.trusted) == ("folder", False)


def test_every_way_of_naming_a_profile_wins_over_a_found_folder(place: Place) -> None:
    (place.project / "memolith.toml").touch()
    (place.profiles / "work").mkdir(parents=True)
    root = str(place.home / "elsewhere")
    work = str(place.profiles / "work")
    assert place.resolve(root=root).root == root
    assert place.resolve(memolith_root=root).root == root
    assert place.resolve(name="work").root == work
    assert place.resolve(memolith_profile="work").root == work


def test_an_argument_wins_over_the_environment(place: Place) -> None:
    (place.profiles / "work").mkdir(parents=True)
    root, other = str(place.home / "a"), str(place.home / "b")
    assert place.resolve(root=root, memolith_root=other).root == root
    assert place.resolve(root=root, memolith_profile="work").root == root
    assert place.resolve(name="work", memolith_root=other).root == str(place.profiles / "work")
    assert place.resolve(name="default", memolith_profile="work").name == "default"


def test_what_was_named_is_trusted_even_where_a_file_was_found(place: Place) -> None:
    (place.project / "memolith.toml").touch()
    assert place.resolve(root=str(place.project)).trusted
    assert place.resolve(memolith_root=str(place.project)).trusted


def test_a_folder_found_inside_memolith_home_is_trusted(place: Place) -> None:
    work = place.profiles / "work"
    work.mkdir(parents=True)
    (work / "memolith.toml").touch()
    profile = place.resolve(cwd=work)
    assert (profile.root, profile.found_by, profile.trusted) == (str(work), "folder", True)


def test_a_root_and_a_profile_at_once_are_an_error(place: Place) -> None:
    assert place.problem("x", "work") == (
        "Both a root and a profile are given (argument).\nLeave one of them out."
    )
    assert place.problem(memolith_root="x", memolith_profile="work").startswith(
        "Both a root and a profile are given (environment)."
    )


def test_an_unknown_profile_is_an_error_that_lists_those_there_are(place: Place) -> None:
    assert place.problem(name="work") == (
        "There is no profile work. Existing profiles: none yet.\n"
        "To make it, run: memolith init --profile work"
    )
    for name in ("play", "default", ".hidden"):
        (place.profiles / name).mkdir(parents=True)
    problem = place.problem(memolith_profile="wrok")
    assert "There is no profile wrok. Existing profiles: default, play.\n" in problem
    assert place.resolve(name="work", create=True).root == str(place.profiles / "work")
    assert not (place.profiles / "work").exists()


HOSTILE_NAMES = [
    "", ".", "..", "../x", "a/b", "/etc", "a\\b", "Work", "WORK", "work ", " work", "work\n",
    "wоrk",  # Cyrillic o
    "ｗork", "work\0", "-work", "_work", ".work", "~", "~root", "caf\u00e9", "cafe\u0301", "١",
    "a" * 65, "work\u200b", "\ud800", "con:", "*",
]  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE_NAMES, ids=ascii)
def test_a_name_that_could_be_mistaken_is_never_another_profile(place: Place, name: str) -> None:
    (place.profiles / "work").mkdir(parents=True)
    for problem in (
        place.problem(name=name),
        place.problem(memolith_profile=name),
    ):
        assert problem.isprintable() or problem.count("\n") == 1
        assert problem.startswith("A profile cannot be named ")
    with pytest.raises(ProfileError):
        place.resolve(name=name, create=True)


ALIKE = st.sampled_from(["work", "play", "work.2"]).flatmap(
    lambda name: st.tuples(
        st.integers(0, len(name)),
        st.sampled_from(["", "/", ".", "..", "\0", " ", "W", "w", "\u0301", "-"]),
    ).map(lambda at: name[: at[0]] + at[1] + name[at[0] :])
)


@settings(
    max_examples=2000,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(name=st.one_of(ALIKE, st.text(max_size=70)), by_variable=st.booleans())
def test_a_name_leads_to_its_own_folder_or_nowhere(
    place: Place, name: str, by_variable: bool
) -> None:
    environment = place.environment(memolith_profile=name) if by_variable else place.environment()
    try:
        profile = resolve(None, None if by_variable else name, environment, create=True)
    except ProfileError:
        return
    assert profile.root == f"{place.profiles}/{name}"
    assert profile.name == name
    assert os.path.dirname(os.path.realpath(profile.root)) == os.path.realpath(place.profiles)


def test_a_bad_name_comes_with_a_better_one(place: Place) -> None:
    assert place.problem(name="My Agent") == (
        "A profile cannot be named 'My Agent'.\n"
        "Use a-z, 0-9, dot, dash and underscore, at most 64, starting with a letter or digit."
        " Try: my-agent"
    )


@pytest.mark.parametrize("name", ["a", "0", "work.2", "a-b_c", "a" * 64])
def test_plain_names_are_fine(place: Place, name: str) -> None:
    assert place.resolve(name=name, create=True).name == name


def test_a_relative_root_counts_from_the_current_folder_and_a_tilde_from_home(place: Place) -> None:
    assert place.resolve(root="notes").root == str(place.inside / "notes")
    assert place.resolve(root="../x/.").root == str(place.project / "src" / "x")
    assert place.resolve(memolith_root="~/notes").root == str(place.home / "notes")
    assert place.resolve(root="~").root == str(place.home)
    assert place.resolve(memolith_home="~/m").root == str(place.home / "m/profiles/default")
    assert place.resolve(memolith_home="m").root == str(place.inside / "m/profiles/default")


@pytest.mark.parametrize("path", ["", "a\0b", "~bob/x", "\ud800"], ids=ascii)
def test_what_cannot_be_a_path_is_an_error(place: Place, path: str) -> None:
    place.problem(root=path)
    place.problem(memolith_root=path)
    place.problem(memolith_home=path)


def test_a_root_that_is_a_file_or_below_one_is_an_error(place: Place) -> None:
    file = place.home / "file"
    file.touch()
    assert place.problem(root=str(file)) == (
        f"{file} is a file; a profile's root is a folder.\n"
        "Choose another --root, or move that file away."
    )
    assert "cannot be used: Not a directory." in place.problem(root=str(file / "x"))
    assert "is a file" in place.problem(memolith_home=str(file))
    place.profiles.mkdir(parents=True)
    (place.profiles / "work").touch()
    assert "is a file" in place.problem(name="work")


def test_a_missing_root_is_made_later_so_it_is_no_error_now(place: Place) -> None:
    assert not place.resolve(root=str(place.home / "new" / "deep")).exists


def test_the_walk_up_does_not_go_above_home(place: Place) -> None:
    (place.home.parent / "memolith.toml").touch()
    assert place.resolve().found_by == "default"
    assert place.resolve(cwd=place.home).found_by == "default"


def test_outside_home_the_walk_goes_up_but_never_to_the_top(tmp_path: Path, place: Place) -> None:
    outside = tmp_path / "srv" / "app" / "src"
    outside.mkdir(parents=True)
    (tmp_path / "srv" / "memolith.toml").touch()
    place.approve(tmp_path / "srv")
    assert place.resolve(cwd=outside).root == str(tmp_path / "srv")
    assert place.resolve(cwd="/").found_by == "default"


def test_a_found_folder_is_used_only_after_it_was_approved(place: Place) -> None:
    (place.project / "memolith.toml").touch()
    assert place.problem() == (
        f"The memory in {place.project} is not approved, so nothing was done.\n"
        f"To approve it: memolith trust {place.project};"
        " to use your default memory instead, add: --profile default"
    )
    profile = place.resolve(use_default=True)
    assert (profile.name, profile.found_by) == ("default", "default")
    assert profile.unapproved == str(place.project)
    assert profile.notice == (
        f"The memory in {place.project} is not approved"
        f" (to approve it: memolith trust {place.project}), so your default memory is used."
    )
    place.approve(place.project)
    profile = place.resolve()
    assert (profile.root, profile.unapproved, profile.notice) == (str(place.project), "", "")
    withdraw(str(place.project), str(place.home / ".memolith"))
    assert place.resolve(use_default=True).found_by == "default"


def test_a_farther_folder_that_is_approved_does_not_replace_a_nearer_one(place: Place) -> None:
    (place.home / "memolith.toml").touch()
    place.approve(place.home)
    (place.project / "memolith.toml").touch()
    assert place.resolve(use_default=True).unapproved == str(place.project)


def test_an_approval_is_for_the_real_path(place: Place) -> None:
    (place.project / "memolith.toml").touch()
    link = place.home / "link"
    link.symlink_to(place.project)
    place.approve(link)
    assert place.resolve().root == str(place.project)
    other = place.home / "other"
    other.mkdir()
    (other / "memolith.toml").touch()
    link.unlink()
    link.symlink_to(other)
    assert place.resolve(cwd=link, use_default=True).unapproved == str(link)


def test_naming_a_folder_approves_it_for_this_process_only(place: Place) -> None:
    (place.project / "memolith.toml").touch()
    for named in (
        place.resolve(root=str(place.project)),
        place.resolve(memolith_root=str(place.project)),
    ):
        assert (named.root, named.notice) == (str(place.project), "")
    assert "is not approved" in place.problem()


@pytest.mark.parametrize("text", ["", "[]", "{", '{"/a": 1}', '{"/a": null}', "\xff"])
def test_a_damaged_list_of_approved_folders_approves_nothing_and_is_named(
    place: Place, text: str
) -> None:
    (place.project / "memolith.toml").touch()
    place.approve(place.project)
    file = place.home / ".memolith" / "approved-folders.json"
    file.write_text(text, encoding="latin-1")
    assert place.problem().startswith(f"{file} cannot be read.")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
@pytest.mark.parametrize("given_away", ["", "memolith.toml"])
def test_an_approval_ends_when_folder_or_settings_file_get_another_owner(
    place: Place, given_away: str
) -> None:
    (place.project / "memolith.toml").touch()
    place.approve(place.project)
    assert place.resolve().root == str(place.project)
    os.chown(place.project / given_away, 12345, 12345)
    assert "is not approved" in place.problem()
    assert place.resolve(root=str(place.project)).root == str(place.project)


def test_a_settings_file_that_cannot_be_looked_at_is_not_passed_over(place: Place) -> None:
    loop = place.project / "memolith.toml"
    loop.symlink_to(loop)
    assert "memolith.toml cannot be looked at: Too many levels" in place.problem()


def test_in_a_deleted_folder_the_profile_must_be_named(place: Place) -> None:
    assert place.resolve(root=str(place.project), cwd="").root == str(place.project)
    for root in (None, "notes"):
        with pytest.raises(ProfileError, match="The current folder no longer exists"):
            place.resolve(root=root, cwd="")


def test_without_a_home_memolith_home_must_be_set(tmp_path: Path) -> None:
    environment = Environment(str(tmp_path), {"HOME": "~"})
    with pytest.raises(ProfileError, match="There is no home folder"):
        resolve(None, None, environment)


def test_the_process_is_asked_where_it_stands(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    (place.project / "memolith.toml").touch()
    place.approve(place.project)
    monkeypatch.chdir(place.project)
    monkeypatch.setenv("HOME", str(place.home))
    monkeypatch.delenv("MEMOLITH_HOME")
    profile, _ = open_profile()
    assert (profile.root, profile.home) == (str(place.project), str(place.home / ".memolith"))
    assert open_profile("x")[0].root == str(place.project / "x")
