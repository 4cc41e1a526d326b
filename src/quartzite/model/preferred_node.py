"""On which node a trigger would like to fire."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from quartzite.errors import InvalidValueError

__all__ = ["PreferredNode"]

_RESERVED = {"*", "_", "null"}


@dataclass(frozen=True, slots=True)
class PreferredNode:
    """A wish, not a constraint: any node fires the trigger while the named one is not alive (spec 07 section 9).

    Attributes:
        node: Instance id of the node; None when there is no wish, or when an automatic pin is not claimed yet.
        is_automatic: Whether the first node that fires the trigger claims it.
    """

    NONE: ClassVar[PreferredNode]
    AUTO: ClassVar[PreferredNode]

    node: str | None = None
    is_automatic: bool = False

    @classmethod
    def for_node(cls, instance_id: str) -> PreferredNode:
        """Pin to one node by its instance id.

        Raises:
            InvalidValueError: the id is blank or one of the reserved words ``*``, ``_`` and ``null``.
        """
        node = instance_id.strip()
        if not node or node.lower() in _RESERVED:
            raise InvalidValueError(f"preferred node {instance_id!r} is blank or a reserved word: give an instance id")
        return cls(node)

    @property
    def is_none(self) -> bool:
        """Whether there is no wish."""
        return self.node is None and not self.is_automatic

    def claimed_by(self, instance_id: str) -> PreferredNode:
        """Return the automatic pin as claimed by a node."""
        return PreferredNode(instance_id, is_automatic=True)


PreferredNode.NONE = PreferredNode()
PreferredNode.AUTO = PreferredNode(is_automatic=True)
