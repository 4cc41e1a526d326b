"""Decisions: pure tables and plan functions. Nothing here waits, logs or asks the time."""
