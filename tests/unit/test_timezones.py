"""Local time and instants where clocks change."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from importlib import resources
from zoneinfo import ZoneInfo, available_timezones

import pytest

from quartzite.errors import InvalidValueError
from quartzite.timezones import (
    UTC_ZONE,
    is_in_gap,
    is_in_overlap,
    local_time,
    offsets_of,
    resolve,
    resolve_end_of_gap,
    resolve_second,
    zone,
)
from quartzite.windows_zones import IANA_ZONES

NEW_YORK = ZoneInfo("America/New_York")
LORD_HOWE = ZoneInfo("Australia/Lord_Howe")
APIA = ZoneInfo("Pacific/Apia")
SANTIAGO = ZoneInfo("America/Santiago")
DUBLIN = ZoneInfo("Europe/Dublin")


def at(text: str) -> datetime:
    """Read a time without an offset."""
    return datetime.fromisoformat(text)


def utc(text: str) -> datetime:
    """Read a time in UTC."""
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


# ---------------------------------------------------------------------------------------------------- zone ids
def test_none_and_utc_mean_utc() -> None:
    """No zone and datetime's UTC are the zone UTC."""
    assert zone(None) is UTC_ZONE
    assert zone(UTC) is UTC_ZONE
    assert zone("UTC") is UTC_ZONE


def test_zone_is_itself() -> None:
    """A zone with an id is taken as it is."""
    assert zone(NEW_YORK) is NEW_YORK


@pytest.mark.parametrize(
    ("windows", "iana"),
    [
        ("China Standard Time", "Asia/Shanghai"),
        ("W. Europe Standard Time", "Europe/Berlin"),
        ("eastern standard time", "America/New_York"),
    ],
)
def test_windows_ids_are_mapped(windows: str, iana: str) -> None:
    """A Windows id of any case becomes the IANA zone of the CLDR."""
    assert zone(windows).key == iana


def test_every_windows_id_leads_to_a_zone() -> None:
    """All of the CLDR's Windows ids are there, and the database has the zone of each."""
    assert len(IANA_ZONES) >= 140
    assert set(IANA_ZONES.values()) <= available_timezones()
    assert all(zone(name).key == iana for name, iana in IANA_ZONES.items() if name != "UTC")  # that is an IANA id too


@pytest.mark.parametrize(
    "name", ["Mars/Base", "", " ", "../etc/passwd", "/etc/localtime", "America", "a\0b", "Ünïcode"]
)
def test_unknown_ids_are_refused(name: str) -> None:
    """An id that nobody knows is refused, and the message quotes it."""
    with pytest.raises(InvalidValueError) as caught:
        zone(name)
    assert repr(name) in str(caught.value)


def test_misspelt_id_gets_a_hint() -> None:
    """A misspelt id is answered with the nearest known one."""
    with pytest.raises(InvalidValueError, match="did you mean 'Europe/Berlin'"):
        zone("Europe/Berln")


@pytest.mark.parametrize("value", [timezone(timedelta(hours=2)), 5, b"Europe/Berlin"])
def test_values_without_an_id_are_refused(value: object) -> None:
    """A fixed offset and other values could not be stored, so they are refused."""
    with pytest.raises(InvalidValueError, match="has no id"):
        zone(value)  # type: ignore[arg-type]


def test_zone_without_an_id_is_refused() -> None:
    """A zone that was read from a file of no name could not be stored, so it is refused."""
    with resources.files("tzdata.zoneinfo.Europe").joinpath("Berlin").open("rb") as data:
        nameless = ZoneInfo.from_file(data)
    with pytest.raises(InvalidValueError, match="has no id"):
        zone(nameless)


