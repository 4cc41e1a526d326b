"""The builder: fluent verbs over the container."""

from quartzite.builder.quartz import add_quartz
from quartzite.builder.scheduler import SchedulerBuilder

__all__ = ["SchedulerBuilder", "add_quartz"]
