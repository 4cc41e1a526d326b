"""The steps of every store operation, written once: read, ask a rule, apply through the port.

Each operation runs within one unit of work. Everything is decided before anything is written, so that a refusal
leaves the store as it was in stores without a transaction, too.
"""
