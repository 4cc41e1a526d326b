"""JobChainingJobListener: the next job is fired when the first has run."""

import pytest

from quartzite.engine.scheduler import Scheduler
from quartzite.errors import InvalidValueError
from quartzite.execution import JobContext
from quartzite.listeners import JobChainingJobListener
from quartzite.model.builders import JobBuilder
from quartzite.model.keys import JobKey
from quartzite.testing import FakeClock
from quartzite.triggers.simple import once
from tests.schedulers import make_scheduler


class Chain:
    """Three durable jobs, of which ``a`` is fired once."""

    def __init__(self) -> None:
        self.clock = FakeClock()
        self.scheduler: Scheduler = make_scheduler(self.clock)
        self.listener = JobChainingJobListener("chain")
        self.scheduler.listener_manager.add_job_listener(self.listener)
        self.ran: list[str] = []
        self.fails = ""

    async def run(self, context: JobContext) -> None:
        """Note the job, and fail where the test wants it."""
        self.ran.append(context.job.key.name)
        if context.job.key.name == self.fails:
            raise RuntimeError("broken")

    async def play(self) -> None:
        """Store the jobs, fire the first, and let everything happen."""
        for name in "bc":
            await self.scheduler.add_job(JobBuilder.create(self.run).with_identity(name).store_durably())
        await self.scheduler.schedule_job(JobBuilder.create(self.run).with_identity("a").store_durably(), once())
        await self.scheduler.start()
        await self.clock.settle()
        await self.scheduler.shutdown(wait=True)


@pytest.mark.parametrize("fails", ["", "a", "b"])
async def test_jobs_follow_each_other(fails: str) -> None:
    """Whether a job succeeded or failed, the one that is linked to it runs after it."""
    chain = Chain()
    chain.fails = fails
    chain.listener.add_job_chain_link(JobKey("a"), JobKey("b"))
    chain.listener.add_job_chain_link(JobKey("b"), JobKey("c"))
    await chain.play()
    assert chain.ran == ["a", "b", "c"]


async def test_a_job_that_can_not_be_fired_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    """A link to a job that is not stored is logged; the first job has run all the same."""
    chain = Chain()
    chain.listener.add_job_chain_link(JobKey("a"), JobKey("nobody"))
    await chain.play()
    assert chain.ran == ["a"]
    assert "nobody" in caplog.text


def test_a_job_has_one_successor() -> None:
    """A second link from the same job is refused, naming both."""
    listener = JobChainingJobListener("chain")
    listener.add_job_chain_link(JobKey("a"), JobKey("b"))
    with pytest.raises(InvalidValueError, match=r"DEFAULT\.a is followed by job DEFAULT\.b"):
        listener.add_job_chain_link(JobKey("a"), JobKey("c"))


def test_a_blank_name_is_refused() -> None:
    """A listener is known by its name."""
    with pytest.raises(InvalidValueError, match="blank"):
        JobChainingJobListener("")
