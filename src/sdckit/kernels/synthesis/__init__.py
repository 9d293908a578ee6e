"""Trees whose leaves hold the donors of synthetic values."""
