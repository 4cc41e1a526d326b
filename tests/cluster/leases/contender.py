"""A process that contends for a lock and makes sure that it is alone inside."""

from __future__ import annotations

import argparse
import asyncio
import os
import random
from datetime import timedelta
from pathlib import Path

from quartzite.errors import LockError
from quartzite.leases import LockConfiguration, LockingExecutor, LockProvider, assert_locked
from tests.cluster.leases.processes import say
from tests.cluster.leases.providers import Place

LONG = timedelta(seconds=30)


async def contend(provider: LockProvider, name: str, folder: Path, turns: int) -> None:
    """Take the lock some times, each time when it is free."""
    mark, log = folder / "inside", folder / "tokens"
    for _ in range(turns):
        lease = None
        while lease is None:
            lease = await provider.lock(LockConfiguration(name=name, lock_at_most_for=LONG))
            if lease is None:
                await asyncio.sleep(random.random() * 0.005)
        os.close(os.open(mark, os.O_CREAT | os.O_EXCL))  # fails when somebody else is inside
        with log.open("a") as tokens:
            tokens.write(f"{lease.token}\n")
        mark.unlink()
        if not await lease.unlock():
            raise RuntimeError("the lease was not there any more")


async def die_holding(provider: LockProvider, name: str, at_most: timedelta) -> None:
    """Take the lock and wait to be killed."""
    lease = await provider.lock(LockConfiguration(name=name, lock_at_most_for=at_most))
    say(held=lease is not None, locked_at=lease.locked_at.isoformat() if lease else None)
    await asyncio.sleep(60)


async def commit_if_locked(provider: LockProvider, name: str, at_most: timedelta) -> None:
    """Take the lock, work for half of its time, and commit only when the lock is still held then."""

    async def work() -> None:
        say(held=True)
        await asyncio.sleep(at_most.total_seconds() / 2)
        assert_locked()
        say(committed=True)

    try:
        await LockingExecutor(provider).run(work, LockConfiguration(name=name, lock_at_most_for=at_most))
    except LockError as error:
        say(committed=False, reason=str(error))


async def main() -> None:
    """Do what the command line says."""
    options = argparse.ArgumentParser()
    options.add_argument("--place", type=Place.parse, required=True)
    options.add_argument("--id", required=True)
    options.add_argument("--name", default="lock")
    options.add_argument("--folder", type=Path)
    options.add_argument("--turns", type=int, default=0)
    options.add_argument("--at-most", type=float, default=0.0)
    options.add_argument("--commit", action="store_true")
    chosen = options.parse_args()
    provider = chosen.place.provider(chosen.id)
    if chosen.turns:
        await contend(provider, chosen.name, chosen.folder, chosen.turns)
    elif chosen.commit:
        await commit_if_locked(provider, chosen.name, timedelta(seconds=chosen.at_most))
    else:
        await die_holding(provider, chosen.name, timedelta(seconds=chosen.at_most))
    await provider.close()
    say(done=True)


if __name__ == "__main__":
    asyncio.run(main())
