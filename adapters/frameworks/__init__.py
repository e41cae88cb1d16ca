"""Payloads that agent frameworks write themselves, read into spans as if they had been traced."""
