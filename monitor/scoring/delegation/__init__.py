"""Agents that talk among themselves: how their talk ended, and where to look first."""
