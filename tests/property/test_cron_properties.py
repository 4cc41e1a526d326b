"""What holds for every cron expression in every zone."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import islice, pairwise
from zoneinfo import ZoneInfo

import pytest
from croniter import CroniterError, croniter
from cronsim import CronSim, CronSimError
from hypothesis import assume, given, reject, settings
from hypothesis import strategies as st

from quartzite.cron import CronExpression
from quartzite.timezones import offsets_of
from tests.conformance.wall_clock import next_fire

ZONES = [
    "UTC", "America/New_York", "America/Santiago", "America/Sao_Paulo", "Europe/London", "Europe/Dublin",
    "Europe/Helsinki", "Africa/Casablanca", "Asia/Kathmandu", "Asia/Gaza", "Australia/Lord_Howe", "Pacific/Apia",
]  # fmt: skip
SECOND = timedelta(seconds=1)
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
FROM, TO = datetime(1996, 1, 1), datetime(2040, 1, 1)  # noqa: DTZ001
WEEKDAYS = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"]
MONTHS = ["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"]


# Rare meetings of expression and clock change are what this looks for.
MANY = settings(max_examples=400, deadline=None)


# ------------------------------------------------------------------------------------------------- expressions
def values(low: int, high: int) -> st.SearchStrategy[str]:
    """Single values."""
    return st.integers(low, high).map(str)


def ranges(low: int, high: int) -> st.SearchStrategy[str]:
    """Ranges of at least two values that do not run over the end."""
    return st.tuples(st.integers(low, high - 1), st.integers(1, high)).map(lambda p: f"{p[0]}-{min(p[0] + p[1], high)}")


def items(low: int, high: int) -> st.SearchStrategy[str]:
    """What Quartz's dialect and the Unix one have in common."""
    steps = st.integers(1, high - low)
    stepped = st.tuples(st.one_of(st.just("*"), ranges(low, high)), steps).map(lambda p: f"{p[0]}/{p[1]}")
    return st.one_of(values(low, high), ranges(low, high), stepped)


def lists(low: int, high: int) -> st.SearchStrategy[str]:
    """Lists of such items."""
    return st.lists(items(low, high), min_size=1, max_size=3).map(",".join)


def clock(low: int, high: int) -> st.SearchStrategy[str]:
    """A second, minute or hour."""
    return st.one_of(st.just("0"), st.just("*"), values(low, high), lists(low, high))


MONTH = st.one_of(st.just("*"), lists(1, 12), st.sampled_from(MONTHS))
WEEKDAY = st.lists(st.sampled_from(WEEKDAYS), min_size=1, max_size=4, unique=True).map(",".join)
DAY = st.one_of(lists(1, 28), st.sampled_from(["L", "31", "29", "1,L"]))
COMMON_DAYS = st.one_of(
    st.just(("*", "?")), st.tuples(DAY, st.just("?")), st.tuples(st.just("?"), WEEKDAY), st.tuples(DAY, WEEKDAY)
)
QUARTZ_DAY = st.one_of(
    DAY,
    st.integers(0, 30).map(lambda n: f"L-{n}"),
    st.integers(1, 31).map(lambda n: f"{n}W"),
    st.sampled_from(["LW", "LW-3", "L-2W", "L-2W-1", "1,15W,LW", "28-5", "*/7"]),
)
QUARTZ_WEEKDAY = st.one_of(
    WEEKDAY,
    st.tuples(st.sampled_from(WEEKDAYS), st.sampled_from(["L", "#1", "#3", "#5"])).map("".join),
    st.sampled_from(["FRI-MON", "2/2", "L", "*"]),
)
QUARTZ_DAYS = st.one_of(
    COMMON_DAYS, st.tuples(QUARTZ_DAY, st.just("?")), st.tuples(st.just("?"), QUARTZ_WEEKDAY),
    st.tuples(QUARTZ_DAY, QUARTZ_WEEKDAY),
)  # fmt: skip
YEAR = st.sampled_from(["", "", "", " *", " 2000-2038", " */2"])


