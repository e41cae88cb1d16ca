"""Durable totals, the spool and the state of open conversations, in one SQLite file."""
