"""``quartzite demo``: two schedulers side by side, for some seconds."""

from __future__ import annotations

import asyncio
import logging
import statistics
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Annotated, Final

import typer
from rich.console import Console
from rich.live import Live
from rich.table import Table
from rich.text import Text

from quartzite import JobContext, QuartzContainer, add_quartz, cron, every, running
from quartzite.abc import JobListener
from quartzite.clock import SystemClock
from quartzite.errors import JobExecutionError, QuartzError
from quartzite.model.job import job

__all__ = ["demo"]

_REFRESH: Final = 0.25
_MILLISECOND: Final = timedelta(milliseconds=1)


async def ping(_context: JobContext) -> None:
    """Do nothing, on the event loop."""


def crunch(_context: JobContext) -> int:
    """Count something, in a worker thread."""
    return sum(range(200_000))


@job(disallow_concurrent_execution=True, persist_job_data_after_execution=True)
async def count_up(context: JobContext) -> None:
    """Count its own runs in its job data."""
    context.job_data["runs"] = context.job_data.get_int("runs", default=0) + 1
    context.result = f"run {context.job_data['runs']}"


async def fail(_context: JobContext) -> None:
    """Fail: the schedule goes on."""
    raise RuntimeError("this job fails on purpose")


@dataclass(slots=True)
class JobFigures:
    """What was seen of one job of one scheduler."""

    runs: int = 0
    failures: int = 0
    last_scheduled: datetime | None = None
    lateness: list[float] = field(default_factory=list)


class FiringRecorder(JobListener):
    """Notes every run, by scheduler and job."""

    def __init__(self) -> None:
        self.figures: dict[tuple[str, str], JobFigures] = {}

    async def job_was_executed(self, context: JobContext, error: JobExecutionError | None) -> None:
        """Note one run."""
        figures = self.figures.setdefault((context.scheduler.name, context.job.key.name), JobFigures())
        figures.runs += 1
        figures.failures += error is not None
        figures.last_scheduled = context.scheduled_fire_time
        figures.lateness.append((context.fire_time - context.scheduled_fire_time) / _MILLISECOND)

    @property
    def total(self) -> int:
        """All runs."""
        return sum(figures.runs for figures in self.figures.values())


def demo(
    seconds: Annotated[float, typer.Option(min=1, max=3600, help="How long it runs.")] = 8,
    store: Annotated[
        str | None,
        typer.Option(help="A database, as in sqlite:///demo.db: the next run goes on where this one ended."),
    ] = None,
) -> None:
    """Run two named schedulers side by side for some seconds, and show what fires."""
    # One job fails on purpose, and the table counts it: its traceback need not be seen.
    logging.getLogger("quartzite").addHandler(logging.NullHandler())
    recorder = FiringRecorder()
    console = Console(highlight=False)
    console.print("Two schedulers, [bold]fast[/] and [bold]reports[/], each with parts of its own:")
    try:
        asyncio.run(_show(_container(recorder, store), recorder, console, seconds))
    except QuartzError as error:
        Console(stderr=True, highlight=False, soft_wrap=True).print(Text(str(error), style="red"))
        raise typer.Exit(1) from None
    _print_summary(console, recorder, seconds)


def _container(recorder: FiringRecorder, store: str | None) -> QuartzContainer:
    container = QuartzContainer()
    fast = add_quartz(container, "fast").add_job_listener(recorder)
    fast.schedule(ping, every(milliseconds=500))
    fast.schedule(crunch, every(seconds=1))
    reports = add_quartz(container, "reports").add_job_listener(recorder)
    reports.schedule(count_up, cron("0/2 * * * * ?", time_zone="Europe/Berlin"))
    reports.schedule(fail, cron("1/3 * * * * ?"))
    if store is not None:
        for scheduler in (fast, reports):
            scheduler.use_persistent_store(lambda database: database.use_url(store).configure(create_schema=True))
    return container


async def _show(container: QuartzContainer, recorder: FiringRecorder, console: Console, seconds: float) -> None:
    clock = SystemClock()
    end = clock.monotonic() + seconds
    async with running(container):
        with Live(_table(recorder), console=console, auto_refresh=False) as live:
            while (left := end - clock.monotonic()) > 0:
                await clock.sleep(min(_REFRESH, left))
                live.update(_table(recorder), refresh=console.is_terminal)


def _table(recorder: FiringRecorder) -> Table:
    table = Table("scheduler", "job", "runs", "failed", "last scheduled", "median lateness", header_style="dim")
    for (scheduler, name), figures in sorted(recorder.figures.items()):
        when = figures.last_scheduled.strftime("%H:%M:%S.%f")[:-3] if figures.last_scheduled else ""
        late = f"{statistics.median(figures.lateness):.1f} ms"
        table.add_row(scheduler, name, str(figures.runs), str(figures.failures), when, late)
    return table


def _print_summary(console: Console, recorder: FiringRecorder, seconds: float) -> None:
    if not console.is_terminal:
        console.print()  # the live table ends without a line break there
    lateness = [late for figures in recorder.figures.values() for late in figures.lateness]
    console.print(f"{recorder.total} runs of {len(recorder.figures)} jobs in {seconds:g} s, {_late(lateness)}.")
    if any(figures.failures for figures in recorder.figures.values()):
        console.print("The job that fails on purpose kept its schedule, and disturbed no other.")


def _late(lateness: Iterable[float]) -> str:
    ordered = sorted(lateness)
    if not ordered:
        return "none late"
    return f"started {statistics.median(ordered):.1f} ms late in the median, {ordered[-1]:.1f} ms at most"
