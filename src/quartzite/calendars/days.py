"""DayCalendar: what the calendars that exclude whole days share."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from typing import Final

from quartzite.calendars.base import Calendar
from quartzite.timezones import local_time, resolve, resolve_second

__all__ = ["DayCalendar"]

_DAY: Final = timedelta(days=1)
_SEARCHED_DAYS: Final = 36_525


@dataclass(frozen=True, slots=True, kw_only=True)
class DayCalendar(Calendar):
    """Excludes whole days of its zone, from local midnight to local midnight."""

    @abstractmethod
    def _is_excluded(self, day: date) -> bool:
        """Tell whether the own rule excludes a local day."""

    def _includes(self, moment: datetime) -> bool:
        return not self._is_excluded(local_time(moment, self.time_zone).date())

    def _skip(self, moment: datetime) -> datetime | None:
        day = self._free_day_after(local_time(moment, self.time_zone).date())
        if day is None:
            return None
        midnight = datetime.combine(day, time.min)
        first = resolve(midnight, self.time_zone)
        # Clocks that go back over midnight show the old day again; then the new one begins a second time.
        return first if first > moment else resolve_second(midnight, self.time_zone)

    def _free_day_after(self, day: date) -> date | None:
        try:
            for _ in range(_SEARCHED_DAYS):
                day += _DAY
                if not self._is_excluded(day):
                    return day
        except OverflowError:  # behind the year 9999
            pass
        return None
