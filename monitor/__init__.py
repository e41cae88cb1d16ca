"""The monitor's core: spans in, turn verdicts and durable totals out."""
