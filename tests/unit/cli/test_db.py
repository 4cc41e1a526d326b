"""``quartzite db`` and ``quartzite --version``."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from quartzite.cli.app import app

runner = CliRunner()


def test_created_tables_pass_the_check(tmp_path: Path) -> None:
    """What ``db create`` made is what ``db check`` wants; creating again changes nothing."""
    url = f"sqlite:///{tmp_path / 'schedule.db'}"
    for command in ("create", "create", "check"):
        result = runner.invoke(app, ["db", command, url])
        assert result.exit_code == 0, result.output


def test_missing_tables_are_named_with_the_command_that_mends_it(tmp_path: Path) -> None:
    """``db check`` of an empty database fails, names a missing table and says how to create it."""
    result = runner.invoke(app, ["db", "check", f"sqlite:///{tmp_path / 'empty.db'}"])
    assert result.exit_code == 1
    assert "QRTZ_TRIGGERS is missing" in result.stderr
    assert "quartzite db create" in result.stderr


@pytest.mark.parametrize("dialect", ["postgresql", "mariadb", "mysql", "sqlite"])
def test_the_statements_of_a_dialect_are_printed(dialect: str) -> None:
    """``db ddl`` prints every table with the prefix that is asked for."""
    result = runner.invoke(app, ["db", "ddl", dialect, "--prefix", "NIGHT_"])
    assert result.exit_code == 0
    assert "CREATE TABLE IF NOT EXISTS" in result.stdout
    for name in ("TRIGGERS", "JOB_DETAILS", "FIRED_TRIGGERS", "SCHEDULER_STATE", "LOCKS"):
        assert f"NIGHT_{name}" in result.stdout


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["db", "ddl", "parchment"], "parchment"),
        (["db", "create", "no url"], "URL"),
        (["db", "create", "postgresql://nobody@127.0.0.1:1/none"], "asking the database failed"),
        (["db", "create", "sqlite:///file.db", "--prefix", "1;DROP"], "1;DROP"),
    ],
)
def test_what_can_not_be_done_is_one_message(arguments: list[str], named: str) -> None:
    """A refusal is one message on standard error and exit code 1, without a traceback."""
    result = runner.invoke(app, arguments)
    assert result.exit_code == 1
    assert named in result.stderr
    assert "Traceback" not in result.output


def test_the_version_is_printed() -> None:
    """``--version`` prints the name and the version."""
    result = runner.invoke(app, ["--version"])
    assert result.exit_code == 0
    assert result.stdout.startswith("quartzite 0.")
