"""Leases between real processes."""
