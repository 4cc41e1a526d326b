"""The commands as a newcomer types them, in processes of their own."""

import subprocess
import sys


def quartzite(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", "from quartzite.cli.main import main; main()", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=18, check=False)


def test_the_demo_runs_two_schedulers_and_ends_by_itself() -> None:
    """``quartzite demo`` shows the firings of both schedulers, a summary, and ends with success."""
    shown = quartzite("demo", "--seconds", "2")
    assert shown.returncode == 0, shown.stderr
    rows = [line for line in shown.stdout.splitlines() if line.startswith("│")]
    assert {row.split("│")[1].strip() for row in rows} == {"fast", "reports"}
    assert {row.split("│")[2].strip() for row in rows} >= {"ping", "crunch", "count_up"}
    assert any(line[0].isdigit() and "runs of" in line for line in shown.stdout.splitlines() if line)
    assert "Traceback" not in shown.stderr


def test_a_database_that_can_not_be_used_is_named_in_one_line() -> None:
    """``quartzite demo --store`` with a wrong URL says so without a traceback, and exits with 1."""
    refused = quartzite("demo", "--store", "demo.db", "--seconds", "1")
    assert refused.returncode == 1
    assert "the database URL can not be read" in refused.stderr
    assert "Traceback" not in refused.stderr


def test_a_wrong_expression_ends_with_a_clear_error() -> None:
    """``quartzite cron`` points at the wrong character on standard error and exits with 2."""
    refused = quartzite("cron", "0 0 25 * * ?")
    assert refused.returncode == 2
    assert "'0 0 25 * * ?'" in refused.stderr
    assert "^" in refused.stderr
    assert "Traceback" not in refused.stderr


def test_without_arguments_the_commands_are_listed() -> None:
    """``quartzite`` alone lists its commands."""
    shown = quartzite()
    assert "demo" in shown.stdout + shown.stderr
    assert "cron" in shown.stdout + shown.stderr
