"""What an operator reads when an endpoint refuses: the status, its words, and which setting to look at."""

from __future__ import annotations

import pytest

from memolith.config.sections import LlmConfig
from memolith.errors import SummariserError
from memolith.llm.model import OpenAiCompatible, refusal
from tests.llm.endpoint import Endpoint
from tests.llm.test_openai_compatible import NOTES


@pytest.mark.parametrize(
    ("way", "told"),
    [
        (
            "401",
            "answered with status 401: “busy”. It does not accept the key: see MEMOLITH_LLM_KEY.",
        ),
        ("404", "answered with status 404: “busy”. There is no such address or model"),
        ("503", "answered with status 503: “busy”."),
        ("redirect", "It redirects, and redirects are not followed: see llm.url."),
        ("hangs up", "it closed the connection before its answer was complete"),
        ("ends early", "it closed the connection before its answer was complete"),
        ("10 MB", "the answer is larger than 2,000,000 bytes."),
    ],
)
def test_a_refusal_says_what_happened_and_where_to_look(way: str, told: str) -> None:
    with Endpoint(way).running() as endpoint:
        writer = OpenAiCompatible(LlmConfig(url=endpoint.url, model="small"))
        writer.max_retries = 0
        with pytest.raises(SummariserError) as raised:
            writer.summarise(NOTES, 600)
    message = raised.value.message
    assert told in message
    assert "Error" not in message
    assert ".." not in message
    assert ("No answer" in message) is ("closed the connection" in message)


def test_what_an_endpoint_says_is_cleaned_cut_and_never_a_key() -> None:
    steered = refusal("u", 400, b'{"error": "red \\u001b[31m' + b"x" * 500 + b'"}')
    assert "\x1b" not in steered
    assert len(steered) < 250
    echoed = b'{"error": {"message": "Incorrect API key: sk-abcdefghij0123456789"}}'
    assert refusal("u", 401, echoed) == (
        "u answered with status 401. It does not accept the key: see MEMOLITH_LLM_KEY."
    )
    assert refusal("u", 500, b"[" * 100_000) == "u answered with status 500."
