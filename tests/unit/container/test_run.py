"""run: a program that is nothing but its schedulers, ended by signals or by its jobs."""

import os
import signal
import subprocess
import sys
from pathlib import Path
from threading import Thread

import pytest

from quartzite import JobContext, QuartzContainer, add_quartz, every, run
from quartzite.errors import SchedulerConfigError

PROGRAM = """
import asyncio
from quartzite import JobContext, QuartzContainer, add_quartz, every, run

async def work(context: JobContext) -> None:
    print("begun", flush=True)
    try:
        await asyncio.sleep({seconds})
        print("finished", flush=True)
    finally:
        print("left", flush=True)

container = QuartzContainer()
add_quartz(container).schedule(work, every(hours=1))
run(container)
print("after run", flush=True)
"""


def start(folder: Path, *, seconds: float) -> subprocess.Popen[str]:
    script = folder / "program.py"
    script.write_text(PROGRAM.format(seconds=seconds), encoding="utf-8")
    process = subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "begun\n"
    return process


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_first_signal_ends_gracefully(tmp_path: Path, number: signal.Signals) -> None:
    """The job that runs may finish, and the program goes on after ``run``."""
    with start(tmp_path, seconds=0.5) as process:
        os.kill(process.pid, number)
        output, errors = process.communicate(timeout=10)
    assert output.split("\n") == ["finished", "left", "after run", ""]
    assert (process.returncode, errors) == (0, "")


def test_the_second_signal_ends_at_once(tmp_path: Path) -> None:
    """Whoever does not want to wait for the jobs asks twice; the jobs are cancelled."""
    with start(tmp_path, seconds=60) as process:
        os.kill(process.pid, signal.SIGTERM)
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(timeout=0.5)
        os.kill(process.pid, signal.SIGTERM)
        output, _ = process.communicate(timeout=10)
    assert output.split("\n") == ["left", "after run", ""]
    assert process.returncode == 0


def test_it_returns_when_every_scheduler_was_shut_down() -> None:
    """Jobs that shut their schedulers down end the program."""
    ended: list[str] = []

    async def end(context: JobContext) -> None:
        ended.append(context.scheduler.name)
        await context.scheduler.shutdown()

    container = QuartzContainer()
    add_quartz(container, "a").schedule(end, every(hours=1))
    add_quartz(container, "b").schedule(end, every(hours=1))
    run(container)
    assert sorted(ended) == ["a", "b"]


def test_errors_of_the_start_come_out() -> None:
    """A program that is wired wrongly fails, and does not end in peace."""
    with pytest.raises(SchedulerConfigError, match="no scheduler"):
        run(QuartzContainer())


def test_it_runs_in_any_thread_and_leaves_the_signals_alone_there() -> None:
    """Signals belong to the main thread; elsewhere the schedulers end by being shut down."""
    ended: list[str] = []
    before = signal.getsignal(signal.SIGTERM)

    async def end(context: JobContext) -> None:
        ended.append(context.scheduler.name)
        await context.scheduler.shutdown()

    container = QuartzContainer()
    add_quartz(container).schedule(end, every(hours=1))
    thread = Thread(target=run, args=(container,))
    thread.start()
    thread.join(timeout=10)
    assert not thread.is_alive()
    assert ended == ["default"]
    assert signal.getsignal(signal.SIGTERM) is before
