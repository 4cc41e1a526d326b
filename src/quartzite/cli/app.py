"""The commands of ``quartzite``; each stands in a module of its own."""

from __future__ import annotations

from importlib.metadata import version
from typing import Annotated

import typer

from quartzite.cli.cron import cron
from quartzite.cli.db import db
from quartzite.cli.demo import demo

__all__ = ["app"]

app = typer.Typer(
    name="quartzite",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.command()(demo)
app.command()(cron)
app.add_typer(db, name="db")


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"quartzite {version('quartzite')}")
        raise typer.Exit


@app.callback()
def options(
    show_version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Schedule jobs. See also the help of each command."""
