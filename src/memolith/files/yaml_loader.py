"""A YAML loader without surprises: safe, and with the scalars of YAML 1.2.

The stock loader reads `NO` as False, `12:30:00` as 45000 and turns dates into objects.
"""

from __future__ import annotations

import re

import yaml

try:
    from yaml import CSafeLoader as _SafeLoader
except ImportError:  # PyYAML built without libyaml
    from yaml import SafeLoader as _SafeLoader  # type: ignore[assignment]


class PlainLoader(_SafeLoader):
    """Text, numbers, true, false, null, lists and mappings; everything else stays text."""


PlainLoader.yaml_implicit_resolvers = {}
for _tag, _pattern, _first in (
    ("bool", r"true|True|TRUE|false|False|FALSE", "tTfF"),
    ("int", r"[-+]?[0-9]{1,300}", "-+0123456789"),
    (
        "float",
        r"[-+]?[0-9]{1,300}(?:\.[0-9]{0,300}(?:[eE][-+]?[0-9]{1,3})?|[eE][-+]?[0-9]{1,3})",
        "-+0123456789",
    ),
    ("null", r"~|null|Null|NULL|", "~nN\0"),
):
    PlainLoader.add_implicit_resolver(
        f"tag:yaml.org,2002:{_tag}", re.compile(f"(?:{_pattern})\\Z"), list(_first)
    )

__all__ = ["PlainLoader", "yaml"]
