"""Doors other than the shell: what is answered before, or beside, the command line."""
