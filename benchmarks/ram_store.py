"""What the RAM store itself costs, without an engine: ``python benchmarks/ram_store.py``.

* ``cycle``: 10,000 one-shot triggers of one job, batches of 50: microseconds of processor time that acquire, fire and
  complete take per firing
* ``idle``: bytes of memory (RSS) per daily cron trigger, 100,000 of them, each with a key of its own
* ``beside``: the cycle of 1,000 due triggers beside those 100,000

Each figure is the best of some rounds in a process of its own; goals stand beside them.
"""

from __future__ import annotations

import asyncio
import gc
import subprocess
import sys
import time
from datetime import UTC, datetime, timedelta

from quartzite.abc import Clock, Signaler
from quartzite.cron import CronExpression
from quartzite.execution import JobCompletion
from quartzite.model.acquisition import TriggerAcquisitionRequest
from quartzite.model.identity import SchedulerIdentity
from quartzite.model.job import JobDetail, JobType
from quartzite.model.keys import JobKey, TriggerKey
from quartzite.serialization.json import JsonSerializer
from quartzite.stores.ram import RamJobStore
from quartzite.triggers.cron import CronTrigger
from quartzite.triggers.simple import SimpleTrigger

NOW = datetime(2026, 1, 1, tzinfo=UTC)
JOB = JobDetail(key=JobKey("job"), job_type=JobType("benchmarks:job"), durable=True)
DUE, IDLE, FEW, BATCH = 10_000, 100_000, 1_000, 50


class StoppedClock(Clock):
    def now(self):
        return NOW

    def monotonic(self):
        return 0.0

    async def sleep(self, seconds):
        pass


class Nobody(Signaler):
    def signal_scheduling_change(self, candidate):
        pass

    async def notify_trigger_listeners_misfired(self, trigger):
        pass

    async def notify_scheduler_listeners_finalized(self, trigger):
        pass

    async def notify_scheduler_listeners_job_deleted(self, key):
        pass

    async def notify_scheduler_listeners_trigger_in_error(self, key):
        pass

    async def notify_scheduler_listeners_triggers_in_error(self, job_key):
        pass

    async def notify_scheduler_listeners_error(self, message, error):
        pass


async def new_store():
    store = RamJobStore(clock=StoppedClock(), signaler=Nobody(), serializer=JsonSerializer())
    await store.initialize(SchedulerIdentity(scheduler_name="benchmark"))
    await store.add_job(JOB)
    return store


async def add_due(store, count):
    for i in range(count):
        await store.add_trigger(
            SimpleTrigger(key=TriggerKey(f"due-{i}"), job_key=JOB.key, start_time=NOW, next_fire_time=NOW)
        )


async def add_idle(store, count):
    for i in range(count):
        second = i % 86_400
        text = f"{second % 60} {second // 60 % 60} {second // 3600} * * ?"
        trigger = CronTrigger(
            key=TriggerKey(f"idle-{i}"),
            job_key=JOB.key,
            start_time=NOW,
            cron_expression=CronExpression(text),
        )
        await store.add_trigger(trigger.compute_first_fire_time(None, NOW + timedelta(seconds=1)))


async def drain(store):
    """Fire everything that is due; return how many fired, and the seconds of processor time that the store took."""
    request = TriggerAcquisitionRequest(no_later_than=NOW, max_count=BATCH)
    fired, took, now = 0, 0.0, time.process_time
    while True:
        start = now()
        results = await store.triggers_fired(await store.acquire_next_triggers(request))
        took += now() - start
        if not results:
            return fired, took
        done = [
            JobCompletion(b.trigger, b.job, b.trigger.execution_complete(None)) for b in (r.bundle for r in results)
        ]
        start = now()
        await store.triggered_jobs_complete(done)
        took += now() - start
        fired += len(done)


async def cycle():
    costs = []
    for _ in range(5):
        store = await new_store()
        await add_due(store, DUE)
        fired, took = await drain(store)
        assert fired == DUE
        costs.append(took / fired * 1e6)
    print(f"cycle   {min(costs):8.1f} us per firing (goal 15)")


def rss():
    gc.collect()
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096


async def idle():
    store = await new_store()
    await add_idle(store, 1_000)  # what is allocated once
    store = await new_store()
    before = rss()
    await add_idle(store, IDLE)
    print(f"idle    {(rss() - before) / IDLE:8.0f} bytes per trigger (goal 900, limit 1,200)")


async def beside():
    store = await new_store()
    await add_idle(store, IDLE)
    costs, alone = [], []
    for costs_of, where in ((costs, store), (alone, await new_store())):
        for _ in range(5):
            await add_due(where, FEW)
            fired, took = await drain(where)
            assert fired == FEW
            costs_of.append(took / fired * 1e6)
    print(f"beside  {min(costs):8.1f} us per firing beside {IDLE} idle ones (alone {min(alone):.1f})")


if __name__ == "__main__":
    for name in sys.argv[1:] or ["cycle", "idle", "beside"]:
        if len(sys.argv) == 2:
            asyncio.run(globals()[name]())
        else:
            subprocess.run([sys.executable, __file__, name], check=True)
