"""What a check found: the first of each kind by name, the rest as a number."""

from __future__ import annotations

from collections import Counter

from memolith.jobs.reports import Check, CheckStatus
from memolith.text.wording import counted

# Twenty lines of a kind show the pattern; ten thousand would bury everything else.
MOST_SHOWN = 20

WORST_FIRST: tuple[CheckStatus, ...] = ("error", "warn", "info", "ok", "off")


class Findings:
    """The findings of one check; bounded, however much is wrong."""

    def __init__(self, check_id: str, label: str) -> None:
        """Start with nothing found."""
        self._id = check_id
        self._label = label
        self._found: list[Check] = []
        self._count: Counter[CheckStatus] = Counter()

    def add(self, status: CheckStatus, message: str, hint: str = "") -> None:
        """Note one finding."""
        self._count[status] += 1
        if self._count[status] <= MOST_SHOWN:
            self._found.append(self._check(status, message, hint))

    @property
    def found(self) -> list[Check]:
        """What was found, and nothing if nothing was."""
        return self.checks("") if self._found else []

    def checks(self, otherwise: str, status: CheckStatus = "ok") -> list[Check]:
        """What was found; if nothing was, that all is well, in the words of `otherwise`."""
        if not self._found:
            return [self._check(status, otherwise)]
        more = [
            self._check(status, f"And {self._count[status] - MOST_SHOWN:,} more of this kind.")
            for status in WORST_FIRST
            if self._count[status] > MOST_SHOWN
        ]
        return self._found + more

    def _check(self, status: CheckStatus, message: str, hint: str = "") -> Check:
        return Check(
            id=self._id, label=self._label, status=status, message=message, hint=hint or None
        )


def shown(name: str) -> str:
    """A name out of somebody's folder as a terminal may print it."""
    return name if name.isprintable() else ascii(name)


def number_of(count: int, noun: str) -> str:
    """How many of them were looked at.

    >>> number_of(0, "backup"), number_of(2, "backup")
    ('none', '2 backups')
    """
    return counted(count, noun) if count else "none"


def named(names: list[str]) -> str:
    """The first few names, and how many there are beyond.

    >>> named(["a", "b", "c", "d", "e"])
    'a, b, c and 2 more'
    """
    first = ", ".join(map(shown, names[:3]))
    return first if len(names) <= 3 else f"{first} and {len(names) - 3:,} more"


def is_loopback(host: str | None) -> bool:
    """Whether a name or address is this machine's own, by its spelling alone: nothing is looked up.

    >>> is_loopback("127.0.0.1"), is_loopback("127.0.0.1.example.com")
    (True, False)
    """
    from ipaddress import ip_address

    if host is None or host.lower() == "localhost":
        return host is not None
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
