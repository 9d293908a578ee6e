"""The page for data stewards: `sdckit web`. Every method on it comes from the registry."""

from sdckit.web.serve import serve

__all__ = ["serve"]
