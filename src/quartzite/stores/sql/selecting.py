"""Selectors as row sets: which rows of the table of triggers a statement is about."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from quartzite.model.selectors import All, ByKeys, InGroups, OfJobs, TriggerSelector
from quartzite.stores.sql.job_rows import JOB_KEY
from quartzite.stores.sql.own_rows import OwnRows
from quartzite.stores.sql.plan import StorePlan
from quartzite.stores.sql.trigger_rows import KEY

__all__ = ["Selection", "select_rows"]

_ON: Final[dict[type, tuple[str, ...]]] = {ByKeys: KEY, OfJobs: JOB_KEY, InGroups: ("trigger_group",)}


@dataclass(frozen=True, slots=True)
class Selection:
    """The rows of triggers that a selector means.

    Attributes:
        on: The columns of the table that a row of the set gives; none for all rows.
        rows: The set, None for all rows.
        values: Its rows, each once, in an order that all transactions share.
    """

    on: tuple[str, ...]
    rows: OwnRows | None
    values: Sequence[Sequence[Any]]

    @property
    def is_empty(self) -> bool:
        """Whether nothing is meant."""
        return self.rows is not None and not self.values


def select_rows(plan: StorePlan, selector: TriggerSelector) -> Selection:
    """Return what a selector means."""
    if isinstance(selector, All):
        return Selection((), None, ())
    on = _ON[type(selector)]
    rows = plan.built(("selected", on), lambda: plan.rows("given", plan.tables.triggers, *on))
    if isinstance(selector, InGroups):
        return Selection(on, rows, [(group,) for group in sorted(set(selector.groups))])
    return Selection(on, rows, sorted({(key.group, key.name) for key in selector.keys}))
