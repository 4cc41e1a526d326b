"""Content: what a scheduler carries besides its parts, and how it gets into the scheduler."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING

from quartzite.abc import Plugin

if TYPE_CHECKING:
    from quartzite.container.scheduler import SchedulerContainer

__all__ = ["Content", "NoContent", "ReadyContent"]


class ReadyContent:
    """Content that was built for one life of a scheduler, with nothing wrong that can be known before it starts."""

    @property
    def plugins(self) -> Mapping[str, Plugin]:
        """The plugins by name, in the order of their declaration."""
        return {}

    async def apply(self) -> None:
        """Register the listeners and store the rest; called after the plugins, before the scheduler starts.

        Raises:
            SchedulerError: something can not be stored; nothing was.
        """


class Content(ABC):
    """Jobs, triggers, calendars, listeners and plugins that belong to one scheduler."""

    @abstractmethod
    def build(self, parts: SchedulerContainer) -> ReadyContent:
        """Build the listeners and plugins and check the jobs, before the store is initialized.

        Raises:
            SchedulerConfigError: listing every problem.
        """


class NoContent(Content):
    """The content of a scheduler that nobody gave any."""

    def build(self, parts: SchedulerContainer) -> ReadyContent:  # noqa: ARG002
        """Return nothing to store."""
        return ReadyContent()
