"""Ids of nodes: unique, storable, and refused where they contradict the store."""

import os
import socket
from typing import Any

import pytest

from quartzite.abc import InstanceIdGenerator
from quartzite.engine.instance_id import HostInstanceIdGenerator, settle_identity
from quartzite.errors import SchedulerConfigError
from quartzite.settings import SchedulerSettings


class Fixed(InstanceIdGenerator):
    """Makes always the same id."""

    def __init__(self, made: str = "made") -> None:
        self._made = made

    def generate(self) -> str:
        """Return it."""
        return self._made


def settled(*, clustered: bool, generator: InstanceIdGenerator | None = None, **settings: Any) -> str:
    """Return the instance id of a scheduler with these settings."""
    return settle_identity(SchedulerSettings(**settings), generator or Fixed(), clustered=clustered).instance_id


def test_nodes_that_share_host_and_process_id_differ(monkeypatch: pytest.MonkeyPatch) -> None:
    """Eight nodes in containers of one image, with equal host names and process ids, have eight ids."""
    monkeypatch.setattr(socket, "gethostname", lambda: "app")
    monkeypatch.setattr(os, "getpid", lambda: 7)
    ids = {HostInstanceIdGenerator().generate() for _ in range(8)}
    assert len(ids) == 8
    assert all(one.startswith("app-7-") for one in ids)


def test_a_long_host_name_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    """An id fits the column, however long the host's name is."""
    monkeypatch.setattr(socket, "gethostname", lambda: "h" * 300)
    assert len(HostInstanceIdGenerator().generate()) <= 120


@pytest.mark.parametrize(
    ("settings", "expected"),
    [({}, "NON_CLUSTERED"), ({"instance_id": "AUTO"}, "NON_CLUSTERED"), ({"instance_id": "web1"}, "web1")],
)
def test_a_store_without_cluster_needs_no_made_id(settings: dict[str, Any], expected: str) -> None:
    """Alone on its store a scheduler keeps the id it was given; none is made."""
    assert settled(clustered=False, **settings) == expected


@pytest.mark.parametrize(
    ("settings", "expected"), [({}, "made"), ({"instance_id": "AUTO"}, "made"), ({"instance_id": "web1"}, "web1")]
)
def test_a_cluster_makes_the_id_that_is_not_given(settings: dict[str, Any], expected: str) -> None:
    """In a cluster an id is made when none was given, or AUTO."""
    assert settled(clustered=True, **settings) == expected


def test_the_literal_is_refused_in_a_cluster() -> None:
    """NON_CLUSTERED, said on purpose, contradicts a clustered store."""
    with pytest.raises(SchedulerConfigError, match="AUTO"):
        settled(clustered=True, instance_id="NON_CLUSTERED")


def test_a_generator_that_makes_nothing_is_refused() -> None:
    """An empty id from a generator is an error that names the generator."""
    with pytest.raises(SchedulerConfigError, match="Fixed made no instance id"):
        settled(clustered=True, generator=Fixed(" "))
