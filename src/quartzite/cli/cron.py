"""``quartzite cron``: when an expression fires, in instants and in plain words."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from typing import Annotated, Final, NoReturn
from zoneinfo import ZoneInfo

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from quartzite.clock import SystemClock
from quartzite.cron import CronExpression
from quartzite.errors import CronSyntaxError, InvalidValueError
from quartzite.timezones import zone

__all__ = ["cron"]

_WEEKDAYS: Final = ("Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")
_AFTER: Final = "Start after this ISO 8601 instant, local to --tz without an offset; now by default."
_HASH_KEY: Final = "What an H is spread by: the text that trigger_hash_key(group, name) gives for a trigger."
_BARE_WEEKDAYS: Final = re.compile(r"(?<![#\dL/])([0-7])(?=$|[-,/#L])")


def cron(
    expression: Annotated[
        str,
        typer.Argument(help="In quotes: second minute hour day-of-month month day-of-week, and a year if you like."),
    ],
    tz: Annotated[str, typer.Option("--tz", help="Time zone in which the fields are read.")] = "UTC",
    count: Annotated[int, typer.Option("-n", "--count", min=1, max=10_000, help="How many fire times.")] = 5,
    after: Annotated[str | None, typer.Option(help=_AFTER)] = None,
    hash_key: Annotated[str | None, typer.Option(help=_HASH_KEY)] = None,
    unix: Annotated[bool, typer.Option("--unix", help="Read the five-field dialect of Unix.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Show the next fire times of a cron expression, and what it says in plain words."""
    try:
        time_zone = zone(tz)
        parse = CronExpression.from_crontab if unix else CronExpression
        parsed = parse(expression, time_zone, hash_key=hash_key)
        start = _instant(after, time_zone)
    except InvalidValueError as error:
        _refuse(error, as_json, "" if unix else _option_for(expression))
    times = _fire_times(parsed, start, count)
    notes = [] if unix else _notes(parsed)
    if as_json:
        _print_json(parsed, times, notes)
    else:
        _print_table(parsed, times, notes)
    raise typer.Exit(0 if times else 1)


def _instant(text: str | None, time_zone: ZoneInfo) -> datetime:
    if text is None:
        return SystemClock().now()
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise InvalidValueError(f"--after {text!r} is no ISO 8601 instant: write 2026-03-29T01:30:00+01:00") from None
    return (moment if moment.tzinfo is not None else moment.replace(tzinfo=time_zone)).astimezone(UTC)


def _fire_times(parsed: CronExpression, start: datetime, count: int) -> list[datetime]:
    times: list[datetime] = []
    following = parsed.next_after(start)
    while following is not None and len(times) < count:
        times.append(following)
        following = parsed.next_after(following)
    return times


def _notes(parsed: CronExpression) -> list[str]:
    """Point out what is often misread: weekdays by number, which begin with 1 for Sunday (not with 0)."""
    weekday_field = parsed.text.split()[5]
    numbers = dict.fromkeys(int(n) for n in _BARE_WEEKDAYS.findall(weekday_field) if "1" <= n <= "7")
    if not numbers:
        return []
    meaning = ", ".join(f"{number} is {_WEEKDAYS[number - 1]}" for number in numbers)
    return [f"weekday numbers count from Sunday: {meaning}; names such as MON can not be misread"]


def _option_for(expression: str) -> str:
    """Name the option that makes an expression readable; an error's own hint speaks to programs."""
    try:
        CronExpression.from_crontab(expression, hash_key="any")
    except InvalidValueError:
        needs_key = CronExpression.is_valid(expression, hash_key="any")
        return "--hash-key gives the key of an H" if needs_key else ""
    return "--unix reads this line"


def _refuse(error: InvalidValueError, as_json: bool, option: str) -> NoReturn:
    if as_json:
        typer.echo(json.dumps(_error_fields(error)))
    else:
        console = Console(stderr=True, highlight=False, soft_wrap=True)
        console.print(Text(str(error), style="red"))
        if option and isinstance(error, CronSyntaxError):
            console.print(Text(f"option: {option}", style="yellow"))
    raise typer.Exit(2)


def _error_fields(error: InvalidValueError) -> dict[str, object]:
    if isinstance(error, CronSyntaxError):
        return {"error": error.reason, "text": error.text, "position": error.position, "hint": error.hint}
    return {"error": str(error)}


def _print_json(parsed: CronExpression, times: list[datetime], notes: list[str]) -> None:
    typer.echo(
        json.dumps(
            {
                "expression": parsed.text,
                "time_zone": parsed.time_zone.key,
                "description": parsed.describe(),
                "fire_times": [time.isoformat() for time in times],
                "notes": notes,
            }
        )
    )


def _print_table(parsed: CronExpression, times: list[datetime], notes: list[str]) -> None:
    console = Console(highlight=False)
    console.print(Text.assemble((parsed.text, "bold"), "  ", parsed.describe(), f" ({parsed.time_zone.key})"))
    if not times:
        console.print(Text("never fires", style="red"))
    else:
        console.print(_table(parsed.time_zone, times))
    for note in notes:
        console.print(Text(f"note: {note}", style="yellow"), soft_wrap=True)


def _table(time_zone: ZoneInfo, times: list[datetime]) -> Table:
    table = Table("UTC", time_zone.key, "weekday", box=None, header_style="dim")
    for time in times:
        local = time.astimezone(time_zone)
        table.add_row(time.strftime("%Y-%m-%d %H:%M:%S"), local.strftime("%Y-%m-%d %H:%M:%S %Z"), local.strftime("%A"))
    return table
