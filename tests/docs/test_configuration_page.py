"""The table of settings in docs/configuration.md is written from the settings themselves.

To write it again: python -m tests.docs.test_configuration_page
"""

from __future__ import annotations

import re
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


# Every key that the four programs document.
THEIRS = """
continuity.sessionMemoryEnabled
continuity.sessionMemoryCap
continuity.memoryMaxRecords
continuity.memoryMaxChars
continuity.memoryArchivePath
continuity.memoryEmbeddingsEnabled
continuity.memoryEmbeddingsMaxRecords
continuity.memoryCompactionEnabled
continuity.memoryCompactionScheduleCron
continuity.memoryCompactionSchedule
continuity.memoryCompactionIntervalMs
continuity.memoryCompactionMaxRecords
continuity.memoryCompactionThresholdRecords
continuity.memoryCompactionMaxChars
continuity.memoryCompactionThresholdChars
continuity.memoryCompactionMinAgeDays
continuity.longMemoryPath
continuity.includeLongMemoryInSession
continuity.experienceStoreEnabled
continuity.experienceStorePath
continuity.experienceUniquenessThreshold
continuity.experienceMaxCount
continuity.injectExperienceContext
memory.includeSecretsInPrompt
memory.backend
memory.citations
memory.extraPaths
memory.builtin.temporalDecay
memory.builtin.halfLifeDays
memory.builtin.mmr
memory.builtin.mmrLambda
MEMORY_FILE_PATH
MEMORY_MAX_CHARS
CLAWLESS_HOME
CONVERSATION_HISTORY_ENABLED
CONVERSATION_HISTORY_MAX_ENTRIES
CONVERSATION_HISTORY_MAX_CHARS_PER_ENTRY
CONVERSATION_HISTORY_MAX_TOTAL_CHARS
CONVERSATION_HISTORY_RECAP_TOP_K
CONVERSATION_SEMANTIC_RECALL_ENABLED
CONVERSATION_SEMANTIC_MAX_ENTRIES
CONVERSATION_SEMANTIC_MAX_CHARS_PER_ENTRY
CONVERSATION_SEMANTIC_TIMEOUT_MS
CALLBACK_HOST
CALLBACK_PORT
CALLBACK_AUTH_TOKEN
CALLBACK_MAX_BODY_BYTES
memory.enabled
memory.storage_dir
memory.database_path
memory.embedding_model
memory.max_results
memory.cache_ttl
token_budget.memory
DEVCLAW_MEMORY_DIR
DEVCLAW_MEMORY_DB
"""


def test_each_setting_of_the_programs_before_has_its_place_here() -> None:
    table = PAGE.read_text(encoding="utf-8").partition("## Coming from CursorClaw")[2]
    rows = [line.split(" | ") for line in table.splitlines() if line.startswith("| ")][1:]
    assert [their.strip("`") for _, their, _ in rows] == THEIRS.split()
    for _, their, ours in rows:
        named = re.findall(r"`([a-z_]+\.[a-z_]+)`", ours)
        assert set(named) <= SETTINGS.keys(), their


if __name__ == "__main__":
    PAGE.write_text(page_with_table(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
