"""Spans to turns: one trace, then one conversation."""
