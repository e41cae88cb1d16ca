"""The commands of `agent-monitor`, one file each: `add` declares it, and sets what runs it."""
