"""Generated requests of every dialect and shape through the real gateway: nothing may be refused."""
