"""The options of every command that writes a record."""

from __future__ import annotations

import argparse

from memolith.types import CATEGORIES, SENSITIVITIES


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
    add_sensitivity(parser, default="private-user")
    parser.add_argument(
        "--keyword",
        metavar="WORD",
        action="append",
        default=[],
        help="a word to find it by; may be repeated",
    )


def add_sensitivity(parser: argparse.ArgumentParser, *, default: str | None) -> None:
    """Add the option that says who may see a record."""
    parser.add_argument(
        "--sensitivity",
        metavar="WHO",
        choices=SENSITIVITIES,
        default=default,
        help=f"who may see it: {', '.join(SENSITIVITIES)} (default: {default or 'as before'})",
    )
