"""Totals as Prometheus families and pages."""
