"""Settings: typed, frozen, and clear about everything that is wrong with them."""

from datetime import timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from pydantic import ValidationError

from quartzite.errors import SchedulerConfigError
from quartzite.model.acquisition import ExecutionLimits
from quartzite.settings import RamStoreSettings, SchedulerSettings


def test_the_defaults() -> None:
    """Nothing has to be said: the defaults use the machine, and time is UTC."""
    settings = SchedulerSettings()
    assert (settings.name, settings.instance_id) == ("default", "NON_CLUSTERED")
    assert (settings.idle_wait_time, settings.batch_time_window) == (timedelta(seconds=30), timedelta(0))
    assert (settings.max_batch_size, settings.max_concurrency) == (50, 50)
    assert (settings.interrupt_jobs_on_shutdown, settings.interrupt_jobs_on_shutdown_with_wait) == (False, False)
    assert (settings.time_zone, settings.context) == (ZoneInfo("UTC"), {})
    assert (settings.execution_limits, settings.misfire_threshold) == (None, None)
    assert RamStoreSettings().misfire_threshold == timedelta(seconds=5)


def test_ids_and_mappings_become_values() -> None:
    """A zone may be given by its id, limits as a mapping, spans in seconds."""
    settings = SchedulerSettings(time_zone="Europe/Berlin", execution_limits={"reports": 2, "_": 1}, idle_wait_time=5)  # type: ignore[arg-type, unused-ignore]
    assert settings.time_zone == ZoneInfo("Europe/Berlin")
    assert settings.execution_limits == ExecutionLimits({"reports": 2, None: 1})
    assert settings.idle_wait_time == timedelta(seconds=5)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"idle_wait_time": timedelta(milliseconds=999)}, "idle_wait_time is .*greater than or equal to 1 second"),
        ({"max_batch_size": 0}, "max_batch_size is 0"),
        ({"max_concurrency": 0}, "max_concurrency is 0"),
        ({"max_concurrency": "many"}, "max_concurrency is 'many'"),
        ({"batch_time_window": timedelta(seconds=-1)}, "batch_time_window is"),
        ({"misfire_threshold": timedelta(0)}, "misfire_threshold is"),
        ({"name": " "}, "name is ' ': .*not blank"),
        ({"name": "n" * 121}, "name is .*at most 120"),
        ({"instance_id": ""}, "instance_id is ''"),
        ({"time_zone": "Atlantis/Capital"}, "time_zone is 'Atlantis/Capital'"),
        ({"execution_limits": {"a": -1}}, "execution limit of group 'a' is -1"),
        ({"max_concurency": 3}, "max_concurency: there is no such setting; did you mean max_concurrency?"),
        ({"xyz": 3}, "xyz: there is no such setting$"),
    ],
)
def test_each_mistake_is_named(values: dict[str, Any], message: str) -> None:
    """A wrong value is refused with the setting, the value and the reason; a misspelt one with the nearest name."""
    with pytest.raises(SchedulerConfigError, match=message.replace("?", r"\?")):
        SchedulerSettings(**values)


def test_all_mistakes_are_listed_at_once() -> None:
    """Whoever has three mistakes learns of three."""
    values: dict[str, Any] = {"max_batch_size": 0, "name": "", "colour": "blue"}
    with pytest.raises(SchedulerConfigError) as caught:
        SchedulerSettings(**values)
    assert all(name in str(caught.value) for name in ("SchedulerSettings", "max_batch_size", "name", "colour"))
    assert isinstance(caught.value.__cause__, ValidationError)


def test_a_long_value_is_cut() -> None:
    """An error message does not repeat a book."""
    values: dict[str, Any] = {"max_batch_size": "x" * 1000}
    with pytest.raises(SchedulerConfigError) as caught:
        SchedulerSettings(**values)
    assert len(str(caught.value)) < 250


def test_settings_do_not_change() -> None:
    """Settings are values."""
    settings = SchedulerSettings()
    with pytest.raises(ValidationError, match="frozen"):
        settings.name = "other"  # type: ignore[misc]


def test_the_store_in_memory_has_a_threshold_of_its_own() -> None:
    """It is at least a millisecond."""
    with pytest.raises(SchedulerConfigError, match="misfire_threshold"):
        RamStoreSettings(misfire_threshold=timedelta(microseconds=999))
