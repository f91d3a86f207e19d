"""The table of settings in docs/configuration.md is written from the settings themselves.

To write it anew: python -m tests.docs.test_configuration_page
"""

from __future__ import annotations

from pathlib import Path

from memolith.config.sections import DEFAULTS, SECTIONS, SETTINGS
from memolith.config.setting import Setting, toml_value

PAGE = Path(__file__).parents[2] / "docs" / "configuration.md"
BEGIN = "<!-- written by: python -m tests.docs.test_configuration_page -->\n"
END = "<!-- end -->\n"


def page_with_table(page: str) -> str:
    before, _, rest = page.partition(BEGIN)
    after = rest.partition(END)[2]
    return f"{before}{BEGIN}{settings_as_markdown()}{END}{after}"


def settings_as_markdown() -> str:
    return (
        "".join(
            f"\n### `[{section}]`\n\n{getattr(DEFAULTS, section).__doc__}\n\n"
            "| setting | default | value | what it does |\n|---|---|---|---|\n"
            + "".join(row(setting) for setting in of_section(section))
            for section in SECTIONS
        )
        + "\n"
    )


def of_section(section: str) -> list[Setting]:
    return [setting for name, setting in SETTINGS.items() if name.startswith(f"{section}.")]


def row(setting: Setting) -> str:
    key = setting.name.split(".")[1]
    doc = setting.doc + (" *Yours only.*" if setting.trusted_only else "")
    doc += " *After a restart.*" if setting.restart else ""
    return f"| `{key}` | `{toml_value(setting.default)}` | {setting.expected} | {doc} |\n"


def test_the_page_shows_the_settings_as_they_are() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert page == page_with_table(page), "run: python -m tests.docs.test_configuration_page"


def test_every_setting_stands_in_the_table() -> None:
    table = settings_as_markdown()
    for name in SETTINGS:
        section, key = name.split(".")
        assert f"| `{key}` |" in table.partition(f"`[{section}]`")[2].partition("###")[0]


if __name__ == "__main__":
    PAGE.write_text(page_with_table(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
