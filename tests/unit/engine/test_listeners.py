"""ListenerManager: registration by name, matchers, order."""

from typing import Any

import pytest

from quartzite.abc import JobListener, SchedulerListener, TriggerListener
from quartzite.engine.listeners import ListenerManager
from quartzite.errors import InvalidValueError
from quartzite.model.keys import JobKey, TriggerKey
from quartzite.model.matchers import EverythingMatcher, GroupMatcher, KeyMatcher, Matcher, NameMatcher
from quartzite.testing import RecordingJobListener, RecordingSchedulerListener, RecordingTriggerListener

A, B, C = JobKey("a"), JobKey("b"), JobKey("c", "other")
ONLY_A: Matcher[JobKey] = KeyMatcher.key_equals(A)
ONLY_B: Matcher[JobKey] = KeyMatcher.key_equals(B)


@pytest.fixture
def manager() -> ListenerManager:
    """A manager without listeners."""
    return ListenerManager()


def heard(manager: ListenerManager, *keys: JobKey) -> list[list[str]]:
    """Return the names of the job listeners that hear of each key."""
    return [[listener.name for listener in manager.job_listeners_for(key)] for key in keys]


def test_a_listener_without_matchers_hears_everything(manager: ListenerManager) -> None:
    """No matcher means every key."""
    manager.add_job_listener(RecordingJobListener("x"))
    assert heard(manager, A, C) == [["x"], ["x"]]


def test_any_matcher_is_enough(manager: ListenerManager) -> None:
    """Of several matchers one that selects the key suffices."""
    manager.add_job_listener(RecordingJobListener("x"), ONLY_A, GroupMatcher.group_equals("other"))
    assert heard(manager, A, B, C) == [["x"], [], ["x"]]


def test_trigger_listeners_match_on_the_trigger_key(manager: ListenerManager) -> None:
    """The matchers of a trigger listener see trigger keys."""
    manager.add_trigger_listener(RecordingTriggerListener("x"), NameMatcher.name_starts_with("t"))
    assert [one.name for one in manager.trigger_listeners_for(TriggerKey("t1"))] == ["x"]
    assert manager.trigger_listeners_for(TriggerKey("u1")) == []


def test_the_order_is_that_of_registration(manager: ListenerManager) -> None:
    """Listeners are told in the order in which they came."""
    for name in ("z", "a", "m"):
        manager.add_job_listener(RecordingJobListener(name))
    assert heard(manager, A) == [["z", "a", "m"]]


def test_the_same_name_replaces_in_place(manager: ListenerManager) -> None:
    """A listener of a known name takes the place of the former one, in the order too, and its matchers are dropped."""
    first, second = RecordingJobListener("x"), RecordingJobListener("x")
    manager.add_job_listener(first, ONLY_A)
    manager.add_job_listener(RecordingJobListener("y"))
    manager.add_job_listener(second)
    assert manager.get_job_listener("x") is second
    assert heard(manager, B) == [["x", "y"]]


def test_matchers_can_be_added(manager: ListenerManager) -> None:
    """An added matcher widens what a listener hears; an unknown listener answers False."""
    manager.add_job_listener(RecordingJobListener("x"), ONLY_A)
    assert manager.add_job_listener_matcher("x", ONLY_B)
    assert not manager.add_job_listener_matcher("nobody", ONLY_B)
    assert manager.get_job_listener_matchers("x") == [ONLY_A, ONLY_B]


def test_the_last_matcher_removed_leaves_everything(manager: ListenerManager) -> None:
    """Matchers are removed by equality; without its last one a listener hears of every key."""
    manager.add_job_listener(RecordingJobListener("x"), KeyMatcher.key_equals(JobKey("a")))
    assert not manager.remove_job_listener_matcher("x", ONLY_B)
    assert manager.remove_job_listener_matcher("x", ONLY_A)
    assert not manager.remove_job_listener_matcher("nobody", ONLY_A)
    assert heard(manager, B) == [["x"]]


def test_matchers_can_be_replaced(manager: ListenerManager) -> None:
    """Setting the matchers replaces them all; an empty list means every key."""
    manager.add_job_listener(RecordingJobListener("x"), ONLY_A)
    assert manager.set_job_listener_matchers("x", [ONLY_B])
    assert heard(manager, A, B) == [[], ["x"]]
    assert manager.set_job_listener_matchers("x", [])
    assert heard(manager, A) == [["x"]]
    assert not manager.set_job_listener_matchers("nobody", [])


