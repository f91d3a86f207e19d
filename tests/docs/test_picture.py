"""The picture of the README shows what the program prints today."""

from __future__ import annotations

import re

from scripts.picture import PICTURE, draw, record

CHANGING = re.compile(r"\d{4}-\d\d-\d\d(T[\d:.]+Z)?|[0-9a-f]{8}-[0-9a-f-]{27}")


def test_the_picture_is_what_the_commands_print() -> None:
    drawn = draw(record())
    shown = PICTURE.read_text(encoding="utf-8")
    assert CHANGING.sub("…", shown) == CHANGING.sub("…", drawn), "run: make picture"
