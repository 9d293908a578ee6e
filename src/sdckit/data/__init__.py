"""Microdata, what their columns are, what was done to them, and what a measure returns."""
