"""The jobs of the service: sending what is in the outbox, and cleaning it."""

from __future__ import annotations

from datetime import timedelta

from broker import FileBroker
from outbox import Outbox

from quartzite import JobContext, disallow_concurrent_execution
from quartzite.leases import assert_locked, scheduler_lock

SENT_EVENTS_ARE_KEPT = timedelta(days=1)


@disallow_concurrent_execution
async def send_events(context: JobContext, outbox: Outbox, broker: FileBroker) -> None:
    """Send what was not sent, in order: one node at a time, however long it takes.

    A node that dies between sending an event and noting it leaves the event to be sent again: consumers must be able to
    tell, here by its number.
    """
    for event in await outbox.unsent():
        context.cancellation_token.raise_if_set()  # the lease could not be kept: another node goes on from here
        assert_locked()
        await broker.send(event)
        await outbox.mark_sent(event, context.fire_time)


@scheduler_lock(name="clean-outbox", at_most_for=timedelta(minutes=5), at_least_for=timedelta(minutes=1))
async def clean_outbox(context: JobContext, outbox: Outbox) -> None:
    """Delete what was sent long ago."""
    await outbox.clean(context.fire_time, SENT_EVENTS_ARE_KEPT)
