"""Keys and passwords are known by their form, each is named once, and nothing else is taken for one.

`open_secrets_probe.tsv` says of each text whether it holds one. All keys in it are made up.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from memolith.text.open_secrets import open_secrets, surely_holds_secret
from tests.pace import cpu_seconds

PROBE = Path(__file__).with_name("open_secrets_probe.tsv").read_text("utf-8").splitlines()


def texts(label: str) -> list[str]:
    return [line.partition("\t")[2] for line in PROBE if line.startswith(f"{label}\t")]


@pytest.mark.parametrize("text", texts("secret"))
def test_a_key_or_password_is_named_once(text: str) -> None:
    assert len(list(open_secrets(text))) == 1


@pytest.mark.parametrize("text", texts("fine"))
def test_hashes_ids_pictures_code_and_talk_are_no_secrets(text: str) -> None:
    assert list(open_secrets(text)) == []


def test_only_what_is_surely_secret_is_never_told_again() -> None:
    assert surely_holds_secret("La contraseña es Verano2024")
    assert not surely_holds_secret("The password is banana")
    assert list(open_secrets("The password is banana")) == ["a password"]


@pytest.mark.parametrize(
    "part",
    ["password", "password of a b c ", "eyJ", "://a:", "aws secret ", "A", "1", "curl ", "pin de ", "AKIA",
     "password is a ", "a@", "token: ", "Bearer ", "sk-", "x://", ":", "a.", "Passwort für "],
)  # fmt: skip
def test_hostile_texts_take_no_time(part: str) -> None:
    text = part * (1_000_000 // len(part))
    with cpu_seconds(2):
        list(open_secrets(text))