def test_matchers_of_nobody_are_an_empty_list(manager: ListenerManager) -> None:
    """The matchers of an unknown listener are an empty list, never None."""
    assert manager.get_job_listener_matchers("nobody") == []
    assert manager.get_trigger_listener_matchers("nobody") == []


def test_a_removed_listener_is_gone_with_its_matchers(manager: ListenerManager) -> None:
    """Removing answers whether the listener was there; registered again, it hears of everything."""
    manager.add_job_listener(RecordingJobListener("x"), ONLY_A)
    assert manager.remove_job_listener("x")
    assert not manager.remove_job_listener("x")
    assert manager.get_job_listener("x") is None
    manager.add_job_listener(RecordingJobListener("x"))
    assert heard(manager, B) == [["x"]]


def test_trigger_listeners_have_the_same_verbs(manager: ListenerManager) -> None:
    """Trigger listeners are registered, matched and removed like job listeners."""
    one, everything = KeyMatcher.key_equals(TriggerKey("t")), EverythingMatcher.all_triggers()
    listener = RecordingTriggerListener("x")
    manager.add_trigger_listener(listener, one)
    assert manager.get_trigger_listener("x") is listener
    assert manager.get_trigger_listeners() == [listener]
    assert manager.add_trigger_listener_matcher("x", everything)
    assert manager.get_trigger_listener_matchers("x") == [one, everything]
    assert manager.remove_trigger_listener_matcher("x", one)
    assert manager.set_trigger_listener_matchers("x", [one])
    assert manager.remove_trigger_listener("x")
    assert manager.get_trigger_listeners() == []


def test_scheduler_listeners_are_known_by_name(manager: ListenerManager) -> None:
    """Two scheduler listeners of one name are one: the later replaces the former."""
    first, second = RecordingSchedulerListener(), RecordingSchedulerListener()
    manager.add_scheduler_listener(first)
    manager.add_scheduler_listener(second)
    assert manager.get_scheduler_listeners() == [second]
    assert manager.get_scheduler_listener("RecordingSchedulerListener") is second
    assert manager.remove_scheduler_listener("RecordingSchedulerListener")
    assert not manager.remove_scheduler_listener("RecordingSchedulerListener")


def test_listings_are_snapshots(manager: ListenerManager) -> None:
    """A listing that was handed out does not change when somebody registers."""
    manager.add_job_listener(RecordingJobListener("x"))
    jobs, scheduler = manager.get_job_listeners(), manager.get_scheduler_listeners()
    manager.add_job_listener(RecordingJobListener("y"))
    manager.add_scheduler_listener(RecordingSchedulerListener())
    assert [one.name for one in jobs] == ["x"]
    assert scheduler == []


def test_a_firing_learns_whether_anybody_listens(manager: ListenerManager) -> None:
    """The answers that firings ask for follow every registration and removal."""
    assert (manager.hears_firings, manager.hears_scheduler) == (False, False)
    manager.add_trigger_listener(RecordingTriggerListener("x"))
    manager.add_scheduler_listener(RecordingSchedulerListener("y"))
    assert (manager.hears_firings, manager.hears_scheduler) == (True, True)
    manager.remove_trigger_listener("x")
    manager.remove_scheduler_listener("y")
    assert (manager.hears_firings, manager.hears_scheduler) == (False, False)


class Nameless(JobListener, TriggerListener, SchedulerListener):
    """A listener that calls itself whatever the test says."""

    def __init__(self, name: Any) -> None:
        self._name = name

    @property
    def name(self) -> Any:
        """What the test says."""
        return self._name


@pytest.mark.parametrize("name", ["", " ", None, 7])
@pytest.mark.parametrize("add", ["add_job_listener", "add_trigger_listener", "add_scheduler_listener"])
def test_a_blank_name_is_refused(manager: ListenerManager, add: str, name: object) -> None:
    """A listener without a text for a name is refused, and nothing is registered."""
    with pytest.raises(InvalidValueError, match="name"):
        getattr(manager, add)(Nameless(name))
    assert not manager.hears_firings
    assert not manager.hears_scheduler


def test_what_is_no_matcher_is_refused(manager: ListenerManager) -> None:
    """A key in the place of a matcher is refused with a hint, and nothing is registered."""
    with pytest.raises(InvalidValueError, match="KeyMatcher"):
        manager.add_job_listener(RecordingJobListener("x"), A)  # type: ignore[arg-type]
    assert manager.get_job_listeners() == []
