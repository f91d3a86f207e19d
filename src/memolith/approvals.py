"""The folders whose memory the user approved, in a file of the user's home."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping

from memolith.errors import ProfileError

PROFILE_FILE = "memolith.toml"
APPROVALS = "approved-folders.json"  # under MEMOLITH_HOME


def is_approved(folder: str, home: str) -> bool:
    """Whether the user approved this folder, and it still belongs to the same users."""
    known = read_approvals(home).get(os.path.realpath(folder))
    return known is not None and known.get("owners") == owners(folder)


def owners(folder: str) -> list[int]:
    """The users that own the folder and its settings file: in a shared folder anybody can put one."""
    paths = (folder, os.path.join(folder, PROFILE_FILE))
    return [os.stat(path).st_uid for path in paths if os.path.exists(path)]


def read_approvals(home: str) -> dict[str, Mapping[str, object]]:
    """The approved folders by their real path, with owners and time of the approval."""
    path = os.path.join(home, APPROVALS)
    try:
        with open(path, "rb") as file:
            known = json.loads(file.read())
        return {str(folder): dict(approval) for folder, approval in known.items()}
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, TypeError, AttributeError) as error:
        raise ProfileError(
            f"{path} cannot be read.", hint="Delete it, and approve each folder: memolith trust DIR"
        ) from error
