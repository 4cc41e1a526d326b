"""Ids of nodes: made of host, process and chance."""

from __future__ import annotations

import os
import secrets
import socket
from typing import Final

from quartzite.abc import InstanceIdGenerator
from quartzite.errors import SchedulerConfigError
from quartzite.model.identity import MAX_INSTANCE_ID_LENGTH, NON_CLUSTERED, SchedulerIdentity
from quartzite.settings import AUTO_INSTANCE_ID, SchedulerSettings

__all__ = ["HostInstanceIdGenerator", "settle_identity"]

_RANDOM_BYTES: Final = 8
_LONGEST_HOST: Final = MAX_INSTANCE_ID_LENGTH - 2 * _RANDOM_BYTES - len("-4194304-")


class HostInstanceIdGenerator(InstanceIdGenerator):
    """Makes ids such as ``web1-4711-5f0c3a9d1e2b4c6d``: for people the host and the process, for uniqueness chance.

    Containers of one image often share host name and process id, so these two alone would not do.
    """

    def generate(self) -> str:
        """Return an id that no other node has."""
        return f"{socket.gethostname()[:_LONGEST_HOST]}-{os.getpid()}-{secrets.token_hex(_RANDOM_BYTES)}"


def settle_identity(
    settings: SchedulerSettings, generator: InstanceIdGenerator, *, clustered: bool
) -> SchedulerIdentity:
    """Return who a scheduler is (spec 10 section 9; conventions "Cluster").

    ``AUTO``, or a clustered store without any id, has one made; a store that is not clustered needs none.

    Raises:
        SchedulerConfigError: the id is the literal ``NON_CLUSTERED`` though the store is clustered, or the generator
            gave none.
    """
    configured = settings.instance_id
    if not clustered:
        chosen = NON_CLUSTERED if configured == AUTO_INSTANCE_ID else configured
    elif configured == AUTO_INSTANCE_ID or "instance_id" not in settings.model_fields_set:
        chosen = generator.generate()
        if not chosen or not chosen.strip():
            raise SchedulerConfigError(f"scheduler {settings.name!r}: {type(generator).__name__} made no instance id")
    elif configured == NON_CLUSTERED:
        raise SchedulerConfigError(
            f"scheduler {settings.name!r}: the store is clustered, and instance_id is {NON_CLUSTERED}: "
            f"give each node an id of its own, or {AUTO_INSTANCE_ID}"
        )
    else:
        chosen = configured
    return SchedulerIdentity(scheduler_name=settings.name, instance_id=chosen)
