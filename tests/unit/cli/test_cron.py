"""``quartzite cron``."""

import json

import pytest
import typer
from typer.testing import CliRunner, Result

from quartzite.cli.cron import cron

AFTER = ("--after", "2026-03-27T00:00:00+00:00")


def invoke(*arguments: str) -> Result:
    app = typer.Typer()
    app.command()(cron)
    return CliRunner().invoke(app, list(arguments))


def test_json_shows_fire_times_in_utc_and_plain_words() -> None:
    """The JSON form has the fire times as UTC instants, the zone and a description."""
    result = invoke("0 30 9 ? * MON-FRI", "--tz", "Europe/Berlin", "-n", "3", "--json", *AFTER)
    shown = json.loads(result.stdout)
    assert result.exit_code == 0
    assert shown["fire_times"] == [
        "2026-03-27T08:30:00+00:00",
        "2026-03-30T07:30:00+00:00",
        "2026-03-31T07:30:00+00:00",
    ]
    assert shown["time_zone"] == "Europe/Berlin"
    assert "Monday" in shown["description"]


def test_the_table_shows_local_time() -> None:
    """The table shows each fire time in UTC and in the zone."""
    result = invoke("0 30 9 ? * MON-FRI", "--tz", "Europe/Berlin", "-n", "1", *AFTER)
    assert "2026-03-27 08:30:00" in result.stdout
    assert "2026-03-27 09:30:00 CET" in result.stdout


def test_an_error_points_at_the_wrong_character() -> None:
    """A refused expression exits with 2 and marks the position below the quoted text."""
    result = invoke("0 0 25 * * ?")
    assert result.exit_code == 2
    quoted, marker = next(
        (line, after)
        for line, after in zip(result.stderr.splitlines(), result.stderr.splitlines()[1:], strict=False)
        if after.strip() == "^"
    )
    assert quoted[marker.index("^") :].startswith("25")


def test_a_unix_line_is_hinted_at_and_read_with_unix() -> None:
    """Five fields are refused with a hint, and read with --unix."""
    refused = invoke("30 9 * * 1-5", *AFTER)
    read = invoke("30 9 * * 1-5", "--unix", "-n", "1", "--json", *AFTER)
    assert refused.exit_code == 2
    assert "hint" in refused.stderr
    assert "option: --unix" in refused.stderr
    assert json.loads(read.stdout)["fire_times"] == ["2026-03-27T09:30:00+00:00"]


def test_json_errors_are_json() -> None:
    """With --json a refused expression is reported as JSON with reason, text and position."""
    shown = json.loads(invoke("0 0 25 * * ?", "--json").stdout)
    assert shown["text"] == "0 0 25 * * ?"
    assert shown["position"] == 4


def test_an_expression_that_never_fires_says_so() -> None:
    """An impossible date is shown as never firing, with exit code 1."""
    result = invoke("0 0 0 31 2 ?")
    assert result.exit_code == 1
    assert "never fires" in result.stdout


@pytest.mark.parametrize(
    ("expression", "noted"),
    [
        ("0 35 9 ? * 2", "2 is Monday"),
        ("0 35 9 ? * 2,6", "2 is Monday, 6 is Friday"),
        ("0 35 9 ? * 1-5", "1 is Sunday, 5 is Thursday"),
        ("0 0 0 ? * 6#3", "6 is Friday"),
    ],
)
def test_weekday_numbers_are_explained(expression: str, noted: str) -> None:
    """A weekday given as a number is pointed out with its name, as Quartz counts from Sunday."""
    assert noted in json.loads(invoke(expression, "--json").stdout)["notes"][0]


@pytest.mark.parametrize("expression", ["0 35 9 ? * MON", "0 0 0 ? * MON#3", "0 0 12 5 * ?"])
def test_names_need_no_note(expression: str) -> None:
    """Weekday names are left without a note."""
    assert json.loads(invoke(expression, "--json").stdout)["notes"] == []


def test_an_unknown_zone_is_refused() -> None:
    """A zone that nobody knows is refused by name."""
    result = invoke("0 0 0 * * ?", "--tz", "Mars/Olympus")
    assert result.exit_code == 2
    assert "Mars/Olympus" in result.stderr


def test_an_instant_that_is_none_is_refused() -> None:
    """A start that is no ISO 8601 instant is refused by its text."""
    result = invoke("0 0 0 * * ?", "--after", "tomorrow")
    assert result.exit_code == 2
    assert "tomorrow" in result.stderr


def test_a_missing_hash_key_is_answered_with_its_option() -> None:
    """An H without a key names the option that gives it; other errors name no option."""
    assert "option: --hash-key" in invoke("H H 3 * * ?").stderr
    assert "option:" not in invoke("0 0 25 * * ?").stderr


def test_the_help_names_every_field() -> None:
    """No field is lost in the help text, the year neither."""
    shown = " ".join(invoke("--help").stdout.replace("│", " ").split())
    assert "second minute hour day-of-month month day-of-week, and a year" in shown
