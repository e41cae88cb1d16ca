"""What a turn is held against."""
