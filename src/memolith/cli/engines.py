"""Commands for engines and models other than those that come along."""

from __future__ import annotations

import click

from memolith.cli import output
from memolith.cli.options import Call, Choice, Group, command, flag
from memolith.config.edit import set_setting
from memolith.files.transaction import rewrite_file
from memolith.text.wording import counted

_BACKENDS = ("builtin", "chroma", "postgres", "qmd")


@command()
@click.option("--to", "backend", required=True, type=Choice(_BACKENDS), help="the engine")
@click.option("--url", metavar="URL", help="where it is, as in index.url")
@flag("--dry-run", help="fill it and compare, but go on using the engine of today")
def migrate(call: Call, backend: str, url: str | None, dry_run: bool) -> None:
    """Move the index to another engine, and use it from then on.

    Every file is indexed there, and what it answers is compared with the engine of today: the number of files
    and chunks, and a sample of questions. Only then the settings index.backend and index.url are written, to
    the file for all of your profiles. Stopped, it goes on where it was when it is run again; the way back is
    the same command. The files of the memory are not touched.

    Examples:
        memolith migrate --to chroma --dry-run
        memolith migrate --to postgres --url postgresql://memolith@localhost/memolith
        memolith migrate --to builtin
    """
    with call.open() as memory, output.progress("Indexing", "files") as bar:
        report = memory.index.migrate(backend, url=url, progress=bar)
        profile, store = memory.profile, memory.config.store
    written = {} if dry_run else {"index.backend": backend, "index.url": url}
    for name, value in written.items():
        if value is not None:
            change = set_setting(profile, name, value, for_user=True)
            rewrite_file(change.path, change.apply, store)
    if call.prints_json(report):
        return
    output.say(
        output.bold("Compared" if dry_run else "Moved"),
        f"  {report.before} → {report.backend}: {counted(report.files, 'file')},"
        f" {counted(report.chunks, 'chunk')}; {report.same} of {report.asked} questions have the"
        " same first answer",
    )
    if not dry_run:
        output.note(f"index.backend = {backend}  in {profile.user_settings_file}")
    call.warn(report.warnings)


@click.group("model", cls=Group, subcommand_metavar="ACTION ...")
def model() -> None:
    """Fetch a stronger model, for the settings embed.model and search.rerank.

    It needs the extra `quality`. Nothing else ever fetches a model: a search without it says so, and goes on
    with the model that comes along.

    Examples:
        memolith model get snowflake/snowflake-arctic-embed-s
        memolith model get Xenova/ms-marco-MiniLM-L-12-v2
    """


@model.command("get")
@click.argument("name", help="such as snowflake/snowflake-arctic-embed-s")
@click.pass_obj
def get_model(call: Call, name: str) -> None:
    """Fetch a model into your cache."""
    from memolith.embed import quality

    known = quality.describe(name)
    output.note(
        f"Fetching {known.name} from {quality.HOST}: {known.gigabytes:g} GB, licence {known.licence},"
        f" to {quality.CACHE}"
    )
    quality.get_model(known)
    output.say(output.bold("Fetched"), f"  {known.name}")
    output.note(f"Use it: memolith config set {known.setting} fastembed:{known.name} --user")
