"""Statistical models in their own right, on arrays."""
