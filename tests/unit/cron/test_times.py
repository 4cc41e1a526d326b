"""Times of day, searched forwards and backwards."""

from __future__ import annotations

import pytest

from quartzite.cron.times import DAY, NONE, TimesOfDay, unit_table


def times(hours: set[int], minutes: set[int], seconds: set[int]) -> TimesOfDay:
    """Compile three sets of values."""
    return TimesOfDay(unit_table(_mask(seconds), 60), unit_table(_mask(minutes), 60), unit_table(_mask(hours), 24))


def _mask(values: set[int]) -> int:
    return sum(1 << value for value in values)


EVERY_HOUR, EVERY_SIXTIETH = set(range(24)), set(range(60))

CASES = {
    "once": ({9}, {30}, {0}),
    "first second": ({0}, {0}, {0}),
    "last second": ({23}, {59}, {59}),
    "some of each": ({0, 7, 8, 23}, {5, 58}, {0, 13, 59}),
    "all seconds of some minutes": ({3, 4}, {0, 1, 59}, EVERY_SIXTIETH),
    "all of some hours": ({0, 1, 22}, EVERY_SIXTIETH, EVERY_SIXTIETH),
    "gaps in the seconds": (EVERY_HOUR, EVERY_SIXTIETH, EVERY_SIXTIETH - {17}),
    "all": (EVERY_HOUR, EVERY_SIXTIETH, EVERY_SIXTIETH),
}


@pytest.mark.parametrize("name", CASES)
def test_searches_agree_with_a_list_of_all_times(name: str) -> None:
    """At every seventh second of the day, and around every match, the searches find what a plain list has."""
    hours, minutes, seconds = CASES[name]
    table = times(hours, minutes, seconds)
    matches = [h * 3600 + m * 60 + s for h in sorted(hours) for m in sorted(minutes) for s in sorted(seconds)]
    assert (table.first, table.last) == (matches[0], matches[-1])
    matching = set(matches)
    following, preceding, unmatched = [NONE] * DAY, [NONE] * DAY, [DAY] * DAY
    for time in range(DAY - 1, -1, -1):
        after = following[time + 1] if time + 1 < DAY else NONE
        following[time] = time if time in matching else after
        free = unmatched[time + 1] if time + 1 < DAY else DAY
        unmatched[time] = free if time in matching else time
    for time in range(DAY):
        preceding[time] = time if time in matching else (preceding[time - 1] if time else NONE)
    probes = {*range(0, DAY, 7), *matches[:500], *(max(0, match - 1) for match in matches[:500]), DAY - 1}
    for time in probes:
        assert table.on_or_after(time) == following[time]
        assert table.on_or_before(time) == preceding[time]
        assert table.unmatched_on_or_after(time) == unmatched[time]


def test_unit_tables_are_shared() -> None:
    """Equal sets of equal size have one table."""
    assert unit_table(0b101, 60) is unit_table(0b101, 60)
    assert unit_table(0b101, 24) is not unit_table(0b101, 60)


def test_full_unit_knows_it() -> None:
    """A table of all values says so."""
    assert unit_table((1 << 60) - 1, 60).full
    assert not unit_table((1 << 59) - 1, 60).full
