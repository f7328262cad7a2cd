"""For an engine that serves Chat Completions only: the other dialects' requests there, its answers back."""
