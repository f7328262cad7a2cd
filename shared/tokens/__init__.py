"""Counting tokens: upper-bound estimates, the engine's own counters, the cache of counts."""

from shared.tokens.estimate import Coefficients, upper_bound

__all__ = ["Coefficients", "upper_bound"]
