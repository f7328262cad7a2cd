"""The inspector: what the model saw and why, as pages. Reads records, writes nothing."""
