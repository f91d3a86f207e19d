"""The reader of the examples itself: what it accepts, and that it can say no."""

from __future__ import annotations

import pytest

from tests.docs.examples import examples, matches

DOCUMENT = """\
# Title

```console
$ memolith remember "Ana owns
> the release key"
Remembered  memory/2026-11-15.md#L12

$ memolith list
…
```

1. In a list:

   ```python
   print(1)
   ```

```text
$ not a command
```
"""


def test_commands_scripts_and_what_they_show_are_read() -> None:
    first, second, script = examples(DOCUMENT)
    assert (first.line, first.command) == (4, 'memolith remember "Ana owns\nthe release key"')
    assert first.shown == ["Remembered  memory/2026-11-15.md#L12", ""]
    assert (second.line, second.command, second.shown) == (8, "memolith list", ["…"])
    assert (script.line, script.script) == (15, "print(1)\n")


def test_output_before_any_command_is_an_error() -> None:
    with pytest.raises(ValueError, match="line 2"):
        list(examples("```console\nRemembered\n```"))


@pytest.mark.parametrize(
    ("shown", "printed"),
    [
        ("", ""),
        ("Remembered  memory/2026-11-15.md#L12", "Remembered  memory/2031-01-02.md#L12\n"),
        ("id …, 3 records\n", "id 01H4…, 3 records"),
        ("first\n…\nlast", "first\nlast"),
        ("first\n…\nlast", "first\nand\n\nmore\nlast"),
    ],
)
def test_output_matches_up_to_dates_and_ellipses(shown: str, printed: str) -> None:
    assert matches(shown.split("\n"), printed)


@pytest.mark.parametrize(
    ("shown", "printed"),
    [
        ("", "a surprise"),
        ("Remembered", ""),
        ("memory/2026-11-15.md#L12", "memory/2026-11-15.md#L13"),
        ("memory/2026-11-15.md", "memory/2026-11-15xmd"),
        ("a … b", "a\nb"),
        ("one line", "one line\ntwo lines"),
    ],
)
def test_other_output_does_not_match(shown: str, printed: str) -> None:
    assert not matches(shown.split("\n"), printed)
