"""Memory and mind for autonomous agents, as plain files."""

__version__ = "0.1.0"
