"""Modules that are imported when one of their names is used.

Signatures name types whose modules are slow to import, and a hook that remembers one line should not
pay for them. Written as `reports.Backup` with `reports = late("memolith.reports")`, a signature costs
nothing, and still means something to whoever asks: `typing.get_type_hints` finds the class.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class late:  # noqa: N801 - reads like the import it stands for
    """A module by name; its first attribute imports it.

    >>> late("collections.abc").Mapping.__name__
    'Mapping'
    """

    __slots__ = ("_module",)

    def __init__(self, module: str) -> None:
        """Nothing is imported yet."""
        self._module = module

    def __getattr__(self, name: str) -> Any:
        """A name of the module."""
        from importlib import import_module

        return getattr(import_module(self._module), name)
