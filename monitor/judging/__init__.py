"""Judging without a model client: which turns, the prompt, the strict reply, the budget."""
