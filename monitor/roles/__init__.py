"""Processes: the only places that read a clock or open a socket."""
