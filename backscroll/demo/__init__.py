"""The demonstration: a conversation far longer than the window, and questions about its far past."""
