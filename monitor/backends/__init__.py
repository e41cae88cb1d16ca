"""Clients that do I/O on behalf of the core."""
