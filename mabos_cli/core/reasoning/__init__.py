"""Thirty-five methods of reasoning. A module per method: the shape of its input, questions for a worksheet, and a solver."""
