"""Is this release worse than the one before? Identity, statistics, evidence and comparison."""
