"""Details: what of a stored trigger can be changed without touching its schedule."""

from __future__ import annotations

from typing import Any

import pytest

from quartzite.errors import InvalidValueError, JobPersistenceError
from quartzite.model.job_data import JobData
from quartzite.model.keys import TriggerKey
from quartzite.model.states import TriggerState
from quartzite.model.trigger_details import TriggerDetailsUpdate
from quartzite.testing.contracts.job_store.base import StoreContract
from quartzite.testing.contracts.job_store.content import plain
from quartzite.testing.contracts.job_store.driver import StoreDriver
from quartzite.triggers.simple import every

__all__ = ["DetailsContract"]

_UPDATES: list[tuple[TriggerDetailsUpdate, dict[str, Any]]] = [
    (TriggerDetailsUpdate().with_description("new"), {"description": "new"}),
    (TriggerDetailsUpdate().with_description(None), {"description": None}),
    (TriggerDetailsUpdate().with_priority(-3), {"priority": -3}),
    (TriggerDetailsUpdate().with_misfire_instruction(3), {"misfire_instruction": 3}),
    (TriggerDetailsUpdate().with_job_data({"b": 2}), {"job_data": JobData({"b": 2})}),
    (TriggerDetailsUpdate().with_job_data({}), {"job_data": JobData()}),
    (TriggerDetailsUpdate().with_priority(1).with_description("x"), {"priority": 1, "description": "x"}),
]


class DetailsContract(StoreContract):
    """``update_trigger_details`` (spec 04 section 6)."""

    async def test_only_what_was_set_is_changed(self, driver: StoreDriver) -> None:
        """An update replaces the fields that it names, data as a whole; fire times and all else stay."""
        for number, (update, changes) in enumerate(_UPDATES):
            fields = {"schedule": every(seconds=60), "description": "old", "job_data": {"a": 1}}
            trigger = await driver.add_trigger(f"{number}", **fields)
            await driver.run_due()
            before = await driver.stored(trigger)
            assert await driver.store.update_trigger_details(trigger.key, update) is True
            assert await driver.stored(trigger) == before.copy_with(**changes)

    async def test_an_update_wakes_nobody_and_keeps_the_state(self, driver: StoreDriver) -> None:
        """Details do not touch the schedule: no signal is given and a paused trigger stays paused."""
        trigger = await driver.add_trigger()
        await driver.store.pause_trigger(trigger.key)
        driver.signaler.clear()
        await driver.store.update_trigger_details(trigger.key, TriggerDetailsUpdate().with_priority(7))
        assert driver.signaler.scheduling_changes == []
        assert await driver.state(trigger) is TriggerState.PAUSED

    async def test_an_acquired_trigger_fires_in_spite_of_an_update(self, driver: StoreDriver) -> None:
        """New details do not cost a claim: the trigger fires, with them."""
        trigger = await driver.add_trigger()
        acquired = await driver.acquire_one()
        await driver.store.update_trigger_details(trigger.key, TriggerDetailsUpdate().with_description("new"))
        (bundle,) = await driver.fire(acquired)
        assert bundle.trigger.key == trigger.key
        assert (await driver.stored(trigger)).description == "new"

    async def test_an_update_of_a_trigger_that_is_not_there(self, driver: StoreDriver) -> None:
        """An unknown trigger gives False, whatever the update says."""
        for update in (TriggerDetailsUpdate(), TriggerDetailsUpdate().with_priority(1)):
            assert await driver.store.update_trigger_details(TriggerKey("none"), update) is False

    async def test_an_empty_update_changes_nothing(self, driver: StoreDriver) -> None:
        """An update that names nothing answers whether the trigger is there."""
        trigger = await driver.add_trigger(description="kept")
        assert await driver.store.update_trigger_details(trigger.key, TriggerDetailsUpdate()) is True
        assert plain(await driver.stored(trigger)) == trigger

    @pytest.mark.parametrize(
        ("update", "error"),
        [
            (TriggerDetailsUpdate().with_priority(1).with_calendar_name("unknown"), JobPersistenceError),
            (TriggerDetailsUpdate().with_priority(1).with_misfire_instruction(99), InvalidValueError),
        ],
        ids=["calendar", "misfire instruction"],
    )
    async def test_an_update_that_can_not_be_is_refused(
        self, driver: StoreDriver, update: TriggerDetailsUpdate, error: type[Exception]
    ) -> None:
        """A calendar that is not stored, or an instruction that the kind does not know, leaves all as it was."""
        trigger = await driver.add_trigger()
        with pytest.raises(error):
            await driver.store.update_trigger_details(trigger.key, update)
        assert await driver.stored(trigger) == trigger

    async def test_a_new_priority_counts_at_once(self, driver: StoreDriver) -> None:
        """The next acquisition goes by the priority that was set last."""
        await driver.add_triggers("a", "b")
        await driver.store.update_trigger_details(TriggerKey("b"), TriggerDetailsUpdate().with_priority(6))
        assert [trigger.key.name for trigger in await driver.acquire(1)] == ["b"]
