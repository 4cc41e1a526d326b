"""Quartzite: a dependency-injection-first job scheduling toolkit."""
