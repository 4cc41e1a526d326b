"""FieldTypes: what the fields of a value may hold."""

from __future__ import annotations

from typing import Any, Final

from quartzite.errors import InvalidValueError

__all__ = ["FieldTypes"]

_NOTHING: Final = type(None)


class FieldTypes:
    """The types of some fields of a value, checked when one is made.

    A wrong one is refused at the border: in the store, a priority that is a text could not be compared with the
    others, and no trigger would fire any more. ``None`` among the types lets a field be empty; a truth value is no
    number.

    Args:
        types: The types by the name of the field.
    """

    __slots__ = ("_types",)

    def __init__(self, **types: tuple[type | None, ...]) -> None:
        self._types = tuple(
            (name, tuple(_NOTHING if one is None else one for one in allowed)) for name, allowed in types.items()
        )

    def check(self, who: str, value: object) -> None:
        """Refuse a value whose fields hold something else; ``who`` begins with its kind, as in ``trigger a.b``.

        Raises:
            InvalidValueError: a field holds something else.
        """
        for name, allowed in self._types:
            held = getattr(value, name)
            # The exact type is the rule; the rest is for subclasses and for what is wrong.
            if type(held) not in allowed and (isinstance(held, bool) or not isinstance(held, allowed)):
                raise InvalidValueError(_refusal(who, name, held, allowed))


def _refusal(who: str, name: str, held: Any, allowed: tuple[type, ...]) -> str:
    wanted = " or ".join("None" if one is _NOTHING else one.__name__ for one in allowed)
    return f"{who}: {name} is {held!r}, of type {type(held).__name__}: give {wanted}"
