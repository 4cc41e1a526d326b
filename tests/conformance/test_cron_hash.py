"""What H stands for, by the published hash functions."""

from __future__ import annotations

import pytest

from quartzite.cron import CronExpression, trigger_hash_key
from tests.conformance.cron_answers import ruling
from tests.conformance.vectors import Vectors

pytestmark = pytest.mark.vectors("cron_hash.json")


def test_resolved_by_key_or_seed(vectors: Vectors) -> None:
    """A text key, or the seed in its place, resolves every H to the recorded value."""
    vectors.compare(
        vectors.records,
        answer=lambda record: (
            CronExpression(record["expr"], hash_key=record["seed"] if record["key"] is None else record["key"]).text
        ),
        expected=lambda record: record["resolved"],
    )


def test_resolved_by_the_seed_of_the_key(vectors: Vectors) -> None:
    """The seed of a key resolves every H as the key does."""
    vectors.compare(
        vectors.records,
        answer=lambda record: CronExpression(record["expr"], hash_key=record["seed"]).text,
        expected=lambda record: record["resolved"],
    )


def test_keys_of_triggers(vectors: Vectors) -> None:
    """A trigger's group and name give the recorded key and values."""
    vectors.compare(
        vectors.list("trigger_keys"),
        answer=lambda record: (
            (key := trigger_hash_key(record["group"], record["name"])),
            CronExpression(record["expr"], hash_key=key).text,
        ),
        expected=lambda record: (record["hash_key"], record["resolved"]),
    )


def test_malformed_tokens(vectors: Vectors) -> None:
    """Malformed H, and values that H makes too large, are refused."""
    vectors.compare(
        vectors.list("errors"),
        answer=lambda record: ruling(record["expr"], record["key"]),
        expected=lambda record: record["expect"],
    )
