"""Which cells to suppress."""
