"""Nothing that is computed from a secret reaches who may not see it: no score, no rarity, no warning."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from memolith import Memory

if TYPE_CHECKING:
    from pathlib import Path

    from memolith.clock import Clock
    from memolith.results import SearchResult

SHOWN = "# Kitchen\n\nBruno eats carrots and rice every morning.\n\n# Garden\n\nThe heron stands in the pond.\n\n# Vault\n"
# Whoever wrote it may have meant a secret record.
BROKEN = '\n- {"text": "carrots carrots carrots heron vault", "sensitivity": "secret",\n'
QUESTIONS = ("carrots", "what does Bruno eat?", "heron in the pond", "the vault", "carrots vault")


def asked(root: Path, clock: Clock, *, broken: str, secrets: tuple[str, ...]) -> list[SearchResult]:
    root.mkdir()
    (root / "home.md").write_text(SHOWN + broken, "utf-8")
    (root / "other.md").write_text("# Bike\n\nThe chain needs oil.\n", "utf-8")
    with Memory(root, clock=clock) as memory:
        memory.remember("Bruno likes carrots best")
        memory.chats.log("Shall we buy carrots for Bruno?", "Yes, and rice.")
        for secret in secrets:
            memory.remember(secret, sensitivity="secret")
        return [memory.search(question, explain=True) for question in QUESTIONS]


def told(result: SearchResult) -> object:
    hits = [(hit.text, round(hit.score, 4)) for hit in result.hits]
    stages = [
        [
            (
                stage.stage,
                one.citation,
                round(one.score, 4),
                {k: round(v, 4) for k, v in one.values.items()},
            )
            for one in stage.order
        ]
        for stage in result.trace
    ]
    # That a line is damaged is told to everybody, whatever they ask.
    warnings = [warning for warning in result.warnings if "line 11 is damaged" not in warning]
    return hits, warnings, stages


@pytest.mark.parametrize(
    ("broken", "secrets"),
    [
        (BROKEN, ()),
        ("", ("carrots carrots heron vault", "The vault is behind the heron")),
        (BROKEN, ("carrots " * 40, "heron")),
    ],
)
def test_an_explanation_is_the_same_with_and_without_secrets(
    tmp_path: Path, clock: Clock, broken: str, secrets: tuple[str, ...]
) -> None:
    without = asked(tmp_path / "without", clock, broken="", secrets=())
    with_them = asked(tmp_path / "with", clock, broken=broken, secrets=secrets)
    for question, one, other in zip(QUESTIONS, without, with_them, strict=True):
        assert told(one) == told(other), question
