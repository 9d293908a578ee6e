"""Files and data frames in, files out."""

from sdckit.io.read import read
from sdckit.io.write import write

__all__ = ["read", "write"]