# --------------------------------------------------------------------------------------------- gap and overlap
@pytest.mark.parametrize(
    ("where", "local", "instant"),
    [
        (NEW_YORK, "2024-03-10T02:30", "2024-03-10T07:30"),  # reads 03:30
        (LORD_HOWE, "2019-10-06T02:15", "2019-10-05T15:45"),  # reads 02:45, as the gap is half an hour wide
        (SANTIAGO, "2019-09-08T00:00", "2019-09-08T04:00"),  # reads 01:00
        (APIA, "2011-12-30T12:00", "2011-12-30T22:00"),  # the whole day is missing
        (DUBLIN, "2026-03-29T01:30", "2026-03-29T01:30"),  # a zone whose winter time is the deviation
    ],
)
def test_time_in_a_gap_comes_later_by_its_width(where: ZoneInfo, local: str, instant: str) -> None:
    """A local time that the clocks skip takes the offset before the gap."""
    assert is_in_gap(at(local), where)
    assert not is_in_overlap(at(local), where)
    assert resolve(at(local), where) == resolve_second(at(local), where) == utc(instant)


@pytest.mark.parametrize(
    ("where", "local", "first", "second"),
    [
        (NEW_YORK, "2024-11-03T01:30", "2024-11-03T05:30", "2024-11-03T06:30"),
        (LORD_HOWE, "2019-04-07T01:45", "2019-04-06T14:45", "2019-04-06T15:15"),
        (SANTIAGO, "2019-04-06T23:30", "2019-04-07T02:30", "2019-04-07T03:30"),
        (DUBLIN, "2026-10-25T01:00", "2026-10-25T00:00", "2026-10-25T01:00"),
    ],
)
def test_time_in_an_overlap_means_its_first(where: ZoneInfo, local: str, first: str, second: str) -> None:
    """A local time that the clocks show twice is its first occurrence, and the second can be asked for."""
    assert is_in_overlap(at(local), where)
    assert not is_in_gap(at(local), where)
    assert resolve(at(local), where) == resolve(at(local).replace(fold=1), where) == utc(first)
    assert resolve_second(at(local), where) == utc(second)


@pytest.mark.parametrize(
    "local", ["2024-03-10T01:59:59", "2024-03-10T03:00", "2024-11-03T00:59:59", "2024-11-03T02:00"]
)
def test_times_at_the_edges_are_plain(local: str) -> None:
    """The last second before a change and the first behind it are neither in a gap nor in an overlap."""
    assert not is_in_gap(at(local), NEW_YORK)
    assert not is_in_overlap(at(local), NEW_YORK)
    assert local_time(resolve(at(local), NEW_YORK), NEW_YORK) == at(local)
    assert resolve_second(at(local), NEW_YORK) == resolve(at(local), NEW_YORK)


@pytest.mark.parametrize(
    ("where", "local", "shown"),
    [
        (NEW_YORK, "2024-03-10T02:30:15", "2024-03-10T03:00:15"),
        (NEW_YORK, "2024-03-10T02:00:00", "2024-03-10T03:00:00"),
        (NEW_YORK, "2024-03-10T02:59:59", "2024-03-10T03:00:59"),
        (LORD_HOWE, "2024-10-06T02:01", "2024-10-06T02:30"),
        (APIA, "2011-12-30T00:00:30", "2011-12-31T00:00:30"),
        (SANTIAGO, "2019-09-08T00:00", "2019-09-08T01:00"),
        (NEW_YORK, "2024-03-10T03:00:00", "2024-03-10T03:00:00"),
        (NEW_YORK, "2024-11-03T01:30:00", "2024-11-03T01:30:00"),
    ],
)
def test_end_of_gap_is_reached_in_whole_minutes(where: ZoneInfo, local: str, shown: str) -> None:
    """A time in a gap moves on by whole minutes until the clocks show it; any other stays."""
    moved = resolve_end_of_gap(at(local), where)
    assert local_time(moved, where) == at(shown)
    assert moved <= resolve(at(local), where)


def test_local_time_is_naive_without_fold() -> None:
    """What the clocks show has neither a zone nor a mark of which pass it is."""
    shown = local_time(utc("2024-11-03T06:30"), NEW_YORK)
    assert (shown, shown.tzinfo, shown.fold) == (at("2024-11-03T01:30"), None, 0)


