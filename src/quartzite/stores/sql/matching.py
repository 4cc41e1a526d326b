"""Matchers and pages as parts of statements."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

from sqlalchemy import ColumnElement, Select, true

from quartzite.model.matchers import GroupMatcher, NameMatcher, StringOperator
from quartzite.sql.dialects import SqlDialect

__all__ = ["matching", "section"]

S = TypeVar("S", bound=Select[Any])


def matching(
    dialect: SqlDialect, column: ColumnElement[str], matcher: GroupMatcher[Any] | NameMatcher[Any]
) -> ColumnElement[bool]:
    """Return the condition that a text column is what a matcher selects, compared by code point."""
    value = matcher.value
    if matcher.operator is StringOperator.EQUALITY:
        return column == value
    if matcher.operator is StringOperator.STARTS_WITH:
        return dialect.starts_with(column, value)
    if matcher.operator is StringOperator.ENDS_WITH:
        return dialect.ends_with(column, value)
    if matcher.operator is StringOperator.CONTAINS:
        return dialect.contains(column, value)
    return true()


def section(dialect: SqlDialect, query: S, order: Sequence[ColumnElement[str]], skip: int, limit: int | None) -> S:
    """Return the rows behind the skipped ones, ``limit`` at most, ordered by code point."""
    ordered = query.order_by(*(dialect.ordinal(column) for column in order))
    if skip:
        ordered = ordered.offset(skip)
    return ordered if limit is None else ordered.limit(limit)
