"""Langfuse: observations read from its API, exports and ingestion, verdicts written back."""
