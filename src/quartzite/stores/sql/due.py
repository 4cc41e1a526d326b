"""DueStatements: the SELECT of candidates, for each combination of filters that acquisition asks for."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Executable, Table, exists, literal_column, not_, or_

from quartzite.rules.acquisition import DueCriteria
from quartzite.sql.row_set import RowSet
from quartzite.stores.sql.job_rows import JOB_KEY
from quartzite.stores.sql.trigger_statements import TriggerStatements

__all__ = ["DueStatements"]


class DueStatements:
    """Builds each combination once. Most acquisitions filter nothing."""

    def __init__(self, statements: TriggerStatements) -> None:
        self._statements = statements
        plan = statements.plan
        self._types = plan.texts("excluded", statements.jobs, "job_class_name")
        self._jobs = plan.texts("closed", statements.jobs, *JOB_KEY)
        self._closed = plan.texts("full", statements.table, "execution_group")
        self._open = plan.texts("only", statements.table, "execution_group")

    def of(self, criteria: DueCriteria) -> tuple[Executable, Mapping[str, Any]]:
        """Return the statement and its parameters."""
        groups = criteria.groups
        named = [group for group in groups.closed if group is not None]
        combination = (
            bool(criteria.excluded_types),
            bool(criteria.closed_jobs),
            None in groups.closed,
            bool(named),
            groups.only_named is not None,
        )
        statement = self._statements.plan.built(
            ("triggers.due", combination), lambda: self._statements.due(self._filters(*combination))
        )
        parameters: dict[str, Any] = {
            "latest": criteria.latest,
            "before": criteria.misfired_before,
            "most": criteria.limit,
        }
        sets: Sequence[tuple[bool, RowSet, Collection[Sequence[str]]]] = (
            (combination[0], self._types, [(name,) for name in criteria.excluded_types]),
            (combination[1], self._jobs, [(key.group, key.name) for key in criteria.closed_jobs]),
            (combination[3], self._closed, [(group,) for group in named]),
            (combination[4], self._open, [(group,) for group in groups.only_named or ()]),
        )
        for is_used, rows, values in sets:
            if is_used:
                parameters.update(rows.parameters(values))
        return statement, parameters

    def _filters(self, types: bool, jobs: bool, no_group: bool, closed: bool, only: bool) -> list[ColumnElement[bool]]:
        statements = self._statements
        group = statements.table.c.execution_group
        filters: list[ColumnElement[bool]] = []
        if types:
            filters.append(not_(_holds(self._types, statements.jobs, "job_class_name")))
        if jobs:
            filters.append(not_(_holds(self._jobs, statements.jobs, *JOB_KEY)))
        if no_group:
            filters.append(group.is_not(None))
        if closed:
            filters.append(not_(_holds(self._closed, statements.table, "execution_group")))
        if only:
            filters.append(or_(group.is_(None), _holds(self._open, statements.table, "execution_group")))
        return filters


def _holds(rows: RowSet, table: Table, *columns: str) -> ColumnElement[bool]:
    """Return whether a set holds what a row of the table has."""
    same = (rows.c[name] == table.c[name] for name in columns)
    return exists(literal_column("1")).select_from(rows.element).where(*same).correlate(table)
