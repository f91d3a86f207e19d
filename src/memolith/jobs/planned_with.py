"""With which settings a proposal was planned, so that it can be planned anew with the same. Pure functions."""

from __future__ import annotations

import shlex
from collections.abc import Mapping

from memolith.config.sections import SETTINGS, Config, value_of, with_values
from memolith.config.setting import ARGUMENT, Value, toml_value

_REVIEW = "jobs.review"


def planned_with(config: Config, job: str) -> dict[str, str]:
    """What is not as by default of all that a job looks at, as text.

    >>> from memolith.config.sections import with_values
    >>> planned_with(with_values({"jobs.review": "ask", "compact.max_records": 5}), "compact")
    {'jobs.review': 'ask', 'compact.max_records': '5'}
    """
    names = (name for name in SETTINGS if name == _REVIEW or name.partition(".")[0] == job)
    return {
        name: _text(value_of(config, name))
        for name in names
        if value_of(config, name) != SETTINGS[name].default
    }


def config_planned_with(planned: Mapping[str, str]) -> Config:
    """The settings of a job when it was planned; what it does not look at is as by default."""
    known = {name: text for name, text in planned.items() if name in SETTINGS}
    return with_values({name: SETTINGS[name].check(text, ARGUMENT) for name, text in known.items()})


def command_to_plan_anew(job: str, planned: Mapping[str, str], config: Config) -> str:
    """The command that plans a proposal anew, with the settings it had that do not hold by themselves."""
    flags = [
        f"--set {shlex.quote(f'{name}={value}')}"
        for name, value in planned.items()
        if name in SETTINGS and _text(value_of(config, name)) != value
    ]
    command = "experiences extract" if job == "experiences" else job
    return " ".join(["memolith", command, *flags])


def _text(value: Value) -> str:
    return value if isinstance(value, str) else toml_value(value)
