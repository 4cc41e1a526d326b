"""The suite of job stores, by topic."""

from __future__ import annotations

from quartzite.testing.contracts.job_store.acquisition import AcquisitionContract
from quartzite.testing.contracts.job_store.base import MakeDriver, MakeStore, StoreContract, StoreParts
from quartzite.testing.contracts.job_store.calendars import CalendarsContract
from quartzite.testing.contracts.job_store.cluster import ClusterContract
from quartzite.testing.contracts.job_store.completion import CompletionContract
from quartzite.testing.contracts.job_store.details import DetailsContract
from quartzite.testing.contracts.job_store.driver import StoreDriver
from quartzite.testing.contracts.job_store.endurance import EnduranceContract
from quartzite.testing.contracts.job_store.exclusive import ExclusiveContract
from quartzite.testing.contracts.job_store.firing import FiringContract
from quartzite.testing.contracts.job_store.groups import GroupsContract
from quartzite.testing.contracts.job_store.isolation import IsolationContract
from quartzite.testing.contracts.job_store.job_data import JobDataContract
from quartzite.testing.contracts.job_store.job_queries import JobQueriesContract
from quartzite.testing.contracts.job_store.jobs import JobsContract
from quartzite.testing.contracts.job_store.life import LifeContract
from quartzite.testing.contracts.job_store.limits import LimitsContract
from quartzite.testing.contracts.job_store.misfires import MisfiresContract
from quartzite.testing.contracts.job_store.pausing import PausingContract
from quartzite.testing.contracts.job_store.persistence import JobNamesContract, PersistenceContract, RecoveryContract
from quartzite.testing.contracts.job_store.replacing import ReplacingContract
from quartzite.testing.contracts.job_store.scheduling import SchedulingContract
from quartzite.testing.contracts.job_store.states import StatesContract
from quartzite.testing.contracts.job_store.trigger_queries import TriggerQueriesContract
from quartzite.testing.contracts.job_store.triggers import TriggersContract

__all__ = [
    "TOPICS",
    "AcquisitionContract",
    "CalendarsContract",
    "ClusterContract",
    "CompletionContract",
    "DetailsContract",
    "EnduranceContract",
    "ExclusiveContract",
    "FiringContract",
    "GroupsContract",
    "IsolationContract",
    "JobDataContract",
    "JobNamesContract",
    "JobQueriesContract",
    "JobStoreContract",
    "JobsContract",
    "LifeContract",
    "LimitsContract",
    "MakeDriver",
    "MakeStore",
    "MisfiresContract",
    "PausingContract",
    "PersistenceContract",
    "RecoveryContract",
    "ReplacingContract",
    "SchedulingContract",
    "StatesContract",
    "StoreContract",
    "StoreDriver",
    "StoreParts",
    "TriggerQueriesContract",
    "TriggersContract",
]


class JobStoreContract(
    LifeContract,
    JobsContract,
    TriggersContract,
    ReplacingContract,
    DetailsContract,
    SchedulingContract,
    AcquisitionContract,
    LimitsContract,
    FiringContract,
    CompletionContract,
    JobDataContract,
    ExclusiveContract,
    StatesContract,
    PausingContract,
    GroupsContract,
    MisfiresContract,
    CalendarsContract,
    JobQueriesContract,
    TriggerQueriesContract,
    IsolationContract,
    EnduranceContract,
    PersistenceContract,
    JobNamesContract,
    RecoveryContract,
    ClusterContract,
):
    """What every job store must pass: all topics.

    A subclass whose name begins with ``Test`` overrides the fixture ``make_store``, claims its ``capabilities``, and
    is run by pytest with pytest-asyncio.
    """


TOPICS: tuple[type[StoreContract], ...] = tuple(
    base for base in JobStoreContract.__bases__ if issubclass(base, StoreContract)
)
"""The topics of the suite; each is a suite of its own."""
