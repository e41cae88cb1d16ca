"""Wire formats, read into the monitor's model."""
