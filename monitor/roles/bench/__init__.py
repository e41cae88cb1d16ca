"""What the monitor costs and is worth: the measurements behind `agent-monitor bench`."""
