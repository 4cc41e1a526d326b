"""Locks on Redis, without a server."""
