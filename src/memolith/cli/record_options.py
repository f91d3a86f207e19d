"""The options of every command that writes a record."""

from __future__ import annotations

import argparse
from datetime import datetime

from memolith.cli.usage import Arguments, UsageError
from memolith.types import CATEGORIES, SENSITIVITIES, SESSION_KINDS


def add_record_options(parser: argparse.ArgumentParser, *, category: str) -> None:
    """Add the options that describe a record."""
    parser.add_argument(
        "--category",
        metavar="NAME",
        default=category,
        help=f"any word; {', '.join(list(CATEGORIES)[:5])} … have a meaning (default: {category})",
    )
    parser.add_argument(
        "--session", metavar="ID", default="main", help="the session it belongs to (default: main)"
    )
    add_kind(parser)
    add_sensitivity(parser, default="private-user")
    parser.add_argument(
        "--keyword",
        metavar="WORD",
        action="append",
        default=[],
        help="a word to find it by; may be repeated",
    )
    parser.add_argument(
        "--confidence", metavar="N", type=float, default=1.0, help="how sure it is, from 0 to 1"
    )
    parser.add_argument(
        "--timestamp", metavar="WHEN", help="when it was learned: a day or a moment of the past"
    )


def add_kind(parser: argparse.ArgumentParser) -> None:
    """Add the option that says in what kind of session something is written."""
    parser.add_argument(
        "--kind",
        choices=SESSION_KINDS,
        default="main",
        help="the kind of that session; what a group writes is marked as from outside",
    )


def timestamp_of(args: Arguments, zone: str) -> datetime | None:
    """The moment of the past that was given; a day counts from its beginning, in the user's zone."""
    if args.timestamp is None:
        return None
    from memolith.cli.expiry import parse_timestamp  # few records have one

    return parse_timestamp(args.timestamp, zone)


def add_word_filters(parser: argparse.ArgumentParser) -> None:
    """Add the options that choose records by their keywords and metadata."""
    parser.add_argument("--keyword", metavar="WORD", help="only records with this keyword")
    parser.add_argument(
        "--meta",
        metavar="KEY=VALUE",
        action="append",
        default=[],
        help="only records with this value in their metadata; may be repeated",
    )


def metadata_of(args: Arguments) -> dict[str, object]:
    """The metadata that --meta asks for."""
    pairs: dict[str, object] = {}
    for pair in args.meta:
        key, equals, value = pair.partition("=")
        if not key or not equals:
            raise UsageError(
                f"--meta {pair[:40]!a} is not KEY=VALUE.", hint="For example: --meta ticket=12"
            )
        pairs[key] = value
    return pairs


def add_sensitivity(parser: argparse.ArgumentParser, *, default: str | None) -> None:
    """Add the option that says who may see a record."""
    parser.add_argument(
        "--sensitivity",
        metavar="WHO",
        choices=SENSITIVITIES,
        default=default,
        help=f"who may see it: {', '.join(SENSITIVITIES)} (default: {default or 'as before'})",
    )
