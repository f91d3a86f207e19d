"""Settings: every one with its value, origin and meaning; edits go into the profile's file."""

from __future__ import annotations

from collections import defaultdict

from starlette.responses import Response

from memolith.config.edit import unset_setting
from memolith.config.sections import SETTINGS
from memolith.config.setting import ARGUMENT, Value
from memolith.errors import ConfigError
from memolith.files.transaction import rewrite_file
from memolith.reports import SettingValue
from memolith.rest.answers import RequestError, detail_of, status_of
from memolith.rest.routes import set_setting, setting
from memolith.web.call import Call


def show(
    call: Call, notice: str = "", problem: str = "", refused: Exception | None = None
) -> Response:
    """All settings by section; beside one whose change was refused, why, and what was typed."""
    sections: dict[str, list[SettingValue]] = defaultdict(list)
    for name in SETTINGS:
        sections[name.partition(".")[0]].append(setting(call.memory, name))
    detail = detail_of(refused, call.memory.root) if refused else {}
    # Where the value came from, the person knows.
    why = detail.get("message", "").replace(f" ({ARGUMENT})", "").rstrip(".")
    return call.html(
        "settings.html",
        status=status_of(refused) if refused else 200,
        refused=call.form.get("name", "") if refused else "",
        typed=call.form.get("value", ""),
        why=f"{why}. {detail.get('hint', '')}",
        sections=sections,
        known=SETTINGS,
        file=call.memory.profile.settings_file,
        written=_written,
        notice=notice,
        problem=problem,
    )


def _written(value: Value) -> str:
    """A value as somebody types it."""
    if isinstance(value, tuple):
        return ", ".join(value)
    return str(value).lower() if isinstance(value, bool) else str(value)


def change(call: Call) -> Response:
    """Write one setting, or take it out of the file."""
    name, value = call.form.get("name", ""), call.form.get("value", "")
    if "unset" in call.form:
        changed = unset_setting(call.memory.profile, name)
        rewrite_file(changed.path, changed.apply, call.memory.config.store)
    else:
        try:
            set_setting(call.memory, name, value)
        except (ConfigError, RequestError) as error:
            if name not in SETTINGS:
                raise
            return show(call, refused=error)
    report = call.memory.reconfigure()
    done = "back to its default" if "unset" in call.form else "saved"
    restart = " It takes effect when the server is started again." if SETTINGS[name].restart else ""
    return show(call, f"{name} is {done}.{restart}", report.problem or "")
