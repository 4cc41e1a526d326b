"""Calendars: spans of time in which a trigger does not fire."""

from quartzite.calendars.base import Calendar

__all__ = ["Calendar"]
