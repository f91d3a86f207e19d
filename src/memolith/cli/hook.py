"""What the host of an agent hands to a hook: JSON on standard input."""

from __future__ import annotations

import json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

_TELLING = ("hook_event_name", "transcript_path")


def of_hook(text: str) -> Mapping[str, str]:
    """The texts in the JSON of a hook, by their names; nothing if it is not from a hook.

    Every host names the session and the event or the transcript; whoever pastes other JSON means it.

    >>> of_hook('{"session_id": "1", "hook_event_name": "UserPromptSubmit", "prompt": "Who?"}')["prompt"]
    'Who?'
    >>> of_hook('{"prompt": "Who?"}'), of_hook("User: hi")
    ({}, {})
    """
    if not text.lstrip().startswith("{"):
        return {}
    try:
        told = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    texts = {name: value for name, value in told.items() if isinstance(value, str)}
    is_hook = "session_id" in texts and not texts.keys().isdisjoint(_TELLING)
    return texts if is_hook else {}
