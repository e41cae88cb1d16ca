"""`agent-monitor bench detectors`: false alarms and delays, simulated under continuous looking."""