def expressions(days: st.SearchStrategy[tuple[str, str]], year: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """Texts of six or seven fields."""
    parts = st.tuples(clock(0, 59), clock(0, 59), clock(0, 23), days, MONTH, year)
    return parts.map(lambda p: f"{p[0]} {p[1]} {p[2]} {p[3][0]} {p[4]} {p[3][1]}{p[5]}")


COMMON = expressions(COMMON_DAYS, st.just(""))
QUARTZ = expressions(QUARTZ_DAYS, YEAR)
LOCAL_NIGHTS = st.builds(
    # the hours in which clocks change, so that most examples have to do with a change
    lambda second, minute, hour, days: f"{second} {minute} {hour} {days[0]} * {days[1]}",
    clock(0, 59),
    clock(0, 59),
    st.one_of(st.sampled_from(["*", "0", "1", "2", "3", "23", "1,2", "0-3", "23-2", "*/2"])),
    st.sampled_from([("*", "?"), ("?", "SUN"), ("?", "*")]),
)


@st.composite
def instants(draw: st.DrawFn, time_zone: str) -> datetime:
    """Any instant of 44 years, every second one of them within hours of a clock change of the zone."""
    at = draw(st.datetimes(FROM, TO, timezones=st.just(UTC)))
    segment = offsets_of(ZoneInfo(time_zone)).segment((at - EPOCH) // SECOND)
    if draw(st.booleans()) and abs(segment.end) < 1 << 40:
        at = EPOCH + timedelta(seconds=segment.end, milliseconds=draw(st.integers(-8_000_000, 8_000_000)))
    return at


@st.composite
def questions(draw: st.DrawFn, texts: st.SearchStrategy[str]) -> tuple[CronExpression, datetime]:
    """An expression in a zone, and an instant to ask about."""
    time_zone = draw(st.sampled_from(ZONES))
    return CronExpression(draw(texts), time_zone), draw(instants(time_zone))


ANY = questions(st.one_of(QUARTZ, LOCAL_NIGHTS))


def walk(expression: CronExpression, after: datetime, steps: int) -> list[datetime]:
    """Return the next fires, fewer when there are no more."""
    fires: list[datetime] = []
    while len(fires) < steps and (at := expression.next_after(fires[-1] if fires else after)) is not None:
        fires.append(at)
    return fires


def agreed_fires(unix: str, after: datetime) -> list[datetime]:
    """Return the next four fires by croniter and cronsim; no example when they differ or one of them gives up."""
    try:
        simulated = [*islice(CronSim(unix, after), 4)]
        theirs = [*islice(croniter(unix, after.replace(microsecond=0), second_at_beginning=True).all_next(datetime), 4)]
    except (CronSimError, CroniterError):
        reject()
    assume(theirs == simulated)
    return simulated


# -------------------------------------------------------------------------------------------------- properties
@MANY
@given(ANY)
def test_walk_rises_strictly(question: tuple[CronExpression, datetime]) -> None:
    """Every step of a walk leads to a later whole second in UTC."""
    expression, after = question
    fires = walk(expression, after, 20)
    assert all(before < fire for before, fire in pairwise([after, *fires]))
    assert all(fire.microsecond == 0 and fire.tzinfo is UTC for fire in fires)


@MANY
@given(ANY)
def test_previous_is_the_last_of_the_walk(question: tuple[CronExpression, datetime]) -> None:
    """No fire of the walk lies between the previous one and the instant, and each is found backwards again."""
    expression, at = question
    previous = expression.previous_before(at)
    assume(previous is not None)
    assert previous is not None
    assert previous < at
    following = expression.next_after(previous)
    assert following is None or following >= at
    fires = walk(expression, previous, 10)
    for before, fire in pairwise([previous, *fires]):
        assert expression.previous_before(fire) == before
        assert expression.previous_before(fire + timedelta.resolution) == fire


@MANY
@given(ANY)
def test_satisfied_instants_fire(question: tuple[CronExpression, datetime]) -> None:
    """Where the clocks match, the search finds a fire; where it finds one they match, or a gap moved it."""
    expression, after = question
    for fire in walk(expression, after, 10):
        if expression.is_satisfied_by(fire):
            assert expression.next_after(fire - SECOND) == fire
        else:
            shown = fire.astimezone(expression.time_zone)
            day_before = (fire - timedelta(days=1)).astimezone(expression.time_zone)
            assert (shown.utcoffset() or timedelta()) > (day_before.utcoffset() or timedelta())
    second = after.replace(microsecond=0)
    if expression.is_satisfied_by(after):
        assert expression.next_after(second - SECOND) == second


@MANY
@given(ANY)
def test_run_ends_where_nothing_fires(question: tuple[CronExpression, datetime]) -> None:
    """Every second up to the next invalid one is a fire, and that one is none."""
    expression, at = question
    end = expression.next_invalid_after(at)
    second = at.replace(microsecond=0)
    assert end is None or end >= second
    for _ in range(100):
        if second == end:
            assert expression.next_after(second - SECOND) != second
            break
        assert expression.next_after(second - SECOND) == second
        second += SECOND


@MANY
@given(questions(st.one_of(COMMON, LOCAL_NIGHTS)))
def test_equals_the_rules_over_croniter(question: tuple[CronExpression, datetime]) -> None:
    """On the common subset the fires are croniter's wall times, put on the time line by the written rules."""
    expression, after = question
    unix = expression.text.replace("?", "*")
    fields = unix.split()
    interval = any(sign in "".join(fields[:3]) for sign in "*/-")

    def next_wall_time(wall: datetime) -> datetime:
        found: datetime = croniter(unix, wall, second_at_beginning=True).get_next(datetime)
        return found

    for fire in walk(expression, after, 4):
        assert fire == next_fire(next_wall_time, expression.time_zone, after, interval=interval)
        after = fire


@MANY
@given(COMMON, st.datetimes(FROM, TO, timezones=st.just(UTC)))
def test_equals_cronsim_where_the_libraries_agree(text: str, after: datetime) -> None:
    """In UTC, where no clock changes, the fires are those on which croniter and cronsim agree."""
    unix = text.replace("?", "*")
    assert walk(CronExpression(text), after, 4) == agreed_fires(unix, after)


@MANY
@given(COMMON, st.datetimes(FROM, TO, timezones=st.just(UTC)))
def test_crontab_lines_equal_the_libraries(text: str, after: datetime) -> None:
    """The same line in the Unix dialect fires when croniter and cronsim agree that it does."""
    line = " ".join(text.replace("?", "*").split()[1:])
    assert walk(CronExpression.from_crontab(line), after, 4) == agreed_fires(line, after)


@MANY
@given(QUARTZ)
def test_text_is_stable(text: str) -> None:
    """The resolved text reads back as the same expression, and every expression has words."""
    expression = CronExpression(text)
    assert CronExpression(expression.text) == expression
    assert expression.describe()[0].isupper()


@pytest.mark.parametrize("time_zone", ZONES)
@pytest.mark.parametrize("text", ["0 30 2 * * ?", "0 0 0,1 * * ?", "0 0/45 0-3/3 * * ?", "0 15 23 * * ?"])
def test_ten_thousand_steps(text: str, time_zone: str) -> None:
    """Ten thousand steps through decades of clock changes never repeat and never go back."""
    fires = walk(CronExpression(text, time_zone), datetime(1998, 1, 1, tzinfo=UTC), 10_000)
    assert len(fires) == 10_000
    assert all(before < fire for before, fire in pairwise(fires))
