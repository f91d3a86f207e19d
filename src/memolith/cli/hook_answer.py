"""What a hook answers: in the form that its host reads, and never so that the host stops."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from memolith.cli import output
from memolith.cli.usage import Arguments
from memolith.errors import MemolithError
from memolith.text.cleaning import one_line

if TYPE_CHECKING:
    from memolith.cli.hook import Hook

Answer = tuple[str, str]
Json = dict[str, object]

# The events of Claude Code, Codex and Gemini CLI at which a text can be handed over.
_HANDS_OVER = ("SessionStart", "UserPromptSubmit", "BeforeAgent")


def answer_host(args: Arguments, hook: Hook, make: Callable[[], Answer]) -> int:
    """Print what `make` comes to. An error is told to the user, and the agent goes on without us."""
    if hook.by_sub_agent:
        output.note("memolith: this is the hook of a sub-agent, which has no words of the user.")
        return tell(hook, "", "")
    try:
        text, problem = make()
    except MemolithError as error:
        from memolith.cli.opening import here  # slow, and needed only now

        text, problem = "", said(error.message, here(args, error.hint))
    return tell(hook, text, problem)


def said(message: str, hint: str) -> str:
    """An error in one line.

    >>> said("There is no profile tea.", ""), said("It is no TOML (line 1)", "Mend it.")
    ('There is no profile tea.', 'It is no TOML (line 1). Mend it.')
    """
    return f"{message.rstrip('.')}. {hint}".rstrip()


def tell(hook: Hook, text: str, problem: str) -> int:
    """Print a text for the agent, and a problem where the user sees it. Always exit code 0.

    Hosts take 2, our code for a wrong option, as the wish to stop the user's message.
    """
    if problem:
        problem = f"memolith: {one_line(problem)}"
        output.note(problem)
    form = _of_cursor(hook, text, problem) if hook.in_cursor else _of_others(hook, text, problem)
    if form:
        output.say_json(form)
    elif text:
        output.say(text)
    return 0


def _of_cursor(hook: Hook, text: str, problem: str) -> Json:
    """Cursor reads JSON only; it shows what stands beside it in its list of hooks."""
    form: Json = {"continue": True} if hook.event == "beforeSubmitPrompt" else {}
    if text:
        form["additional_context"] = text
    if problem and hook.event == "preCompact":
        form["user_message"] = problem
    return form


def _of_others(hook: Hook, text: str, problem: str) -> Json:
    form: Json = {"systemMessage": problem} if problem else {}
    if text and hook.event in _HANDS_OVER:
        form["hookSpecificOutput"] = {"hookEventName": hook.event, "additionalContext": text}
    return form
