"""BuilderCore: what the verbs of a builder share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self, TypeVar

from dependency_injector.providers import Provider

from quartzite.builder.content import DeclaredContent
from quartzite.container.choose import choose, maker_of
from quartzite.container.scheduler import SchedulerContainer
from quartzite.container.scheduler_map import SchedulerMap

__all__ = ["BuilderCore"]

T = TypeVar("T")


class BuilderCore:
    """A scheduler's container and its declared content, and how a choice gets into them."""

    def __init__(self, parts: SchedulerContainer, content: DeclaredContent, schedulers: SchedulerMap) -> None:
        self._parts = parts
        self._content = content
        self._schedulers = schedulers

    @property
    def parts(self) -> SchedulerContainer:
        """The scheduler's container, for what no verb says."""
        return self._parts

    @property
    def scheduler_name(self) -> str:
        """The scheduler's name."""
        return self._parts.name()

    def _choose(
        self,
        part: Provider[Any],
        contract: type[T],
        choice: Any,
        verb: str,
        options: object,
        values: dict[str, Any] | None = None,
    ) -> Self:
        self._refuse_while_running(verb)
        part.override(choose(contract, choice, self._parts, verb=verb, options=options, values=values))
        return self

    def _maker(self, contract: type[T], choice: Any, verb: str, options: object) -> Callable[[], T]:
        self._refuse_while_running(verb)
        return maker_of(contract, choice, self._parts, verb=verb, options=options)

    def _refuse_while_running(self, what: str) -> None:
        self._schedulers.refuse_while_running(what)
