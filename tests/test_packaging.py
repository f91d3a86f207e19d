"""What pyproject.toml promises to an installer is what the code needs."""

from __future__ import annotations

import ast
import re
import sys
import tarfile
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
from hatchling.builders.sdist import SdistBuilder

from scripts.package_page import package_page

REPOSITORY = Path(__file__).parent.parent
PROJECT = tomllib.loads((REPOSITORY / "pyproject.toml").read_text("utf-8"))["project"]
EXTRAS = [one for extra in PROJECT["optional-dependencies"].values() for one in extra]
# Never imported by us: a model that is read from the wheel, and data for zoneinfo.
DATA = {"wordllama", "tzdata"}


def distribution(requirement: str) -> str:
    """The name of a requirement, in the form that compares."""
    return re.split(r"[\s<>=!~;\[]", requirement)[0].replace("_", "-").lower()


def imported() -> dict[str, set[str]]:
    """Every package that src imports, and the distributions that provide it; of an extra perhaps none."""
    known = packages_distributions()
    found = dict[str, set[str]]()
    for module in sorted((REPOSITORY / "src").rglob("*.py")):
        for node in ast.walk(ast.parse(module.read_text("utf-8"))):
            names = list[str]()
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and not node.level and node.module:
                names = [node.module]
            for name in (name.partition(".")[0] for name in names):
                if name not in sys.stdlib_module_names and name != "memolith":
                    is_extra = module.parent.name in ("adapters", "engines")
                    found[name] = set(
                        map(distribution, known.get(name, ()) if is_extra else known[name])
                    )
    return found


def test_every_imported_package_is_declared() -> None:
    declared = {distribution(requirement) for requirement in (*PROJECT["dependencies"], *EXTRAS)}
    missing = [name for name, by in imported().items() if by and declared.isdisjoint(by)]
    assert missing == []


def test_every_declared_package_is_imported() -> None:
    declared = {distribution(requirement) for requirement in PROJECT["dependencies"]}
    assert declared - set().union(*imported().values()) - DATA == set()


def test_the_tests_install_every_extra() -> None:
    groups = tomllib.loads((REPOSITORY / "pyproject.toml").read_text("utf-8"))["dependency-groups"]
    assert sorted(groups["extras"]) == sorted(EXTRAS)


@pytest.mark.parametrize("requirement", [*PROJECT["dependencies"], *EXTRAS])
def test_every_dependency_has_a_lowest_version_except_one_that_follows_another(
    requirement: str,
) -> None:
    assert ">=" in requirement or requirement == "pydantic-core"


@pytest.mark.parametrize("requirement", [*PROJECT["dependencies"], *EXTRAS])
def test_the_version_the_tests_run_with_is_pinned(requirement: str) -> None:
    pinned = (REPOSITORY / "constraints.txt").read_text("utf-8").splitlines()
    assert distribution(requirement) in {distribution(line) for line in pinned}


def test_the_source_distribution_has_every_file_that_the_readme_names(tmp_path: Path) -> None:
    (built,) = SdistBuilder(str(REPOSITORY)).build(directory=str(tmp_path))
    with tarfile.open(built) as archive:
        packed = {name.partition("/")[2] for name in archive.getnames()}
    readme = (REPOSITORY / "README.md").read_text("utf-8")
    links = set(re.findall(r"\]\(([^)#:\s]+)", readme))
    assert {link for link in links if (REPOSITORY / link).is_file()} <= packed
    assert {"Makefile", "Dockerfile", "pyproject.toml", "tests/conftest.py"} <= packed
    assert not [name for name in packed if ".venv" in name or "__pycache__" in name]


def test_no_link_of_the_package_page_is_relative(tmp_path: Path) -> None:
    (built,) = SdistBuilder(str(REPOSITORY)).build(directory=str(tmp_path))
    with tarfile.open(built) as archive:
        (name,) = [name for name in archive.getnames() if name.endswith("/PKG-INFO")]
        packed = archive.extractfile(name)
        assert packed is not None
        page = packed.read().decode().partition("\n\n")[2]
    assert "## How good is it" in page
    assert re.findall(r"\]\((?!https?://)", page) == []


def test_links_of_the_package_page_lead_to_the_source_once_it_is_public() -> None:
    page = package_page("[a](docs/a.md) ![b](b.svg) [c](https://c)", "https://example.org/m")
    assert page == (
        "[a](https://example.org/m/blob/main/docs/a.md)"
        " ![b](https://example.org/m/raw/main/b.svg) [c](https://c)"
    )
