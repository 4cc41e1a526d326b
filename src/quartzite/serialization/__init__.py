"""Job data, triggers and calendars as bytes, and back."""

from quartzite.serialization.json import JsonSerializer

__all__ = ["JsonSerializer"]
