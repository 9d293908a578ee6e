"""Scenarios, what is measured of them, and which one is best."""
