"""Things of which somebody chooses one: who prefers dark mode does not prefer light mode.

Only what people really choose between is listed; whoever drinks tea may drink coffee as well.
"""

from __future__ import annotations

import re

# Folded words; those of one line exclude each other where they stand in the same place.
_LINES = """\
dark light oscuro claro dunkel hell dunklen hellen
tabs spaces
rest graphql grpc soap
postgresql postgres mysql mariadb sqlite mongodb oracle dynamodb
npm yarn pnpm bun
react vue angular svelte
vim neovim emacs vscode intellij nano
windows linux macos
metric imperial
celsius fahrenheit
aisle window pasillo ventana
vegetarian vegan omnivore
kubernetes nomad swarm
aws azure gcp
github gitlab bitbucket
celery rabbitmq kafka
mondays tuesdays wednesdays thursdays fridays saturdays sundays
mornings evenings afternoons
"""
# Other names for the same thing.
_SAME = {
    "oscuro": "dark", "dunkel": "dark", "dunklen": "dark", "claro": "light", "hell": "light",
    "hellen": "light", "postgres": "postgresql", "pasillo": "aisle", "ventana": "window",
}  # fmt: skip
_KIND = {word: number for number, line in enumerate(_LINES.splitlines()) for word in line.split()}
_CHOOSES = re.compile(
    r"^(?P<who>[^.!?;,]{1,40}?)\s+(?:(?:now|always|usually|ahora|siempre|jetzt|immer)\s+)?"
    r"(?P<verb>prefers?|uses?|prefiere|usa|utiliza|bevorzugt|nutzt|verwendet)\s+(?P<thing>[^.!?;,]{2,60})$"
)


def choice(plain: str) -> tuple[str, str, str] | None:
    """Who, what they choose about, and what they chose, of a folded sentence; None for any other.

    >>> choice("user prefers dark mode")
    ('user', 'prefer … mode', 'dark')
    >>> choice("user prefers tea")
    """
    match = _CHOOSES.match(plain)
    if match is None:
        return None
    words = match["thing"].split()
    chosen = [word for word in words if word in _KIND]
    if len(chosen) != 1:
        return None
    verb = "prefer" if match["verb"].startswith(("pref", "bevor")) else "use"
    kind = _KIND[chosen[0]]
    rest = " ".join("…" if word == chosen[0] else word for word in words)
    about = f"{verb} {rest}" if rest != "…" else f"{verb} {kind}"
    return match["who"], about, _SAME.get(chosen[0], chosen[0])
