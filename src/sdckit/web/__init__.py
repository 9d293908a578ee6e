"""The page for data stewards: `sdckit web`. Every method on it comes from the registry."""
