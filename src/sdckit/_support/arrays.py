"""Types of arrays, each in one word; kernels have their own."""

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Codes = npt.NDArray[np.int32]  # of categories: 0, 1, …; missing is −1
Bools = npt.NDArray[np.bool_]
