"""Loaders: each gives cases in one form, with the evidence that resolves."""
