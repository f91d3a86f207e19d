"""Templates, and what they need: Markdown as safe HTML, marked words, moments for people."""

from __future__ import annotations

import re
from datetime import date, datetime
from functools import cache
from hashlib import sha256
from importlib import resources
from urllib.parse import quote, urlencode

import nh3
from jinja2 import Environment, PackageLoader, StrictUndefined
from markdown_it import MarkdownIt
from markupsafe import Markup, escape

from memolith.clock import Clock
from memolith.text.cleaning import clean
from memolith.text.terms import keywords, stems, terms_of
from memolith.text.wording import counted
from memolith.types import Citation

_TAGS = set(
    "a blockquote br code del em h1 h2 h3 h4 h5 h6 hr li ol p pre strong table tbody td th thead tr ul"
    .split()
)  # fmt: skip
_SCHEMES = {"http", "https", "mailto"}
_WORD = re.compile(r"(\w+)")
_EXCERPT_CHARS = 480
_BRIEF_CHARS = 200
# Of half characters only these are bytes of file names.
_NOT_BYTES = re.compile("[\ud800-\udc7f\udd00-\udfff]")
TYPES = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}


@cache
def templates() -> Environment:
    """All templates; what is put into them is escaped, a name that is not given is an error."""
    made = Environment(
        loader=PackageLoader("memolith.web"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {
        "brief": brief,
        "clean": lambda text: clean(str(text)),
        "day": date_words,
        "markdown": markdown,
        "marked": marked,
    }
    made.globals |= {"asset": asset, "at": at, "counted": counted, "url": url}
    return made


@cache
def assets() -> dict[str, tuple[bytes, str, str]]:
    """The files of the page by their path: bytes, type and a version for their address."""
    folder = resources.files("memolith.web") / "static"
    found = {}
    for part, prefix in ((folder, ""), (folder / "vendor", "vendor/")):
        for file in part.iterdir():
            kind = TYPES.get(file.name[file.name.rfind(".") :])
            if kind and file.is_file():
                data = file.read_bytes()
                found[prefix + file.name] = data, kind, sha256(data).hexdigest()[:12]
    return found


def asset(name: str) -> str:
    """The address of a file of the page, which changes with its content."""
    return f"/ui/static/{name}?v={assets()[name][2]}"


def url(path: str, /, **query: object) -> str:
    """An address of the page; empty values are left out. A file name may be any bytes.

    >>> url("/files", path="memory/\\udcff.md", view="")
    '/ui/files?path=memory%2F%FF.md'
    """
    given = {name: _NOT_BYTES.sub("?", str(value)) for name, value in query.items() if value}
    asked = urlencode(given, quote_via=quote, errors="surrogateescape")
    return f"/ui{path}" + (f"?{asked}" if given else "")


def at(citation: Citation | str | None) -> str:
    """The address of the lines that a citation names."""
    path, _, lines = str(citation or "").rpartition("#L")
    line = re.match(r"\d*", lines)
    first = line[0] if line else ""
    return url("/files", path=path or lines, line=first) + (f"#L{first}" if first else "")


@cache
def _parser() -> MarkdownIt:
    # Pictures would be requests to other servers.
    parser = MarkdownIt("commonmark", {"html": False})
    return parser.enable(["table", "strikethrough"]).disable("image")


def markdown(text: str) -> Markup:
    """Markdown as HTML: no raw HTML, no pictures, no scripts; and then only harmless elements."""
    made = nh3.clean(
        _parser().render(clean(text)),
        tags=_TAGS,
        attributes={"a": {"href"}},
        url_schemes=_SCHEMES,
        link_rel="noopener noreferrer nofollow",
    )
    return Markup(made)  # noqa: S704 - nh3 has cleaned it


def marked(text: str, question: str) -> Markup:
    """The part of a text with most words of the question, these words marked."""
    asked = {stem for word in keywords(question) for stem in stems(word)}
    parts = _WORD.split(clean(text))
    found = [
        at % 2 == 1 and not asked.isdisjoint(terms[1]) for at, terms in enumerate(terms_of(parts))
    ]
    first = found.index(True) if any(found) else 0
    length = sum(map(len, parts))
    start = max(0, sum(map(len, parts[:first])) - 120) if length > _EXCERPT_CHARS else 0
    made, place = Markup("…") if start else Markup(), 0
    for part, is_found in zip(parts, found, strict=True):
        place += len(part)
        if place <= start:
            continue
        made += Markup("<mark>{}</mark>").format(part) if is_found else escape(part)
        if place - start > _EXCERPT_CHARS:
            return made + "…"
    return made


def brief(text: str) -> str:
    """The first line of a text, without the marks of Markdown.

    >>> brief("# How *we* release\\n\\n1. Check")
    'How we release'
    >>> brief("`max_open_files` is set in C#")
    'max_open_files is set in C#'
    """
    lines = (
        re.sub(r"^(?:\s|#+\s|>|[-*]\s)+|^[-*_`]+$", "", line) for line in clean(text).splitlines()
    )
    # A page never waits for a long line: pairs of marks take time by its length to the third power.
    first = next(filter(None, map(str.strip, lines)), "")[: 2 * _BRIEF_CHARS]
    return re.sub(r"(?<!\w)([*_`]+)(\S|\S.*?\S)\1(?!\w)", r"\2", first)[:_BRIEF_CHARS]


def moment(clock: Clock, when: datetime) -> str:
    """A moment on the user's clock."""
    local, day = clock.local(when), clock.day_of(when)
    return f"{local:%H:%M}" if day == clock.today() else f"{date_words(day)}, {local:%H:%M}"


def date_words(day: date) -> str:
    """A day in words.

    >>> date_words(date(2026, 11, 5))
    '5 Nov 2026'
    """
    return f"{day.day} {day:%b %Y}"
