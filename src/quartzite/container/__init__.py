"""The container: the parts of each scheduler, wired by dependency-injector."""

from quartzite.container.activate import create
from quartzite.container.background import running_in_thread
from quartzite.container.job_factory import InjectingJobFactory
from quartzite.container.parameters import Named
from quartzite.container.per_run import PerRun, per_run
from quartzite.container.quartz import QuartzContainer, scheduler_named
from quartzite.container.running import run, running
from quartzite.container.scheduler import SchedulerContainer
from quartzite.container.scheduler_map import SchedulerMap

__all__ = [
    "InjectingJobFactory",
    "Named",
    "PerRun",
    "QuartzContainer",
    "SchedulerContainer",
    "SchedulerMap",
    "create",
    "per_run",
    "run",
    "running",
    "running_in_thread",
    "scheduler_named",
]
