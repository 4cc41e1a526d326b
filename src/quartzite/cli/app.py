"""The commands of ``quartzite``; each stands in a module of its own."""

from __future__ import annotations

import typer

from quartzite.cli.cron import cron
from quartzite.cli.demo import demo

__all__ = ["app"]

app = typer.Typer(
    name="quartzite",
    help="Schedules jobs. See also the documentation of each command.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.command()(demo)
app.command()(cron)
