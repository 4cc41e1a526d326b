"""SchedulerBuilder: the fluent verbs that say what one scheduler is made of and what it carries."""

from __future__ import annotations

from quartzite.builder.content_verbs import ContentVerbs
from quartzite.builder.parts import PartVerbs

__all__ = ["SchedulerBuilder"]


class SchedulerBuilder(PartVerbs, ContentVerbs):
    """Says what one scheduler is made of and what it carries; every verb returns the builder.

    A part is chosen as a **class**, built by annotation from the scheduler's own parts first and the application's
    providers then; as an **instance**; as a **provider** of the application's container; or as a **factory**, any
    other callable, called with the scheduler's parts (see :func:`create`). Nothing is built before ``running(...)``.

    Choosing a second job store or lock handler is an error; of every other part and setting the last choice holds.
    """
