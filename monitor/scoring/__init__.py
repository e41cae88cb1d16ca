"""The Agent Evaluation Metric over one conversation."""
