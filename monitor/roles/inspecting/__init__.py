"""`agent-monitor inspect`: what was understood of recorded traces, and what was not."""
