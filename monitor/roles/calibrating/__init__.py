"""Fitting the comparison's last rung to labelled pairs of values."""
