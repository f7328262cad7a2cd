"""A history turn by turn, as a client sends it: what each request costs an engine that caches prefixes."""
