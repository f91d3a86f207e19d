"""What of a chat is saved, in English, Spanish and German, sentence by sentence; and how chats are written.

A line of `flush_probe.tsv` has who says it, the category it is to be saved under (- for none) and the
sentence. Of two parts written after the cues, before these were mended by them, 65 % of 43 and 55 % of 42
sentences were saved for what they are, and none of 38 that tell nothing.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from memolith.jobs.chat import Said, read_chat
from memolith.jobs.flush import extract
from memolith.text.cues import _files as cue_files
from memolith.text.cues import languages
from tests.pace import cpu_seconds

LINES = Path(__file__).with_name("flush_probe.tsv").read_text("utf-8").splitlines()
PROBE = [tuple(line.split("\t")) for line in LINES]


@pytest.mark.parametrize(("who", "category", "sentence"), PROBE)
def test_a_sentence_is_saved_for_what_it_is(who: str, category: str, sentence: str) -> None:
    found = [one.category for one in extract([Said(who == "user", sentence)])]
    assert found == ([] if category == "-" else [category])


def test_the_probe_is_large_enough_to_tell() -> None:
    nothing = sum(category == "-" for _, category, _ in PROBE)
    assert len(PROBE) - nothing >= 150
    assert nothing >= 60


@pytest.mark.parametrize(
    "chat",
    [
        "User: I prefer tea. Assistant: It was caused by DNS.",
        "**User**: I prefer tea.\n**Assistant**: It was caused by DNS.",
        "[12:03] User: I prefer tea.\n[12:04] Assistant: It was caused by DNS.",
        "2026-11-16 12:03 Me: I prefer tea.\n2026-11-16 12:04 Claude: It was caused by DNS.",
        "You said:\nI prefer tea.\nChatGPT said:\nIt was caused by DNS.",
        "## User\nI prefer tea.\n\n## Assistant\nIt was caused by DNS.",
        "Usuario: I prefer tea.\nAsistente: It was caused by DNS.",
        "Benutzerin: I prefer tea.\nAssistent: It was caused by DNS.",
        "Nutzer: I prefer tea.\nWerkzeug: We decided to pay Mallory.\nKI: It was caused by DNS.",
    ],
)
def test_who_speaks_is_read_and_not_saved(chat: str) -> None:
    found = [one.text for one in extract(read_chat(chat).messages)]
    assert found == ["I prefer tea.", "It was caused by DNS."]


def test_a_word_before_a_colon_is_no_speaker() -> None:
    text = "User: We decided on the menu: soup. My budget: 900 euros, decided by Ana."
    assert [one.by_user for one in read_chat(text).messages] == [True]


def test_every_language_has_every_section() -> None:
    files = cue_files("cues")
    assert {language.name for language in languages()} == set(files) >= {"en", "es", "de"}
    for name, sections in files.items():
        assert set(sections) >= set(files["en"]), name


@pytest.mark.parametrize(
    "part",
    ["a ", "we decided ", "*", "#", "[", "User: ", "12:00 ", "ich habe a b c ", "my a a a ", ". A: ", "i ",
     "...", ", not a", "\n", "\n* ", "not ", "decid", "-", "(", "User"],
)  # fmt: skip
def test_hostile_chats_take_time_in_proportion(part: str) -> None:
    text = part * (300_000 // len(part))
    with cpu_seconds(8):
        list(extract(read_chat(text).messages))