# ----------------------------------------------------------------------------------------------------- offsets
ZONES = [
    "UTC", "America/New_York", "America/Santiago", "America/Sao_Paulo", "Europe/Dublin", "Europe/Helsinki",
    "Africa/Casablanca", "Asia/Gaza", "Asia/Kathmandu", "Asia/Tehran", "Australia/Lord_Howe", "Pacific/Apia",
]  # fmt: skip


@pytest.mark.parametrize("name", ZONES)
def test_segments_have_the_offsets_of_the_zone(name: str) -> None:
    """Every hour of 1999 to 2039 lies in a stretch with the zone's own offset, and the stretches join."""
    where = ZoneInfo(name)
    offsets = offsets_of(where)
    start, end = (int(datetime(year, 1, 1, tzinfo=UTC).timestamp()) for year in (1999, 2039))
    segment = offsets.segment(start)
    for second in range(start, end, 3 * 3600 + 1):
        if second >= segment.end:
            following = offsets.segment(segment.end)
            assert following.start <= segment.end < following.end
            segment = offsets.segment(second)
        assert segment.start <= second < segment.end
        offset = datetime.fromtimestamp(second, where).utcoffset()
        assert offset == timedelta(seconds=segment.offset)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("America/New_York", "2026-03-08T07:00"),
        ("America/Recife", "2000-10-15T03:00"),  # a week less an hour behind the change before it
        ("America/Santiago", "1973-03-11T03:00"),  # near where our pieces of time meet
        ("Asia/Gaza", "2040-10-20T00:00"),
    ],
)
def test_changes_are_edges(name: str, change: str) -> None:
    """Whoever stands within a day of a change of offset finds it at the edge of his stretch."""
    offsets = offsets_of(ZoneInfo(name))
    near = int(utc(change).timestamp())
    changes = [
        second
        for second in range(near - 14 * 86_400, near + 14 * 86_400, 1800)
        if _offset(name, second - 1800) != _offset(name, second)
    ]
    assert changes
    for second in changes:
        for away in (1, 3600, 86_399):
            assert offsets.segment(second - away).end == second
            assert offsets.segment(second + away).start == second


def _offset(name: str, second: int) -> timedelta | None:
    return datetime.fromtimestamp(second, ZoneInfo(name)).utcoffset()


@pytest.mark.parametrize("name", ZONES)
def test_wall_seconds_resolve_like_local_times(name: str) -> None:
    """Around each change of 2005 to 2032 whole seconds resolve as naive datetimes do."""
    where = ZoneInfo(name)
    offsets = offsets_of(where)
    epoch = datetime(1970, 1, 1)  # noqa: DTZ001
    second, end = (int(datetime(year, 1, 1, tzinfo=UTC).timestamp()) for year in (2005, 2032))
    while (second := offsets.segment(second).end) < end:
        for wall in range(second - 16 * 3600, second + 16 * 3600, 899):
            local = epoch + timedelta(seconds=wall)
            assert offsets.resolve(wall) == int(resolve(local, where).timestamp()), local


def test_offsets_stand_still_beyond_the_calendar() -> None:
    """Seconds before the year 1 and behind the year 9999 have an offset, so that searches may look there."""
    offsets = offsets_of(NEW_YORK)
    for second in (-(10**11), 10**12):
        assert offsets.segment(second).start <= second < offsets.segment(second).end


def test_offsets_are_shared() -> None:
    """All users of a zone share what is known of it."""
    assert offsets_of(NEW_YORK) is offsets_of(zone("America/New_York"))


@pytest.mark.parametrize("name", ["localtime", "Factory", "posixrules"])
def test_the_zone_of_the_machine_is_refused(name: str) -> None:
    """A name that means another zone on each machine is refused: it could not be stored."""
    with pytest.raises(InvalidValueError, match="another one on each machine"):
        zone(name)
