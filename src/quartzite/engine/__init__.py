"""The engine: acquires due triggers, runs their jobs, and tells the store how they ended."""
