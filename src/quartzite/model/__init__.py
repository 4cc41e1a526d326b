"""Values: what jobs, triggers and schedulers are described with. Standard library only."""
