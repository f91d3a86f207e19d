"""A settings file is read whole and quickly, or refused with a reason that names it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from memolith.config.load import MAX_FILE_BYTES, MAX_LINE_CHARS, read_toml
from memolith.errors import ConfigError

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "memolith.toml"


def problem(file: Path, content: bytes | None = None) -> str:
    """The error about the file, without its path in front and the advice behind."""
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(ConfigError) as caught:
        read_toml(str(file))
    assert caught.value.origin == str(file)
    what, advice = str(caught.value).split("\n")
    assert ("ls -l" if "Permission" in what else "editor") in advice
    return what.removeprefix(f"{file} ")


def test_a_missing_or_empty_file_has_no_settings(file: Path) -> None:
    assert read_toml(str(file)) == {}
    file.touch()
    assert read_toml(str(file)) == {}


def test_a_file_may_start_with_a_byte_order_mark_and_end_lines_as_windows_does(file: Path) -> None:
    file.write_bytes(b"\xef\xbb\xbf[trim]\r\nmax_records = 5\r\n")
    assert read_toml(str(file)) == {"trim": {"max_records": 5}}


def test_a_broken_file_is_named_with_its_line(file: Path) -> None:
    broken = problem(file, b"[trim]\nmax_records = 5\nmax_chars 5\n")
    assert broken.startswith("is not valid TOML: ")
    assert "line 3" in broken
    assert "line 3" in problem(file, b"[search]\nmmr_lambda = 0.5\nmmr_lambda = 0.5\n")
    assert "line 1, column 1" in problem(file, b"\0")


def test_bytes_that_are_not_utf_8_are_named_with_their_line(file: Path) -> None:
    assert problem(file, b"[trim]\n# caf\xe9\n") == "is not UTF-8 (line 2)"


def test_a_file_or_line_of_a_size_nobody_writes_is_refused(file: Path) -> None:
    file.write_bytes(b"#\n" * (MAX_FILE_BYTES // 2))
    assert read_toml(str(file)) == {}
    assert problem(file, b"#" + b"#\n" * (MAX_FILE_BYTES // 2)) == "is larger than 65536 bytes"
    file.write_bytes(b"\n" + b"#" * MAX_LINE_CHARS)
    assert read_toml(str(file)) == {}
    assert (
        problem(file, b"\n#" + b"#" * MAX_LINE_CHARS) == "has more than 2000 characters in line 2"
    )


def test_values_too_deep_or_too_long_for_python_are_refused(file: Path) -> None:
    refused = "is not valid TOML: a value is too long or too deep"
    assert problem(file, b"x = " + b"[" * 1900) == refused
    assert problem(file, b"x = [" + b"[\n" * 5000) == refused
    assert problem(file, b"x = " + b"{a=" * 600) == refused


def test_a_key_of_ten_thousand_dots_is_refused_before_the_parser_sees_it(file: Path) -> None:
    # The parser's time grows with the square of the dots: this one would take seconds, 64 kB 23 s.
    assert problem(file, b"a." * 10_000 + b"a = 1") == "has more than 2000 characters in line 1"


def test_what_is_not_a_file_is_refused_and_never_waited_for(file: Path) -> None:
    file.mkdir()
    assert problem(file) == "is not a file"
    file.rmdir()
    os.mkfifo(file)
    assert problem(file) == "is not a file"
    file.unlink()
    file.symlink_to(file)
    assert problem(file) == "cannot be read: Too many levels of symbolic links"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read_is_a_clear_error(file: Path) -> None:
    file.touch(mode=0)
    assert problem(file) == "cannot be read: Permission denied"
