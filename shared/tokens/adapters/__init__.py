"""Ways to count a whole prompt, one file each; shared/tokens/pick.py chooses."""
