"""Personal data and secrets out of spans at the door, stable placeholders in."""
