"""Execution limits: how many firings of a group one acquisition may reserve."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from quartzite.testing.contracts.job_store.base import StoreContract
from quartzite.testing.contracts.job_store.content import a_trigger, at, keys_of
from quartzite.testing.contracts.job_store.driver import StoreDriver

__all__ = ["LimitsContract"]

_LIMITS: list[tuple[Mapping[str | None, int | None], str]] = [
    ({}, "0-a 1-a 2-b 3-b 4-None 5-None"),
    ({"a": 1}, "0-a 2-b 3-b 4-None 5-None"),
    ({"a": 0}, "2-b 3-b 4-None 5-None"),
    ({"a": None}, "0-a 1-a 2-b 3-b 4-None 5-None"),
    ({None: 1}, "0-a 1-a 2-b 3-b 4-None"),
    ({None: 0}, "0-a 1-a 2-b 3-b"),
    ({"_": 0}, "0-a 1-a 2-b 3-b"),
    ({"*": 1}, "0-a 2-b 4-None 5-None"),
    ({"*": 0}, "4-None 5-None"),
    ({"*": 0, "b": 1}, "2-b 4-None 5-None"),
    ({"*": 1, "a": None}, "0-a 1-a 2-b 4-None 5-None"),
    ({"*": 0, "a": None, None: 1}, "0-a 1-a 4-None"),
    ({"c": 0}, "0-a 1-a 2-b 3-b 4-None 5-None"),
    ({"A": 0}, "0-a 1-a 2-b 3-b 4-None 5-None"),
]


async def _add(driver: StoreDriver, *groups: str | None) -> None:
    """Store one trigger per execution group, in this order of firing, named after the group and a number."""
    await driver.add_to_one_job(
        *(
            a_trigger(f"{number}-{group}", execution_group=group, when=at(number / 1000 - 1))
            for number, group in enumerate(groups)
        )
    )


class LimitsContract(StoreContract):
    """Execution limits (spec 06 section 7)."""

    async def test_limits_hold_per_group(self, driver: StoreDriver) -> None:
        """A named limit wins; ``*`` gives each unlisted named group its own allowance; ungrouped ones never use it."""
        await _add(driver, "a", "a", "b", "b", None, None)
        for limits, expected in _LIMITS:
            acquired = await driver.acquire(limits=limits)
            assert " ".join(key.name for key in keys_of(acquired)) == expected, limits
            await driver.store.release_acquired_triggers(acquired)

    @pytest.mark.parametrize("limit", [0, 1])
    async def test_an_exhausted_group_takes_up_no_place(self, driver: StoreDriver, limit: int) -> None:
        """However many triggers of an exhausted group come first, others get the places."""
        await _add(driver, *["full"] * 30, None, "free")
        acquired = keys_of(await driver.acquire(2, limits={"full": limit}))
        assert [key.name for key in acquired] == ["0-full", "30-None"][1 - limit :] + ["31-free"] * (1 - limit)

    async def test_forbidden_groups_take_up_no_place(self, driver: StoreDriver) -> None:
        """However many groups ``*`` forbids, the triggers of others get the places."""
        await _add(driver, *(f"g{number}" for number in range(30)), "open", None)
        acquired = keys_of(await driver.acquire(2, limits={"*": 0, "open": 5}))
        assert [key.name for key in acquired] == ["30-open", "31-None"]

    async def test_what_a_limit_left_is_available_the_next_time(self, driver: StoreDriver) -> None:
        """A trigger that found no slot stays waiting, and each acquisition has a ledger of its own."""
        await _add(driver, "a", "a", "a")
        for number in range(3):
            assert [key.name for key in keys_of(await driver.acquire(limits={"a": 1}))] == [f"{number}-a"]
        assert await driver.acquire() == []
