"""Groups of at least k records."""
