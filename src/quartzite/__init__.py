"""Quartzite: a dependency-injection-first job scheduling toolkit."""

__all__: list[str] = []
