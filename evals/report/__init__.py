"""A report of raw results: Markdown, HTML that needs no network, charts."""
