"""A dialect is one small module: read the body into the conversation, write it back, shape an error."""
