"""Releases: hears when locks are given back, so that whoever waits asks at once."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from redis.asyncio import Redis

__all__ = ["Releases"]


class Releases:
    """One connection that listens to the channels of locks: opened when a lock is waited for first, then kept.

    A message that gets lost costs time, never more: who waits also asks again after a while.

    Args:
        client: Where the connection comes from.
        errors: What its commands raise when the server is not there.
    """

    def __init__(self, client: Redis, errors: tuple[type[Exception], ...]) -> None:
        self._client = client
        self._errors = errors
        self._events: dict[str, asyncio.Event] = {}
        self._listening: asyncio.Task[None] | None = None

    def of(self, key: str) -> asyncio.Event:
        """Return the event that is set at each release of a lock, and once when listening has begun."""
        event = self._events.get(key)
        if event is None:
            event = self._events[key] = asyncio.Event()
            self._listen_anew()
        elif self._listening is None or self._listening.done():  # the connection was lost
            self._listen_anew()
        return event

    async def close(self) -> None:
        """Stop listening."""
        listening, self._listening = self._listening, None
        if listening is not None:
            listening.cancel()
            await asyncio.gather(listening, return_exceptions=True)

    def _listen_anew(self) -> None:
        # A second lock is waited for so seldom (there are two) that beginning again is simpler than adding to it.
        if self._listening is not None:
            self._listening.cancel()
        self._listening = asyncio.ensure_future(self._listen(tuple(self._events)))

    async def _listen(self, keys: tuple[str, ...]) -> None:
        with suppress(*self._errors):
            async with self._client.pubsub() as listener:
                await listener.subscribe(*keys)
                while True:
                    message = await listener.get_message(timeout=None)
                    if message is not None:
                        self._events[_text(message["channel"])].set()


def _text(name: bytes | str) -> str:
    return name.decode() if isinstance(name, bytes) else name
