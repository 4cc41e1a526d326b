"""Locks on a Redis server (extra ``redis``)."""

from quartzite.locks.redis.options import RedisLockOptions
from quartzite.locks.redis.semaphore import RedisSemaphore

__all__ = ["RedisLockOptions", "RedisSemaphore"]
