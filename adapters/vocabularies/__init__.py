"""Attribute names of each convention, one file per convention."""
