"""sdckit."""
