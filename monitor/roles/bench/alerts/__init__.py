"""Prometheus and Alertmanager on this machine, and how long an alert takes through them."""
