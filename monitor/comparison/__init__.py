"""Whether two values mean the same."""
