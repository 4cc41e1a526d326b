"""Instants, short."""

from __future__ import annotations

from datetime import UTC, datetime


def at(text: str) -> datetime:
    """Read an instant; without an offset it is UTC."""
    moment = datetime.fromisoformat(text)
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
