"""Time on the hot path, with an engine and models that take none."""
