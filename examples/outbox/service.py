"""A service with an outbox, of which any number of nodes may run.

Start two, and stop one of them::

    python examples/outbox/service.py --node a --redis redis://127.0.0.1:6379
    python examples/outbox/service.py --node b --redis redis://127.0.0.1:6379

Each node has a schedule of its own in memory. Leases on Redis let each tick run on one of them. Without --redis the
leases are in a table beside the outbox.
"""

from __future__ import annotations

import argparse
from datetime import timedelta
from pathlib import Path

from broker import FileBroker
from dependency_injector import containers, providers
from jobs import clean_outbox, send_events
from outbox import Outbox

from quartzite import JobContext, Plugin, QuartzContainer, SchedulerListener, add_quartz, cron, every, run
from quartzite.clock import SystemClock
from quartzite.execution import SkippedFiring
from quartzite.leases import LockProvider, RedisLockProvider, SqlLockProvider


class Service(containers.DeclarativeContainer):
    """What the service is made of."""

    options = providers.Configuration()
    outbox: providers.Provider[Outbox] = providers.ThreadSafeSingleton(Outbox, options.database)
    broker: providers.Provider[FileBroker] = providers.ThreadSafeSingleton(FileBroker, options.topic, options.node)


class Skipping(SchedulerListener):
    """Says what another node does."""

    async def firing_skipped(self, skipped: SkippedFiring) -> None:
        """Print it."""
        print(f"{skipped.scheduled_fire_time:%X} {skipped.job_key.name}: {skipped.holder} has it", flush=True)


async def take_an_order(context: JobContext, outbox: Outbox) -> None:
    """Stand in for the business of the service, which goes on on every node."""
    await outbox.add(f"order taken at {context.scheduled_fire_time:%X}")


def lock_provider(options: argparse.Namespace) -> LockProvider:
    """Return where the leases are."""
    if options.redis is not None:
        return RedisLockProvider(
            options.redis, clock=SystemClock(), key_prefix=f"{options.prefix}lease:", holder=options.node
        )
    return SqlLockProvider(f"sqlite:///{options.database}", clock=SystemClock(), holder=options.node)


class LeaseTable(Plugin):
    """Creates the table of leases, where they are in a database, before anything fires."""

    def __init__(self, provider: LockProvider) -> None:
        self._provider = provider

    async def start(self) -> None:
        """Create it unless it is there."""
        if isinstance(self._provider, SqlLockProvider):
            await self._provider.create_table()


def main() -> None:
    """Run one node until it is told to stop."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--node", required=True, help="what this node is called")
    parser.add_argument("--redis", help="where the leases are; without it they are in the database")
    parser.add_argument("--prefix", default="outbox:", help="of the keys on Redis, different for each service")
    parser.add_argument("--database", type=Path, default=Path("outbox.db"), help="the database of the service")
    parser.add_argument("--topic", type=Path, default=Path("outbox.topic"), help="stands in for the broker")
    options = parser.parse_args()

    service = Service()
    service.options.from_dict(vars(options))
    provider = lock_provider(options)
    container = QuartzContainer(application=service)
    (
        add_quartz(container)
        .use_job_locks(provider, default_at_most_for=timedelta(seconds=30), jobs={take_an_order: None})
        .add_scheduler_listener(Skipping())
        .schedule(take_an_order, every(milliseconds=500))
        .schedule(send_events, every(seconds=1))
        .schedule(clean_outbox, cron("0 0 * * * ?"))
        .add_plugin(LeaseTable(provider))
    )
    run(container)
    service.outbox().close()


if __name__ == "__main__":
    main()
