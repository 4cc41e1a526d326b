"""The broker: where the events go. A file stands in for Kafka."""

from __future__ import annotations

from pathlib import Path

from outbox import Event


class FileBroker:
    """Appends each event to a file, with the node that sent it."""

    def __init__(self, file: Path, node: str) -> None:
        self._file = file
        self._node = node

    async def send(self, event: Event) -> None:
        """Send an event."""
        with self._file.open("a") as topic:
            topic.write(f"{event.number} {self._node} {event.text}\n")
