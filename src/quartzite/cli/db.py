"""``quartzite db``: the tables of a persistent store."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Annotated, Any, NoReturn, TypeAlias

import typer
from rich.console import Console
from rich.text import Text

from quartzite.clock import SystemClock
from quartzite.errors import QuartzError
from quartzite.sql.administration import check_tables, create_tables
from quartzite.sql.schema import ddl, dialect_named
from quartzite.sql.tables import DEFAULT_PREFIX, tables

__all__ = ["db"]

db = typer.Typer(help="Create, check or print the tables of a persistent store.", no_args_is_help=True)

Url: TypeAlias = Annotated[
    str, typer.Argument(help="As in postgresql://user:password@host/database or sqlite:///file.")
]
Prefix: TypeAlias = Annotated[str, typer.Option(help="What the names of the tables begin with.")]
SchemaName: TypeAlias = Annotated[str | None, typer.Option("--schema", help="Schema of the tables.")]


@db.command()
def create(url: Url, prefix: Prefix = DEFAULT_PREFIX, schema: SchemaName = None) -> None:
    """Create what is missing, and keep what is there."""
    _carry_out(create_tables(url, prefix=prefix, schema=schema, clock=SystemClock()))
    typer.echo(f"the tables {prefix}* are there")


@db.command()
def check(url: Url, prefix: Prefix = DEFAULT_PREFIX, schema: SchemaName = None) -> None:
    """Tell whether every table and column is there, and of the right version."""
    _carry_out(check_tables(url, prefix=prefix, schema=schema))
    typer.echo(f"the tables {prefix}* are as they should be")


@db.command(name="ddl")
def print_ddl(
    dialect: Annotated[str, typer.Argument(help="postgresql, mariadb, mysql or sqlite.")],
    prefix: Prefix = DEFAULT_PREFIX,
    schema: SchemaName = None,
) -> None:
    """Print the statements that create the tables, for those who run them by other means."""
    try:
        typer.echo(ddl(tables(prefix, schema), dialect_named(dialect)), nl=False)
    except QuartzError as error:
        _refuse(str(error))


def _carry_out(work: Coroutine[Any, Any, None]) -> None:
    """Do something with a database; what goes wrong is one message and exit code 1."""
    try:
        asyncio.run(work)
    except QuartzError as error:
        _refuse(str(error))


def _refuse(message: str) -> NoReturn:
    Console(stderr=True, highlight=False, soft_wrap=True).print(Text(message, style="red"))
    raise typer.Exit(1)
