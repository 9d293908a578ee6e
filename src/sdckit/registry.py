"""The documented path for methods from outside sdckit: the decorators and what their options are made of."""

from sdckit.methods.registry import *  # noqa: F403
