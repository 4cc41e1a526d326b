"""What Quartzite is tested with, for the tests of those who use it.

``quartzite.testing.contracts`` holds the suites for parts of your own; it needs pytest, this package does not.
"""

from quartzite.testing.clock import FakeClock
from quartzite.testing.faults import FaultyJobStore
from quartzite.testing.recording import (
    Recorded,
    RecordingJobListener,
    RecordingJobStore,
    RecordingSchedulerListener,
    RecordingTriggerListener,
)
from quartzite.testing.signaler import RecordingSignaler

__all__ = [
    "FakeClock",
    "FaultyJobStore",
    "Recorded",
    "RecordingJobListener",
    "RecordingJobStore",
    "RecordingSchedulerListener",
    "RecordingSignaler",
    "RecordingTriggerListener",
]
