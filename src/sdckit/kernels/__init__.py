"""Array kernels: numpy and numba only; arrays in, arrays out."""
