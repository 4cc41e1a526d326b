"""Answers compared with recorded ones, file by file.

The records are made by independent programs; ``tests/vectors/README.md`` says how, and which side Quartzite takes.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

Record = Mapping[str, Any]

_SHOWN = 25


def instant(text: str) -> datetime:
    """Read one instant of a record: ISO 8601 with offset."""
    return datetime.fromisoformat(text)


def instants(texts: Iterable[str | None]) -> list[datetime | None]:
    """Read a list of instants in which None stands for "no more"."""
    return [None if text is None else instant(text) for text in texts]


@dataclass(slots=True)
class Count:
    """How many records of one file were compared, and how many answers were as recorded."""

    compared: int = 0
    agreed: int = 0


@dataclass(slots=True)
class Tally:
    """The counts of a run, by file name."""

    folder: Path
    counts: dict[str, Count] = field(default_factory=dict)

    def add(self, name: str, *, agreed: bool) -> None:
        """Count one compared record of the file ``name``."""
        count = self.counts.setdefault(name, Count())
        count.compared += 1
        count.agreed += agreed


@dataclass(frozen=True, slots=True, kw_only=True)
class Vectors:
    """The lists of one file, and the comparison of ours with its answers.

    Attributes:
        name: The file's name.
        content: The file's JSON object: ``meta``, ``records``, and further lists by name.
        tally: Where every comparison is counted for the report at the end of the run.
        complete: Whether the file must hold what is asked of it (a folder of one's own may hold less).
    """

    name: str
    content: Mapping[str, Any]
    tally: Tally
    complete: bool

    @classmethod
    def read(cls, path: Path, tally: Tally, *, complete: bool) -> Vectors:
        """Read one file."""
        content = json.loads(path.read_text(encoding="utf-8"))
        return cls(name=path.name, content=content, tally=tally, complete=complete)

    @property
    def records(self) -> list[Record]:
        """The main list."""
        return self.list("records")

    def list(self, name: str) -> list[Record]:
        """Return the list called ``name``, empty when the file has none."""
        return list(self.content.get(name, ()))

    def compare(
        self, records: Iterable[Record], answer: Callable[[Record], Any], expected: Callable[[Record], Any]
    ) -> None:
        """Ask ``answer`` for every record and fail, naming each, when one is not what ``expected`` says.

        An answer that raises is a wrong answer. No record to compare is a failure in the shipped folder.
        """
        rows = list(records)
        wrong = [text for row in rows if (text := self._difference(row, answer, expected)) is not None]
        if wrong:
            shown = "\n".join(wrong[:_SHOWN])
            pytest.fail(f"{self.name}: {len(wrong)} of {len(rows)} records are answered otherwise:\n{shown}", False)
        if not rows and self.complete:
            pytest.fail(f"{self.name}: there is no record to compare", False)

    def _difference(
        self, record: Record, answer: Callable[[Record], Any], expected: Callable[[Record], Any]
    ) -> str | None:
        want = expected(record)
        try:
            got = answer(record)
        except Exception as error:
            got = error
        agreed = not isinstance(got, Exception) and bool(got == want)
        self.tally.add(self.name, agreed=agreed)
        return None if agreed else f"  {json.dumps(record)[:400]}\n    expected {want}\n    answered {got!r}"
